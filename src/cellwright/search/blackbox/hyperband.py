"""Hyperband (Li et al. 2017): many cells for a short time, few for a long time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from cellwright.search.blackbox.ask_tell import Method, drawn_of
from cellwright.spaces import Drawn
from cellwright.spaces.settings import check_count, check_flag
from cellwright.trials.outcome import OK
from cellwright.trials.trial import Trial

_TRIES = 100


class Rung(NamedTuple):
    """How many cells are trained up to how many epochs."""

    cells: int
    epochs: int


@dataclass(frozen=True)
class Bracket:
    """One run of successive halving. `s` is how many times it halves."""

    s: int
    rungs: tuple[Rung, ...]


def brackets(most_epochs: int, eta: int) -> tuple[Bracket, ...]:
    """The brackets of one round, the most daring first (Algorithm 1).

    s_max = floor(log_eta R); bracket s starts with n = ceil((s_max + 1) / (s + 1) · eta^s) cells
    at r = R·eta^−s epochs; rung i has floor(n·eta^−i) cells at r·eta^i epochs. All in whole
    numbers: epochs are rounded down, and are at least 1.

    >>> [tuple(rung) for rung in brackets(81, 3)[1].rungs]
    [(34, 3), (11, 9), (3, 27), (1, 81)]
    """
    most = 0
    while eta ** (most + 1) <= most_epochs:
        most += 1
    found = []
    for s in range(most, -1, -1):
        first = -(-(most + 1) * eta**s // (s + 1))
        rungs = tuple(Rung(first // eta**i, most_epochs // eta ** (s - i)) for i in range(s + 1))
        found.append(Bracket(s, rungs))
    return tuple(found)


@dataclass
class _Run:
    """A bracket that is under way: for each rung its trials, and who is to be trained next."""

    plan: Bracket
    rungs: list[list[Trial]] = field(default_factory=lambda: [[]])
    promoted: list[Trial] = field(default_factory=list)

    @property
    def rung(self) -> int:
        return len(self.rungs) - 1

    @property
    def width(self) -> int:
        """How many trials the current rung will have."""
        return len(self.promoted) if self.rung else self.plan.rungs[0].cells


@dataclass(eq=False, kw_only=True)
class Hyperband(Method):
    """Brackets of successive halving, from many cells with few epochs to few with all.

    In a rung all cells are trained; the best floor(n_i/eta) go on to the next with eta times the
    epochs, continuing their training. A cell that diverged or failed counts as infinite and
    never goes on, so a rung may have fewer cells than planned. After the last bracket comes the
    first again, with new cells.

    The trials do not depend on the number of workers: a rung waits for the one before. With
    `overlap` idle workers begin the next bracket instead; each bracket's trials are the same
    then, too, but their numbers are not.

    Args:
        epochs: R, the most epochs of a cell; 50 in NAS-Bench-NLP.
        eta: each rung keeps one in eta.
        rounds: how often all brackets are run; None is for ever.
        overlap: whether the next bracket begins where this one waits.
    """

    name: ClassVar[str] = "hyperband"

    eta: int = 3
    rounds: int | None = None
    overlap: bool = False
    _plans: tuple[Bracket, ...] = field(default=(), init=False, repr=False)
    _runs: list[_Run] = field(default_factory=list, init=False, repr=False)
    _first_open: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.title, "eta", self.eta, 2, 1000)
        if self.rounds is not None:
            check_count(self.title, "rounds", self.rounds, 1, 10**6)
        check_flag(self.title, "overlap", self.overlap)
        self._plans = brackets(self.epochs, self.eta)

    def _propose(self, number: int) -> Trial | None:
        place = self._first_open
        while True:
            if place == len(self._runs):
                if self.rounds is not None and place >= self.rounds * len(self._plans):
                    return None
                return self._start(number, place, _Run(self._plans[place % len(self._plans)]))
            run = self._runs[place]
            if len(run.rungs[-1]) < run.width:
                return (
                    self._start(number, place, run) if not run.rung else self._go_on(number, place)
                )
            if not self._over(run) and not self.overlap:
                return None
            place += 1

    def _start(self, number: int, place: int, run: _Run) -> Trial:
        """A new cell at the bracket's lowest rung."""
        index = len(run.rungs[0])
        new = self._draw(place, index, run.rungs[0])
        info = {"bracket": place, "s": run.plan.s, "rung": 0, "index": index, **new.info}
        epochs = run.plan.rungs[0].epochs
        return Trial(number, new.cell, epochs, self._training_seed(place, index), info)

    def _draw(self, place: int, index: int, others: Sequence[Trial]) -> Drawn:
        """What the bracket does not have, where that can be found."""
        rng = self._rng(place, index)
        seen = {drawn_of(trial).key for trial in others}
        for _ in range(_TRIES):
            new = self.space.draw(rng)
            if new.key not in seen:
                break
        return new

    def _go_on(self, number: int, place: int) -> Trial:
        """The next cell that was good enough for this rung."""
        run = self._runs[place]
        before = run.promoted[len(run.rungs[-1])]
        info = {**before.info, "rung": run.rung, "continues": before.number}
        return Trial(number, before.cell, run.plan.rungs[run.rung].epochs, before.seed, info)

    def _asked(self, trial: Trial) -> None:
        place = trial.info["bracket"]
        if place == len(self._runs):
            self._runs.append(_Run(self._plans[place % len(self._plans)]))
        self._runs[place].rungs[-1].append(trial)

    def _told(self, trial: Trial, outcome: object) -> None:
        run = self._runs[trial.info["bracket"]]
        if len(run.rungs[-1]) == run.width and all(
            other.number in self.outcomes for other in run.rungs[-1]
        ):
            self._promote(run)
        while self._first_open < len(self._runs) and self._over(self._runs[self._first_open]):
            self._first_open += 1

    def _promote(self, run: _Run) -> None:
        """Open the next rung for the best of the last one, if there are any."""
        if run.rung == run.plan.s:
            run.promoted, run.rungs = [], [*run.rungs, []]
            return
        count = run.plan.rungs[run.rung].cells // self.eta
        # by place in the bracket where losses are equal, which no worker's speed decides
        ranked = sorted(
            run.rungs[-1], key=lambda t: (self.outcomes[t.number].loss, t.info["index"])
        )
        best = [t for t in ranked[:count] if self.outcomes[t.number].status == OK]
        run.promoted, run.rungs = best, [*run.rungs, []]

    def _over(self, run: _Run) -> bool:
        """Whether nothing more comes of the bracket."""
        return run.rung > 0 and not run.promoted

    @property
    def finished(self) -> bool:
        total = None if self.rounds is None else self.rounds * len(self._plans)
        return self._first_open == total
