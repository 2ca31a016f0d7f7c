"""Local search: a baseline that does surprisingly well on tables (White et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from cellwright.cell import Cell
from cellwright.search.blackbox.ask_tell import Method
from cellwright.spaces.settings import check_count
from cellwright.trials.trial import Trial

_TRIES = 20


class _Round(NamedTuple):
    """Where a round searches: around a trial, or with None anywhere; and rounds in vain so far."""

    centre: Trial | None
    misses: int = 0


@dataclass(eq=False, kw_only=True)
class LocalSearch(Method):
    """Rounds of cells near the best one; where they find nothing better, a new start.

    The first round is random cells; its best is the centre of the next, whose cells are
    mutations of the centre, and so on. After `patience` rounds in vain comes a random one again.
    The spaces are too large to try all neighbours of a cell, so a round is a sample of them.
    Cells that were trained before are avoided where that is possible.

    A round begins when the one before is told, so the trials do not depend on the number of
    workers, and up to `neighbours` can be open at once.

    Args:
        neighbours: how many cells a round has.
        patience: how many rounds in vain there are before a new start.
    """

    name: ClassVar[str] = "local-search"

    neighbours: int = 10
    patience: int = 2
    _rounds: list[_Round] = field(default_factory=lambda: [_Round(None)], init=False, repr=False)
    _seen: set[str] = field(default_factory=set, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.title, "neighbours", self.neighbours, 1, 10**6)
        check_count(self.title, "patience", self.patience, 1, 10**6)

    def _propose(self, number: int) -> Trial | None:
        place = number // self.neighbours
        if place == len(self._rounds):
            return None  # the round before has open trials
        centre = self._rounds[place].centre
        parent = {} if centre is None else {"parent": centre.number}
        return self._trial(number, self._draw(number, centre), round=place, **parent)

    def _draw(self, number: int, centre: Trial | None) -> Cell:
        rng = self._rng(number)
        for _ in range(_TRIES):
            if centre is None:
                cell = self.space.sample_live(rng)
            else:
                cell = self.space.mutate_live(centre.cell, rng)
            if cell.id not in self._seen:
                break
        return cell

    def _asked(self, trial: Trial) -> None:
        self._seen.add(trial.cell.id)

    def _told(self, trial: Trial, outcome: object) -> None:
        place = len(self._rounds) - 1
        numbers = range(place * self.neighbours, (place + 1) * self.neighbours)
        if all(number in self.outcomes for number in numbers):
            self._rounds.append(self._next(self._rounds[place], numbers))

    def _next(self, last: _Round, numbers: range) -> _Round:
        best = min(numbers, key=lambda number: self.outcomes[number].loss)
        loss = self.outcomes[best].loss
        if loss < (float("inf") if last.centre is None else self.outcomes[last.centre.number].loss):
            return _Round(self.trials[best])
        misses = last.misses + 1
        return _Round(None) if misses >= self.patience else _Round(last.centre, misses)
