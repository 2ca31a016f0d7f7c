"""Aging evolution (Real et al. 2019), with the settings of FENAS (section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from cellwright.cell import Cell
from cellwright.search.blackbox.ask_tell import SequentialMethod
from cellwright.search.blackbox.initial import initial_cells
from cellwright.spaces.settings import LATER, SettingError, check_count, check_flag
from cellwright.trials.trial import Trial

_TRIES = 100


@dataclass(eq=False, kw_only=True)
class AgingEvolution(SequentialMethod):
    """A population of trained cells in which the oldest dies, however good it is.

    The first `population` trials are the `initial` cells and random ones. Then in each cycle
    `sample` members of the population are drawn; the best of them is the parent; its mutation is
    the next trial, joins the population, and the oldest leaves it. A trial that diverged or failed
    is a member of infinite loss: it ages, but is a parent only where all that were drawn are such.

    The trials do not depend on the number of workers, up to `lag` of them.

    Args:
        population: P; 100 in FENAS.
        sample: S; 25 in FENAS.
        initial: cells to begin with, or names of `space.known()`: FENAS starts with the LSTM.
        replacement: whether one member can be drawn several times in a cycle, as in FENAS. If not,
            as in the release of NAS-Bench-NLP, no cell is drawn twice for the first population
            either, where that can be found.
    """

    name: ClassVar[str] = "aging-evolution"

    epochs: int = 20
    population: int = 100
    sample: int = 25
    initial: tuple[Cell | str, ...] = ()
    replacement: bool = field(default=True, metadata=LATER)
    _initial: tuple[Cell, ...] = field(default=(), init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.title, "population", self.population, 1, 10**6)
        check_count(self.title, "sample", self.sample, 1, 10**6)
        if self.lag is not None and self.lag > self.population:
            raise SettingError(
                f"{self.title}: lag must be at most the population of {self.population}, "
                f"not {self.lag}, so that there are parents to choose from"
            )
        check_flag(self.title, "replacement", self.replacement)
        self.initial, self._initial = initial_cells(self.title, self.space, self.initial)
        if len(self._initial) > self.population:
            raise SettingError(
                f"{self.title}: initial has {len(self._initial)} cells, more than the population "
                f"of {self.population}"
            )

    def _propose(self, number: int) -> Trial | None:
        if number < len(self._initial):
            return self._trial(number, self._initial[number])
        rng = self._rng(number)
        if number < self.population:
            return self._trial(number, self._first(rng))
        alive = self._known(number)[-self.population :]
        if not alive:
            return None
        if self.replacement:
            drawn = [alive[i] for i in rng.integers(len(alive), size=self.sample)]
        else:
            many = min(self.sample, len(alive))
            drawn = [alive[i] for i in rng.choice(len(alive), many, replace=False)]
        parent = min(drawn, key=self._loss)
        return self._trial(number, self.space.mutate_live(parent.cell, rng), parent=parent.number)

    def _first(self, rng: np.random.Generator) -> Cell:
        """A random cell for the first population."""
        cell = self.space.sample_live(rng)
        if not self.replacement:
            there = {trial.cell.id for trial in self.trials}
            for _ in range(_TRIES):
                if cell.id not in there:
                    break
                cell = self.space.sample_live(rng)
        return cell
