"""`Trial`: what a search method asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cellwright.cell import Cell

SEED = "seed"
"""The setting of a trial that is the seed of its training, where tuning varies it."""


@dataclass(frozen=True)
class Trial:
    """A cell to be trained.

    Args:
        number: from 0, in the order of asking.
        cell: what to train.
        fidelity: for how many epochs in all.
        seed: of the training; the same wherever and whenever the trial runs.
        info: where the trial stands in its method: parent, bracket, rung. `continues` is the
            number of the trial whose training this one may go on with: same cell, same seed,
            fewer epochs. `settings` are those of the training that are this trial's own.
    """

    number: int
    cell: Cell
    fidelity: int
    seed: int
    info: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The trial as JSON values."""
        return {
            "number": self.number,
            "cell": self.cell.to_json(indent=None),
            "fidelity": self.fidelity,
            "seed": self.seed,
            "info": dict(self.info),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Trial:
        """The inverse of `to_json`."""
        return cls(**{**values, "cell": Cell.from_json(values["cell"])})
