"""What every model around a cell has in common, whatever it learns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from torch import Tensor, nn
from typing_extensions import Self

from cellwright.cell import Cell
from cellwright.engine import WeightBank

Carried: TypeAlias = "Tensor | tuple[Carried, ...]"
"""What one batch hands to the next, such as the states of all recurrent layers; () for nothing."""

Theta: TypeAlias = Mapping[str, Tensor]
"""The weights of each `mix` of a supernet by its name."""


class AnyBatch(Protocol):
    """What a task learns from at once."""

    @property
    def size(self) -> int:
        """What it counts in means and speeds: its words, its sentences."""

    def rate(self, full: float) -> float:
        """The learning rate of a step with it, if that of a full batch is `full`."""


Batch = TypeVar("Batch", bound=AnyBatch)
BatchIn = TypeVar("BatchIn", bound=AnyBatch, contravariant=True)


class Loss(NamedTuple):
    """What training minimises is `mean + penalty`; what is carried is not detached."""

    mean: Tensor
    penalty: Tensor
    carried: Carried


class CellModel(nn.Module, ABC, Generic[Batch]):
    """A model around a cell, or around a supernet."""

    def begin(self, batch: Batch) -> Carried:
        """What the first batch of an epoch is handed; nothing, unless batches follow each other."""
        return ()

    @abstractmethod
    def loss(self, batch: Batch, carried: Carried, *, theta: Theta | None = None) -> Loss:
        """The mean loss of a batch, with gradient, and in training the penalty.

        Args:
            batch: what to learn from.
            carried: what the batch before left, without its past; `begin` at the start.
            theta: for supernets, the weights of each `mix`, the same in all layers and directions.
        """

    @abstractmethod
    def around(self, cell: Cell, bank: WeightBank) -> Self:
        """The same model around another cell, on shared weights.

        Nothing is copied: what stands around the cell is the same in both, and the cell's own
        weights are those of `bank`, in which each layer and direction has a part of its own.
        """


def detached(carried: Carried) -> Carried:
    """The same without its past, so that gradients stop here (truncated BPTT)."""
    if isinstance(carried, Tensor):
        return carried.detach()
    return tuple(detached(part) for part in carried)
