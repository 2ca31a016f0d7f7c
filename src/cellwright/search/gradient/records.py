"""What a differentiable search reports: after each step, after each epoch, and at the end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from pydantic.dataclasses import dataclass as checked

from cellwright.cell import Cell
from cellwright.cell.listings import DartsListing, EssListing, darts, ess
from cellwright.cell.listings.supernets import Listing
from cellwright.training.results import STRICT, Status, StepDone


@dataclass(frozen=True)
class SearchStep(StepDone):
    """One step of the weights, and before it one of the architecture.

    `architecture` is the loss that the architecture learned from; None while it does not learn.
    """

    round: int
    group: str
    architecture: float | None


@checked(frozen=True, config=STRICT)
class SearchEpoch:
    """Where a search stands after an epoch.

    Args:
        epoch: its number, from 1.
        round: the round it belongs to, from 1; 0 while the weights warm up.
        group: the group that learned, `"intra"` or `"inter"`.
        train: the weights' mean loss over the epoch.
        architecture: the architecture's; None if it did not learn.
        valid: the supernet's loss on the validation data; where steps run sampled cells alone, that
            of the cell that it chooses, with its weights.
        watched: entropy and mean absolute deviation of the edge weights (`watching.watch`).
        theta: the edge weights.
        listing: the cell that they choose.
        learning_rate: of the weights, for a full segment.
        architecture_rate: of the group's variables; 0 if they did not learn.
        seconds: since the search began.
        peak_memory: of the process so far, in bytes.
    """

    ends_epoch: ClassVar[bool] = True
    best: ClassVar[bool] = False

    epoch: int
    round: int
    group: str
    train: float
    architecture: float | None
    valid: float
    watched: Mapping[str, float]
    theta: Mapping[str, tuple[float, ...]]
    listing: Listing
    learning_rate: float
    architecture_rate: float
    seconds: float
    peak_memory: int

    @property
    def cell(self) -> Cell:
        """The cell that the edge weights choose, each linear with weights of its own."""
        return lowered(self.listing)

    def to_record(self) -> dict[str, Any]:
        """As the metrics keep it."""
        return {"kind": "epoch", **self.to_json()}

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values."""
        return {**asdict(self), "theta": {name: list(ws) for name, ws in self.theta.items()}}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SearchEpoch:
        """The inverse of `to_json`, also after JSON has made lists of tuples."""
        theta = {name: tuple(weights) for name, weights in values["theta"].items()}
        return cls(**{**values, "theta": theta, "listing": listing_of(values["listing"])})


def lowered(listing: Listing, name: str = "") -> Cell:
    """The cell of a listing of either family."""
    if isinstance(listing, EssListing):
        return ess.lower(listing, name)
    return darts.lower(listing, name)


def listing_of(values: Mapping[str, Any]) -> Listing:
    """A listing from the mapping that `dataclasses.asdict` makes of it."""
    if "intra" in values:
        gates = ("f_gate", "g_gate")
        made = {gate: values[gate] and tuple(values[gate]) for gate in gates}
        intra = listing_of(values["intra"])
        return EssListing(**{**values, **made, "intra": intra})
    nodes = tuple(tuple((op, source) for op, source in edges) for edges in values["nodes"])
    return DartsListing(nodes, tuple(values["concat"]), values["edges"])


@dataclass(frozen=True)
class SearchResult:
    """What a search found. One that diverged is a result, too: its last finite architecture.

    Args:
        status: "ok", or what went wrong.
        converged: whether it ended because nothing changed any more, before its limit.
        cell: the cell, each linear with weights of its own.
        shared: the same, its weights named as the supernet's are.
        listing: the same as nodes and edges.
        theta: the edge weights.
        records: one for each epoch.
        seconds: of the search.
        parameters: numbers that the supernet's model learns, without the architecture's.
        peak_memory: of the process, in bytes.
    """

    status: Status
    converged: bool
    cell: Cell
    shared: Cell
    listing: Listing
    theta: Mapping[str, tuple[float, ...]]
    records: tuple[SearchEpoch, ...]
    seconds: float
    parameters: int
    peak_memory: int

    @property
    def valid(self) -> float:
        """The last epoch's loss on the validation data; infinite where no epoch has ended."""
        return self.records[-1].valid if self.records else math.inf

    def to_json(self) -> dict[str, Any]:
        """The figures as JSON values, without the records and without the cell."""
        return {
            "status": self.status,
            "converged": self.converged,
            "epochs": len(self.records),
            "valid": self.valid,
            "listing": asdict(self.listing),
            "theta": {name: list(weights) for name, weights in self.theta.items()},
            "seconds": self.seconds,
            "parameters": self.parameters,
            "peak_memory": self.peak_memory,
        }
