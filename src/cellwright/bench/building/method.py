"""`Repeated`: not a search, but a list of trainings in the form that a study runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from cellwright.cell import Cell
from cellwright.search.blackbox.ask_tell import Method
from cellwright.spaces.settings import LATER, check_count, check_flag
from cellwright.trials.trial import Trial

_TRIES = 1000
_TRIES_FOR_EACH = 50
_LARGE = 100_000


@dataclass(eq=False, kw_only=True)
class Repeated(Method):
    """Cells, each with the seeds 0, 1, 2 …: first some given ones, then drawn ones.

    The cells are drawn one after the other and all different, each by its own number: of two
    studies with the same settings the longer has all cells of the shorter. Nothing depends on
    outcomes or on the number of workers.

    Args:
        first: cells that come before the drawn ones.
        drawn: whether any are drawn; otherwise the study ends with those of `first`.
        repeats: how often each is trained.
        repeated: how many are trained so often, the first ones; the others are trained once. All if
            None.
    """

    name: ClassVar[str] = "repeated"

    first: tuple[Cell, ...] = ()
    drawn: bool = True
    repeats: int = 1
    repeated: int | None = field(default=None, metadata=LATER)
    _seen: set[str] = field(default_factory=set, init=False, repr=False)
    """The ids of the drawn cells."""
    _exhausted: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag(self.title, "drawn", self.drawn)
        check_count(self.title, "repeats", self.repeats, 1, 10**6)
        if self.repeated is not None:
            check_count(self.title, "repeated", self.repeated, 0, 10**9)
        self._own = {cell.id for cell in self.first}

    def label(self, number: int) -> tuple[str, int]:
        """The name of a trial's cell, and the trial's seed."""
        place, repeat = self.place(number)
        if place >= len(self.first):
            return f"drawn-{place}", repeat
        return self.first[place].name or self.first[place].id, repeat

    def place(self, number: int) -> tuple[int, int]:
        """Which cell a trial trains, and for the how manieth time; both from 0."""
        often = number if self.repeated is None else self.repeats * self.repeated
        if number <= often:
            return divmod(number, self.repeats)
        return number - often + often // self.repeats, 0

    def trials_of(self, cells: int) -> int:
        """How many trials the first so many cells have."""
        often = cells if self.repeated is None else min(cells, self.repeated)
        return cells + often * (self.repeats - 1)

    def _propose(self, number: int) -> Trial | None:
        place, repeat = self.place(number)
        if place < len(self.first):
            cell = self.first[place]
        elif repeat:
            cell = self.trials[number - 1].cell
        else:
            found = self._draw(place)
            if found is None:
                return None
            cell = found
        return Trial(number, cell, self.epochs, repeat)

    def _draw(self, place: int) -> Cell | None:
        if not self.drawn or self._exhausted:
            return None
        size = self.space.distinct_size()
        tries = _TRIES
        if size is not None and size < _LARGE:
            tries = max(tries, _TRIES_FOR_EACH * size) if len(self._seen) < size else 0
        rng = self._rng(place)
        for _ in range(tries):
            cell = self.space.sample_live(rng)
            if cell.id not in self._seen and cell.id not in self._own:
                return cell.renamed(self.label(self.trials_of(place))[0])
        self._exhausted = True
        return None

    def _asked(self, trial: Trial) -> None:
        if trial.cell.id not in self._own:
            self._seen.add(trial.cell.id)

    @property
    def finished(self) -> bool:
        """Whether all given cells are handed out and no more are drawn."""
        given = len(self.trials) >= self.trials_of(len(self.first))
        return given and (not self.drawn or self._exhausted)
