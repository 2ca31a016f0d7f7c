"""A head on words' vectors that do not change, such as the states of a trained language model.

NAS-Bench-NLP (2020, section 4.2) measures its language models so, with jiant. This is the head of
jiant 1.3, with its attention across pairs where that is wanted.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor
from typing_extensions import Self

from cellwright.base.errors import UserError
from cellwright.cell import Cell
from cellwright.cell.zoo import zoo
from cellwright.engine import WeightBank
from cellwright.engine.linear import Linear
from cellwright.models.cell_model import Theta
from cellwright.models.sentences.attention import attended
from cellwright.models.sentences.batch import SentenceBatch
from cellwright.models.sentences.head import Head
from cellwright.models.sentences.pooling import largest, mean
from cellwright.models.sentences.sentence_model import SentenceModel, vector_width
from cellwright.models.sentences.settings import FrozenSettings
from cellwright.models.words import Embedder


class Frozen(SentenceModel):
    """A projection of each word, one vector for a sentence, and an MLP with tanh and layer norm.

    With attention an LSTM, in both directions, stands in place of the projection: it reads each
    word beside what the word finds in the other sentence. The searched or compared cell is not in
    it. The one that it is given is that of the encoder, which runs keep for the
    record; around any other cell it is the same model.

    Args:
        settings: sizes and dropouts.
        cell, embedders, outputs, per_example, backend, bank: see `SentenceModel`.

    Raises:
        UserError: a cell is searched.
    """

    def __init__(
        self,
        settings: FrozenSettings,
        cell: Cell,
        embedders: Sequence[Embedder],
        outputs: int,
        per_example: int,
        *,
        backend: str = "auto",
        bank: WeightBank | None = None,
    ) -> None:
        if bank is not None or cell.is_supernet:
            raise UserError("a model of kind 'frozen' has no cell that could be searched")
        width, attention = vector_width(embedders), settings.attention
        attends = bool(attention) and per_example == 2
        layers = [(2 * width, attention)] if attends else []
        super().__init__(
            settings, zoo["lstm"], embedders, outputs, per_example, layers, backend=backend
        )
        self.settings, self._attends = settings, attends
        if not attends:
            self.projection = Linear(width, settings.projection)
        self.head = Head(
            self.joined_size * (2 * attention if attends else settings.projection),
            settings.feed_forward,
            outputs,
            torch.tanh,
            dropout_projection=settings.dropout_projection,
            norm=True,
        )

    def outputs(self, batch: SentenceBatch, theta: Theta | None = None) -> Tensor:
        """How much the model is for each label, (examples, labels); or the scores, (examples,)."""
        x, ragged = self.read(batch)
        x = F.dropout(x, self.settings.dropout_input, self.training)
        if self._attends:
            x = self.recur(0, torch.cat([x, attended(x, ragged)], 1), ragged, None)
        else:
            x = self.projection(x)
        pooled = largest(x, ragged) if self.settings.pooling == "max" else mean(x, ragged)
        said: Tensor = self.head(self.joined(pooled))
        return said

    def around(self, cell: Cell, bank: WeightBank) -> Self:
        """The model itself."""
        return self
