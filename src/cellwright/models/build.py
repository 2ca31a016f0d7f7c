"""From settings to a language model."""

from __future__ import annotations

from cellwright.cell import Cell
from cellwright.engine import WeightBank
from cellwright.models.awd import Awd
from cellwright.models.language_model import LanguageModel
from cellwright.models.one_layer import OneLayer
from cellwright.models.settings import ModelSettings, OneLayerSettings


def build_language_model(
    settings: ModelSettings,
    cell: Cell,
    vocabulary_size: int,
    backend: str = "auto",
    bank: WeightBank | None = None,
) -> LanguageModel:
    """The language model that `settings` describe, around `cell`, with fresh weights.

    Where the cell names its weights with `keys`, those that `bank` has already are taken from it.

    >>> import torch
    >>> from cellwright import zoo
    >>> from cellwright.models import OneLayerSettings, build_language_model
    >>> model = build_language_model(OneLayerSettings(hidden=16), zoo["darts-v1"], 100)
    >>> text = torch.arange(12).view(6, 2)
    >>> mean, penalty, state = model.text_loss(text[:-1], text[1:])
    >>> (mean + penalty).backward()
    """
    if isinstance(settings, OneLayerSettings):
        return OneLayer(settings, cell, vocabulary_size, backend, bank)
    return Awd(settings, cell, vocabulary_size, backend, bank)
