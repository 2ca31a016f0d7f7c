"""What a search with shared weights reports: after each step, after each epoch, and at the end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from pydantic.dataclasses import dataclass as checked

from cellwright.cell import Cell
from cellwright.search.sharing.listings import Listing, listing_of, lowered
from cellwright.training.results import STRICT, Status, StepDone

Part = Literal["weights", "controller", "candidates"]
"""What a step was for."""


@dataclass(frozen=True)
class SharingStep(StepDone):
    """One step of the weights, of the controller, or of the choice among candidates.

    Candidates belong to the last epoch, and their steps are counted among these. The loss is that
    of the sampled cells: on training data for the weights, else on validation data.

    Args:
        part: what the step was for.
        reward: the mean reward of the sampled cells, for the controller.
    """

    part: Part
    reward: float | None


@checked(frozen=True, config=STRICT)
class SharingEpoch:
    """Where a search stands after an epoch.

    Args:
        epoch: its number, from 1.
        train: the mean loss of the sampled cells over the epoch.
        valid: the loss of `listing` on the validation data, with the shared weights.
        listing: the cell of the controller's likeliest choices; without one, the same cell in all
            epochs, drawn at random.
        reward: the mean reward of the epoch, without the part of the entropy.
        baseline: the moving average of rewards, with the part of the entropy.
        entropy: mean over the sampled cells of the entropy of their choices, in nats.
        diverged: minibatches that taught nothing: their cell's loss or gradient was too large.
        learning_rate: of the weights, for a full batch.
        seconds: since the search began.
        peak_memory: of the process so far, in bytes.
    """

    ends_epoch: ClassVar[bool] = True
    best: ClassVar[bool] = False

    epoch: int
    train: float
    valid: float
    listing: Listing
    reward: float | None
    baseline: float | None
    entropy: float | None
    diverged: int
    learning_rate: float
    seconds: float
    peak_memory: int

    @property
    def cell(self) -> Cell:
        """The cell of `listing`, each linear with weights of its own."""
        return lowered(self.listing)

    def to_record(self) -> dict[str, Any]:
        """As the metrics keep it."""
        return {"kind": "epoch", **self.to_json()}

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SharingEpoch:
        """The inverse of `to_json`, also after JSON has made lists of tuples."""
        return cls(**{**values, "listing": listing_of(values["listing"])})


@checked(frozen=True, config=STRICT)
class Candidate:
    """A cell that was sampled in the end, and its losses with the shared weights.

    Args:
        listing: the cell.
        screened: its loss on some minibatches; None where all candidates are finalists.
        valid: on the whole validation data; None for those that are no finalists.
    """

    listing: Listing
    screened: float | None = None
    valid: float | None = None

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Candidate:
        """The inverse of `dataclasses.asdict`, also after JSON has made lists of tuples."""
        return cls(**{**values, "listing": listing_of(values["listing"])})


@dataclass(frozen=True)
class SharingResult:
    """What a search found. One that diverged is a result, too.

    Args:
        status: "ok", or what went wrong.
        cell: the cell, each linear with weights of its own.
        shared: the same, its weights named as the bank's are.
        listing: the same as nodes and predecessors: the best candidate; before there is one, the
            cell of the controller's likeliest choices.
        candidates: what was sampled in the end.
        records: one for each epoch.
        seconds: of the search.
        parameters: numbers that all children together learn, without the controller's.
        peak_memory: of the process, in bytes.
    """

    status: Status
    cell: Cell
    shared: Cell
    listing: Listing
    candidates: tuple[Candidate, ...]
    records: tuple[SharingEpoch, ...]
    seconds: float
    parameters: int
    peak_memory: int

    @property
    def valid(self) -> float:
        """The cell's loss on the validation data with the shared weights; infinite before that."""
        measured = [c.valid for c in self.candidates if c.valid is not None]
        if measured:
            return min(measured)
        return self.records[-1].valid if self.records else math.inf

    def to_json(self) -> dict[str, Any]:
        """The figures as JSON values, without the records and without the cell."""
        return {
            "status": self.status,
            "epochs": len(self.records),
            "valid": self.valid,
            "listing": asdict(self.listing),
            "candidates": [asdict(candidate) for candidate in self.candidates],
            "seconds": self.seconds,
            "parameters": self.parameters,
            "peak_memory": self.peak_memory,
        }
