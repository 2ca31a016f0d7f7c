"""ASHA, and Hyperband made of it (Li et al. 2020): promotion without waiting for a rung."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from cellwright.cell import Cell
from cellwright.search.blackbox.ask_tell import SequentialMethod
from cellwright.search.blackbox.hyperband import Bracket
from cellwright.search.blackbox.hyperband import brackets as all_brackets
from cellwright.spaces.settings import check_count
from cellwright.trials.outcome import OK
from cellwright.trials.trial import Trial


@dataclass(eq=False, kw_only=True)
class AsynchronousHyperband(SequentialMethod):
    """Whoever is among the best one in eta of a rung so far goes on; else a new cell begins.

    No worker ever waits. With one bracket, the most daring one, this is ASHA; with more,
    new cells are shared out to the brackets as Hyperband does, in proportion to their size. A
    cell that diverged or failed counts as infinite and never goes on.

    What is asked depends on what is known by then, so the trials depend on the number of
    workers, unless a `lag` is given.

    Args:
        epochs: R, the most epochs of a cell.
        eta: one in eta goes on.
        brackets: how many of Hyperband's brackets are used, the most daring first.
    """

    name: ClassVar[str] = "asynchronous-hyperband"

    eta: int = 3
    brackets: int = 1
    lag: int | None = None
    _plans: tuple[Bracket, ...] = field(default=(), init=False, repr=False)
    _started: list[int] = field(default_factory=list, init=False, repr=False)
    _promoted: set[int] = field(default_factory=set, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.title, "eta", self.eta, 2, 1000)
        plans = all_brackets(self.epochs, self.eta)
        check_count(self.title, "brackets", self.brackets, 1, len(plans))
        self._plans = plans[: self.brackets]
        self._started = [0] * self.brackets

    def _propose(self, number: int) -> Trial:
        known: dict[tuple[int, int], list[Trial]] = {}
        for trial in self._known(number):
            known.setdefault((trial.info["bracket"], trial.info["rung"]), []).append(trial)
        highest = max(plan.s for plan in self._plans)
        for rung in range(highest - 1, -1, -1):
            for place, plan in enumerate(self._plans):
                before = self._promotable(known.get((place, rung), []))
                if rung < plan.s and before is not None:
                    epochs = plan.rungs[rung + 1].epochs
                    info = {**before.info, "rung": rung + 1, "continues": before.number}
                    return Trial(number, before.cell, epochs, before.seed, info)
        return self._start(number)

    def _promotable(self, rung: list[Trial]) -> Trial | None:
        """The best trial of a rung that may go on and has not."""
        ranked = sorted(rung, key=lambda trial: (self._loss(trial), trial.number))
        for trial in ranked[: len(rung) // self.eta]:
            if trial.number not in self._promoted and self.outcomes[trial.number].status == OK:
                return trial
        return None

    def _start(self, number: int) -> Trial:
        """A new cell, in the bracket that is furthest behind its share."""
        sizes = [plan.rungs[0].cells for plan in self._plans]
        place = min(range(self.brackets), key=lambda i: self._started[i] / sizes[i])
        plan = self._plans[place]
        info = {"bracket": place, "s": plan.s, "rung": 0, "index": sum(self._started)}
        cell, origin = self._new_cell(number)
        seed = self._training_seed(number)
        return Trial(number, cell, plan.rungs[0].epochs, seed, {**info, **origin})

    def _new_cell(self, number: int) -> tuple[Cell, dict[str, Any]]:
        """The cell of a new trial, and what is to be known of where it comes from."""
        new = self.space.draw(self._rng(number))
        return new.cell, new.info

    def _asked(self, trial: Trial) -> None:
        if trial.info["rung"] == 0:
            self._started[trial.info["bracket"]] += 1
        else:
            self._promoted.add(trial.info["continues"])
