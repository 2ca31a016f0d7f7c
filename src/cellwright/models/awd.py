"""The language model in which NAS-Bench-NLP trained its cells: that of AWD-LSTM."""

from __future__ import annotations

import copy
from itertools import pairwise

from torch import Tensor, nn

from cellwright.base.errors import UserError
from cellwright.cell import Cell
from cellwright.engine import Recurrent, WeightBank
from cellwright.models.cell_model import Carried, Theta
from cellwright.models.dropout import locked_dropout
from cellwright.models.language_model import LanguageModel
from cellwright.models.settings import AwdSettings


class Awd(LanguageModel):
    """A stack of recurrent layers with weight dropout, and locked dropout around each.

    A layer whose width changes gets a projection in front where the cell uses x outside of
    products. Weights start uniform in ±1/sqrt(width of the layer). With `recurrent = "frozen"`
    matrices that multiply states or values inside the cell stay so: NAS-Bench-NLP's released code
    hands its layers copies of these, to which no gradient comes back. Dropout masks them all the
    same.
    """

    def __init__(
        self,
        settings: AwdSettings,
        cell: Cell,
        vocabulary_size: int,
        backend: str = "auto",
        bank: WeightBank | None = None,
    ) -> None:
        super().__init__(
            vocabulary_size,
            settings.embedding,
            dropout_words=settings.dropout_words,
            dropout_input=settings.dropout_input,
            dropout_output=settings.dropout_output,
            ar=settings.ar,
            tar=settings.tar,
            precision=settings.precision,
        )
        self.settings = settings
        inner = [settings.hidden] * (settings.layers - 1)
        widths = [settings.embedding, *inner, settings.embedding]
        equal = cell.simplified().needs_equal_widths
        self.recurrent = nn.ModuleList(
            Recurrent(
                cell,
                width,
                hidden,
                weight_dropout=settings.weight_dropout,
                project_input=equal and width != hidden,
                backend=backend,
                bank=None if bank is None else _part(bank, number),
                precision=settings.precision,
            )
            for number, (width, hidden) in enumerate(pairwise(widths))
        )

        if settings.recurrent == "frozen":
            if bank is not None:
                raise UserError(
                    "weights that cells share are learned: model.recurrent has to be trained in a "
                    "search with shared weights"
                )
            for layer in self._layers:
                _freeze(layer)

    def around(self, cell: Cell, bank: WeightBank) -> Awd:
        """The same embeddings, decoder and dropouts around another cell in all layers."""
        other = copy.copy(self)
        layers = [
            layer.around(cell, _part(bank, number)) for number, layer in enumerate(self._layers)
        ]
        other._modules = {**self._modules, "recurrent": nn.ModuleList(layers)}
        return other

    def zero_state(self, batch: int) -> Carried:
        """The state before the first word of a text, a part for each layer."""
        return tuple(layer.zero_state(batch) for layer in self._layers)

    def recur(
        self, x: Tensor, state: Carried | None, theta: Theta | None
    ) -> tuple[Tensor, Carried]:
        """All layers, with dropout between them."""
        layers = self._layers
        before = (None,) * len(layers) if state is None else state
        if isinstance(before, Tensor) or len(before) != len(layers):
            raise ValueError(f"the state must be a tuple of {len(layers)} parts, one for a layer")
        after: list[Carried] = []
        for number, layer in enumerate(layers):
            if number:
                x = locked_dropout(x, self.settings.dropout_between, self.training)
            x, new = layer(x, before[number], theta=theta)
            after.append(new)
        return x, tuple(after)

    @property
    def _layers(self) -> list[Recurrent]:
        return [layer for layer in self.recurrent if isinstance(layer, Recurrent)]


def _freeze(layer: Recurrent) -> None:
    """Let no gradient come to the matrices that multiply anything but x."""
    for name, parameter in layer.named_parameters():
        of = name.rpartition(".")[2]
        if of.startswith("weight_") and of != "weight_x":
            parameter.requires_grad_(False)


def _part(bank: WeightBank, number: int) -> WeightBank:
    """What one layer has of the bank: its matrices are of other sizes than those of others."""
    return bank.part(f"recurrent{number}")
