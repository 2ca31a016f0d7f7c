"""From settings to a model of sentences."""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.cell import Cell
from cellwright.engine import WeightBank
from cellwright.models.sentences.esim import Esim
from cellwright.models.sentences.frozen import Frozen
from cellwright.models.sentences.max_pooled import BiRnn, Blm
from cellwright.models.sentences.sentence_model import SentenceModel
from cellwright.models.sentences.settings import (
    BiRnnSettings,
    BlmSettings,
    EsimSettings,
    SentenceSettings,
)
from cellwright.models.words import Embedder


def build_sentence_model(
    settings: SentenceSettings,
    cell: Cell,
    embedders: Sequence[Embedder],
    outputs: int,
    per_example: int,
    *,
    backend: str = "auto",
    bank: WeightBank | None = None,
) -> SentenceModel:
    """The model that `settings` describe, around `cell`, with fresh weights.

    Args:
        settings: of any of the models.
        cell, embedders, outputs, per_example, backend, bank: see `SentenceModel`.

    Raises:
        UserError: the model cannot learn what is wanted of it.
    """
    if isinstance(settings, BiRnnSettings):
        return BiRnn(settings, cell, embedders, outputs, per_example, backend=backend, bank=bank)
    if isinstance(settings, BlmSettings):
        return Blm(settings, cell, embedders, outputs, per_example, backend=backend, bank=bank)
    if isinstance(settings, EsimSettings):
        return Esim(settings, cell, embedders, outputs, per_example, backend=backend, bank=bank)
    return Frozen(settings, cell, embedders, outputs, per_example, backend=backend, bank=bank)
