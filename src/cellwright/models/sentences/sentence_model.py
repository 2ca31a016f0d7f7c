"""What the models of sentences have in common: words' vectors, recurrent layers, losses."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from typing_extensions import Self

from cellwright.base.errors import UserError
from cellwright.cell import Cell
from cellwright.engine import Recurrent, WeightBank
from cellwright.engine.ragged import Ragged
from cellwright.models.cell_model import Carried, CellModel, Loss, Theta
from cellwright.models.sentences.batch import SentenceBatch
from cellwright.models.sentences.layer_cells import cells_of_layers
from cellwright.models.sentences.settings import SentenceSettings
from cellwright.models.settings import BY_WIDTH
from cellwright.models.words import Embedder, embedded


class SentenceModel(CellModel[SentenceBatch]):
    """Says which label an example has, or which score.

    Both sentences of a pair go through the same layers, as rows of one batch. Each layer reads in
    both directions. One whose width changes gets a projection in front where its cell uses x
    outside of products.

    Args:
        settings: sizes and dropouts.
        cell: of all layers that have none of their own.
        embedders: what words become, side by side.
        outputs: how many labels there are; 0 for a score.
        per_example: how many sentences an example has, 1 or 2.
        widths: for each recurrent layer, how wide what it reads is, and its state.
        backend: of the engine.
        bank: where cells that name their weights find those that they share with others.

    Raises:
        UserError: the loss is none of a score's.
    """

    def __init__(
        self,
        settings: SentenceSettings,
        cell: Cell,
        embedders: Sequence[Embedder],
        outputs: int,
        per_example: int,
        widths: Sequence[tuple[int, int]],
        *,
        backend: str = "auto",
        bank: WeightBank | None = None,
    ) -> None:
        super().__init__()
        if not outputs and settings.loss == "cross-entropy":
            raise UserError("a score has no cross-entropy: the loss should be squared or absolute")
        if per_example not in (1, 2):
            raise ValueError(f"an example has 1 or 2 sentences, not {per_example}")
        self.labels, self.per_example, self._loss = outputs, per_example, settings.loss
        self.embedders = nn.ModuleList(embedders)
        start = None if settings.init_range == BY_WIDTH else settings.init_range
        own = cells_of_layers(settings.layer_cells, len(widths))
        self._has_own = [one is not None for one in own]
        self.recurrent = nn.ModuleList()
        for number, (one, (width, hidden)) in enumerate(zip(own, widths, strict=True)):
            part = None if bank is None or one is not None else _part(bank, number)
            layer = _layer(one or cell, width, hidden, start, backend, part, settings.precision)
            self.recurrent.append(layer)

    @abstractmethod
    def outputs(self, batch: SentenceBatch, theta: Theta | None = None) -> Tensor:
        """How much the model is for each label, (examples, labels); or the scores, (examples,)."""

    def loss(self, batch: SentenceBatch, carried: Carried, *, theta: Theta | None = None) -> Loss:
        """How far the outputs are from what is right, in the mean."""
        said = self.outputs(batch, theta)
        if self.labels:
            mean = F.cross_entropy(said, batch.targets.long())
        elif self._loss == "squared":
            mean = F.mse_loss(said, batch.targets)
        else:
            mean = F.l1_loss(said, batch.targets)
        return Loss(mean, mean.new_zeros(()), ())

    def around(self, cell: Cell, bank: WeightBank) -> Self:
        """The same with another cell in all layers that have none of their own."""
        layers = [
            layer if own else layer.around(cell, _part(bank, number))
            for number, (layer, own) in enumerate(zip(self._layers, self._has_own, strict=True))
        ]
        other = copy.copy(self)
        other._modules = {**self._modules, "recurrent": nn.ModuleList(layers)}
        return other

    # -- for subclasses --------------------------------------------------------------------

    def read(self, batch: SentenceBatch) -> tuple[Tensor, Ragged]:
        """The vectors of all words of all sentences, and which sentence each is from."""
        if batch.per_example != self.per_example:
            raise ValueError(
                f"the model reads {self.per_example} sentences of an example, "
                f"and the batch has {batch.per_example}"
            )
        words = batch.sentences
        ragged = Ragged.of(words.lengths, *words.words.shape)
        return embedded(self.embedders, words, ragged), ragged

    def recur(self, number: int, x: Tensor, ragged: Ragged, theta: Theta | None) -> Tensor:
        """What a layer says at each word; θ is for the cell that is searched."""
        layer = self._layers[number]
        said, _ = layer(ragged.packed(x), theta=None if self._has_own[number] else theta)
        found: Tensor = said.data
        return found

    def joined(self, vectors: Tensor, *, signed: bool = False) -> Tensor:
        """One vector for each example: u of a sentence, [u; v; |u − v|; u ⊙ v] of a pair.

        Args:
            vectors: one for each sentence.
            signed: whether u − v stands in place of |u − v|.
        """
        if self.per_example == 1:
            return vectors
        u, v = vectors.chunk(2)
        difference = u - v
        return torch.cat([u, v, difference if signed else difference.abs(), u * v], 1)

    @property
    def joined_size(self) -> int:
        """How many vectors of a sentence's width `joined` has."""
        return 1 if self.per_example == 1 else 4

    @property
    def _layers(self) -> list[Recurrent]:
        return [layer for layer in self.recurrent if isinstance(layer, Recurrent)]


def vector_width(embedders: Sequence[Embedder]) -> int:
    """How wide the vectors of words are."""
    return sum(each.width for each in embedders)


def _part(bank: WeightBank, number: int) -> WeightBank:
    """What one layer has of the bank: no two layers share weights."""
    return bank.part(f"recurrent{number}")


def _layer(
    cell: Cell,
    width: int,
    hidden: int,
    init_range: float | None,
    backend: str,
    bank: WeightBank | None,
    precision: str,
) -> Recurrent:
    return Recurrent(
        cell,
        width,
        hidden,
        bidirectional=True,
        project_input=cell.simplified().needs_equal_widths and width != hidden,
        init_range=init_range,
        backend=backend,
        bank=bank,
        precision=precision,
    )
