"""`auto`: for those who want a good cell, whatever it is called.

Asynchronous successive halving (Li et al. 2020) says how long a cell is trained. Where a new cell
comes from is what is different: known good ones first, then changes of the best so far and fresh
draws from the space. Of some candidates a cheap predictor, which learns from the trials so far,
chooses the one to train.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from cellwright.cell import Cell
from cellwright.search.blackbox.asynchronous_hyperband import AsynchronousHyperband
from cellwright.search.blackbox.initial import initial_cells
from cellwright.search.blackbox.predictor import Predictor
from cellwright.spaces.settings import check_count, check_number
from cellwright.trials.outcome import OK
from cellwright.trials.trial import Trial

KNOWN = (
    "gru", "lstm", "mut3", "nbnlp-gru", "mogrifier-lstm", "darts-v1", "mgu", "rhn-2", "sentpair-1"
)  # fmt: skip
"""Where it begins: what people would try by hand, as far as the space has it."""

LEAST_KNOWN = 12
"""Trials of a rung that the predictor learns from at least."""


@dataclass(eq=False, kw_only=True)
class Auto(AsynchronousHyperband):
    """Successive halving over known cells, changes of the best so far, and new ones.

    Args:
        initial: cells to begin with, or names of `space.known()`; those of `KNOWN` unless said.
        changes: the share of the later cells that are changes of good ones; the others are drawn
            from the space.
        parents: how many of the best so far are changed.
        candidates: how many are drawn for each that is trained; the predictor chooses. 1: none.
    """

    name: ClassVar[str] = "auto"

    epochs: int = 9
    initial: tuple[Cell | str, ...] | None = None
    changes: float = 0.75
    parents: int = 5
    candidates: int = 8
    _initial: tuple[Cell, ...] = field(default=(), init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.title, "changes", self.changes, 0, 1)
        check_count(self.title, "parents", self.parents, 1, 10**6)
        check_count(self.title, "candidates", self.candidates, 1, 10**4)
        if self.initial is None:
            known = self.space.known()
            self._initial = tuple(known[name] for name in KNOWN if name in known)
        else:
            self.initial, self._initial = initial_cells(self.title, self.space, self.initial)

    def _new_cell(self, number: int) -> tuple[Cell, dict[str, Any]]:
        begun = sum(self._started)
        if begun < len(self._initial):
            return self._initial[begun], {}
        rng = self._rng(number)
        parents = self._best(number)
        drawn = [self._drawn(parents, rng) for _ in range(self.candidates)]
        there = {trial.cell.id for trial in self.trials}
        fresh = [one for one in drawn if one[0].id not in there] or drawn
        return fresh[self._promising(number, [cell for cell, _ in fresh])]

    def _drawn(self, parents: list[Trial], rng: np.random.Generator) -> tuple[Cell, dict[str, int]]:
        """A change of one of the best, or a new cell, and where it comes from."""
        if parents and rng.random() < self.changes:
            parent = parents[int(rng.integers(len(parents)))]
            return self.space.mutate_live(parent.cell, rng), {"parent": parent.number}
        return self.space.sample_live(rng), {}

    def _best(self, number: int) -> list[Trial]:
        """The best cells so far: those that came farthest, then those of the lowest loss."""
        farthest: dict[str, Trial] = {}
        fine = (t for t in self._known(number) if self.outcomes[t.number].status == OK)
        for trial in sorted(fine, key=lambda t: (-t.fidelity, self._loss(t), t.number)):
            farthest.setdefault(trial.cell.id, trial)
        return list(farthest.values())[: self.parents]

    def _promising(self, number: int, cells: list[Cell]) -> int:
        """The place of the cell that the predictor puts first; 0 while it knows too little."""
        if len(cells) == 1:
            return 0
        least = self._plans[0].rungs[0].epochs
        first = [t for t in self._known(number) if t.fidelity == least]
        if len(first) < LEAST_KNOWN:
            return 0
        losses = [self._loss(trial) for trial in first]
        return Predictor([trial.cell for trial in first], losses).first(cells)
