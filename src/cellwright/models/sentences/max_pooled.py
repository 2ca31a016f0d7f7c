"""Models that read each sentence for itself, and keep the largest value of each feature.

FENAS' BiRNN (Pasunuru and Bansal 2020, section 4.3, after GLUE's baseline), and BiLSTM-Max
(Conneau et al. 2017) as ENAS-pairs has it (2020, section 3.2 and the caption of Table 5).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from cellwright.cell import Cell
from cellwright.engine import WeightBank
from cellwright.models.cell_model import Theta
from cellwright.models.dropout import sentence_dropout
from cellwright.models.sentences.batch import SentenceBatch
from cellwright.models.sentences.head import Head
from cellwright.models.sentences.pooling import largest
from cellwright.models.sentences.sentence_model import SentenceModel, vector_width
from cellwright.models.sentences.settings import BiRnnSettings, BlmSettings
from cellwright.models.words import Embedder


class BiRnn(SentenceModel):
    """Layers in both directions, the largest values over a sentence's words, an MLP with tanh.

    Args:
        settings: sizes and dropouts.
        cell, embedders, outputs, per_example, backend, bank: see `SentenceModel`.
    """

    def __init__(
        self,
        settings: BiRnnSettings,
        cell: Cell,
        embedders: Sequence[Embedder],
        outputs: int,
        per_example: int,
        *,
        backend: str = "auto",
        bank: WeightBank | None = None,
    ) -> None:
        widths = _widths(settings, embedders)
        super().__init__(
            settings, cell, embedders, outputs, per_example, widths, backend=backend, bank=bank
        )
        self.settings = settings
        self.head = Head(
            self.joined_size * 2 * settings.hidden,
            settings.feed_forward,
            outputs,
            torch.tanh,
            dropout_input=settings.dropout_classifier,
            dropout_projection=settings.dropout_classifier,
        )

    def outputs(self, batch: SentenceBatch, theta: Theta | None = None) -> Tensor:
        """How much the model is for each label, (examples, labels); or the scores, (examples,)."""
        settings = self.settings
        x, ragged = self.read(batch)
        for number in range(settings.depth):
            rate = settings.dropout_layers if number else settings.dropout_input
            x = self.recur(number, F.dropout(x, rate, self.training), ragged, theta)
        x = F.dropout(x, settings.dropout_output, self.training)
        said: Tensor = self.head(self.joined(largest(x, ragged)))
        return said


class Blm(SentenceModel):
    """The same with one dropout mask for a sentence before each layer, and a ReLU in the head.

    Args:
        settings: sizes and dropouts.
        cell, embedders, outputs, per_example, backend, bank: see `SentenceModel`.
    """

    def __init__(
        self,
        settings: BlmSettings,
        cell: Cell,
        embedders: Sequence[Embedder],
        outputs: int,
        per_example: int,
        *,
        backend: str = "auto",
        bank: WeightBank | None = None,
    ) -> None:
        widths = _widths(settings, embedders)
        super().__init__(
            settings, cell, embedders, outputs, per_example, widths, backend=backend, bank=bank
        )
        self.settings = settings
        self.head = Head(
            self.joined_size * 2 * settings.hidden,
            settings.feed_forward,
            outputs,
            torch.relu,
            dropout_projection=settings.dropout_projection,
        )

    def outputs(self, batch: SentenceBatch, theta: Theta | None = None) -> Tensor:
        """How much the model is for each label, (examples, labels); or the scores, (examples,)."""
        settings = self.settings
        x, ragged = self.read(batch)
        for number in range(settings.depth):
            x = sentence_dropout(x, settings.dropout_input, ragged, self.training)
            x = self.recur(number, x, ragged, theta)
        x = F.dropout(x, settings.dropout_output, self.training)
        vectors = largest(x, ragged, at_least_zero=settings.padding_is_zero)
        said: Tensor = self.head(self.joined(vectors, signed=settings.signed_difference))
        return said


def _widths(
    settings: BiRnnSettings | BlmSettings, embedders: Sequence[Embedder]
) -> list[tuple[int, int]]:
    """For each layer, how wide what it reads is, and its state."""
    hidden = settings.hidden
    return [
        (2 * hidden if number else vector_width(embedders), hidden)
        for number in range(settings.depth)
    ]
