"""`Task`: data, a model around a cell, and a metric.

It is the one thing that trainings, one-shot searches, studies, comparisons and benchmarks know of
what is being learned, so that each of them works for each task. `registry` finds tasks by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from typing_extensions import Self

from cellwright.cell import Cell
from cellwright.engine import WeightBank
from cellwright.models.cell_model import Batch, CellModel, Theta
from cellwright.tasks.metric import Metric

Part = Literal["train", "valid", "test"]
PARTS: tuple[Part, ...] = ("train", "valid", "test")
"""What to learn from, what to choose by, and what to report."""

NO_FIGURES: Mapping[str, float] = {}


class Score(NamedTuple):
    """What a model is worth: a loss, and figures that are kept but not compared."""

    loss: float
    figures: Mapping[str, float] = NO_FIGURES


class Task(Protocol[Batch]):
    """What is learned. Everything here is the same for the same arguments, in every process."""

    @property
    def metric(self) -> Metric:
        """What its losses are shown as."""

    @property
    def fingerprint(self) -> str:
        """A hash of the data: another one means other data."""

    def describe(self) -> str:
        """The data in a few lines, for people."""

    def model(
        self, cell: Cell, settings: Any, *, bank: WeightBank | None = None, backend: str = "auto"
    ) -> CellModel[Batch]:
        """A model around a cell, with fresh weights, drawn from torch's generator.

        Args:
            cell: the cell, or a supernet.
            settings: one of the task's model settings.
            bank: where cells that name their weights find those that they share with others.
            backend: of the engine.
        """

    def batches(self, part: Part, size: int, seed: int, epoch: int) -> Sequence[Batch]:
        """A part of the data as an epoch learns it, in an order that seed and epoch decide.

        Raises:
            UserError: there is too little data for batches of that size.
        """

    def ordered(self, part: Part, size: int) -> Sequence[Batch]:
        """A part of the data in its own order, whole: to measure on."""

    def measure(
        self, model: CellModel[Batch], batches: Sequence[Batch], *, theta: Theta | None = None
    ) -> Score:
        """The loss of a model on batches that follow each other, without dropout."""

    def limited(self, most: Mapping[str, int]) -> Self:
        """The same with no more items in its parts than `most` says, for short trials.

        Raises:
            UserError: there is no such part.
        """

    def halves(self) -> tuple[Self, Self]:
        """Two tasks, each of which trains on one half of the training data.

        Raises:
            UserError: there is too little.
        """


def whole_batches(batches: Sequence[Batch]) -> Sequence[Batch]:
    """Batches without a last one that is smaller than the first."""
    last = len(batches) - 1
    return batches[:last] if last and batches[last].size < batches[0].size else batches
