"""The language model in which DARTS, I-DARTS and ESS search and evaluate cells."""

from __future__ import annotations

import copy

from torch import Tensor

from cellwright.cell import Cell
from cellwright.engine import Recurrent, WeightBank
from cellwright.models.cell_model import Carried, Theta
from cellwright.models.language_model import LanguageModel
from cellwright.models.settings import OneLayerSettings


class OneLayer(LanguageModel):
    """One recurrent layer as wide as its embeddings, with variational dropout inside the cell."""

    def __init__(
        self,
        settings: OneLayerSettings,
        cell: Cell,
        vocabulary_size: int,
        backend: str = "auto",
        bank: WeightBank | None = None,
    ) -> None:
        super().__init__(
            vocabulary_size,
            settings.hidden,
            dropout_words=settings.dropout_words,
            dropout_input=settings.dropout_embedding,
            dropout_output=settings.dropout_output,
            ar=settings.ar,
            tar=settings.tar,
            embedding_range=settings.start(settings.init_range_embedding),
            precision=settings.precision,
        )
        self.settings = settings
        self.recurrent = Recurrent(
            cell,
            settings.hidden,
            settings.hidden,
            input_dropout=settings.dropout_x,
            hidden_dropout=settings.dropout_hidden,
            init_range=settings.start(settings.init_range),
            backend=backend,
            bank=bank,
            precision=settings.precision,
        )

    def around(self, cell: Cell, bank: WeightBank) -> OneLayer:
        """The same embeddings, decoder and dropouts around another cell.

        Nothing is copied: both models learn the same weights, and those of the new cell are in
        `bank`, where other cells may find them as well.
        """
        other = copy.copy(self)
        other._modules = {**self._modules, "recurrent": self.recurrent.around(cell, bank)}
        return other

    def zero_state(self, batch: int) -> Carried:
        """The state before the first word of a text."""
        return self.recurrent.zero_state(batch)

    def recur(
        self, x: Tensor, state: Carried | None, theta: Theta | None
    ) -> tuple[Tensor, Carried]:
        """The one layer."""
        output, new_state = self.recurrent(x, state, theta=theta)
        return output, new_state
