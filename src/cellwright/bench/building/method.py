"""`Repeated`: not a search, but a list of trainings in the form that a study runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from cellwright.cell import Cell
from cellwright.search.blackbox.ask_tell import Method
from cellwright.spaces.settings import check_count, check_flag
from cellwright.trials.trial import Trial

_TRIES = 1000
_TRIES_FOR_EACH = 50
_LARGE = 100_000


@dataclass(eq=False, kw_only=True)
class Repeated(Method):
    """Every cell several times, with the seeds 0, 1, 2 …: first some given ones, then drawn ones.

    The cells are drawn one after the other and all different, each by its own number: of two
    studies with the same settings the longer has all cells of the shorter. Nothing depends on
    outcomes or on the number of workers.

    Args:
        first: cells that come before the drawn ones.
        drawn: whether any are drawn; otherwise the study ends with those of `first`.
        repeats: how often each is trained.
    """

    name: ClassVar[str] = "repeated"

    first: tuple[Cell, ...] = ()
    drawn: bool = True
    repeats: int = 1
    _seen: set[str] = field(default_factory=set, init=False, repr=False)
    """The ids of the drawn cells."""
    _exhausted: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag(self.title, "drawn", self.drawn)
        check_count(self.title, "repeats", self.repeats, 1, 10**6)
        self._own = {cell.id for cell in self.first}

    def label(self, number: int) -> tuple[str, int]:
        """The name of a trial's cell, and the trial's seed."""
        place, repeat = divmod(number, self.repeats)
        if place >= len(self.first):
            return f"drawn-{place}", repeat
        return self.first[place].name or self.first[place].id, repeat

    def _propose(self, number: int) -> Trial | None:
        place, repeat = divmod(number, self.repeats)
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
                return cell.renamed(self.label(place * self.repeats)[0])
        self._exhausted = True
        return None

    def _asked(self, trial: Trial) -> None:
        if trial.cell.id not in self._own:
            self._seen.add(trial.cell.id)

    @property
    def finished(self) -> bool:
        """Whether all given cells are handed out and no more are drawn."""
        given = len(self.trials) >= len(self.first) * self.repeats
        return given and (not self.drawn or self._exhausted)
