"""Random search: the baseline that every method has to beat."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from cellwright.search.blackbox.ask_tell import Method, drawn_of
from cellwright.spaces import Drawn
from cellwright.spaces.settings import check_flag
from cellwright.trials.trial import Trial

_TRIES = 1000
_TRIES_FOR_EACH = 50
_LARGE = 100_000


@dataclass(eq=False, kw_only=True)
class RandomSearch(Method):
    """Cells drawn from the space, all trained for the same number of epochs.

    NAS-Bench-NLP has it in two modes (section 5): 50 epochs, and 10 epochs with five times as
    many cells. The trials do not depend on outcomes, nor on the number of workers.

    Args:
        distinct: whether no cell is trained twice; the search is finished when the space has no
            more.
    """

    name: ClassVar[str] = "random"

    distinct: bool = True
    _seen: set[str] = field(default_factory=set, init=False, repr=False)
    _exhausted: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag(self.title, "distinct", self.distinct)

    def _propose(self, number: int) -> Trial | None:
        drawn = None if self.finished else self._draw(number)
        return None if drawn is None else self._trial(number, drawn.cell, **drawn.info)

    def _draw(self, number: int) -> Drawn | None:
        rng = self._rng(number)
        size = self.space.distinct_size()
        tries = max(_TRIES, _TRIES_FOR_EACH * size if size is not None and size < _LARGE else 0)
        for _ in range(tries if self.distinct else 1):
            drawn = self.space.draw(rng)
            if not self.distinct or drawn.key not in self._seen:
                return drawn
        self._exhausted = True
        return None

    def _asked(self, trial: Trial) -> None:
        if self.distinct:
            self._seen.add(drawn_of(trial).key)

    @property
    def finished(self) -> bool:
        """Whether every cell has been trained, or no new one was found in many draws."""
        return self._exhausted or (self.distinct and len(self._seen) == self.space.distinct_size())
