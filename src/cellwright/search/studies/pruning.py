"""Removing checkpoints of trials that Hyperband will never go on with.

In a rung the best n/eta go on. A trial that so many others are better than has lost, whatever
comes; its checkpoint only takes room on the disk, for large models hundreds of megabytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from cellwright.search.blackbox.ask_tell import Method
from cellwright.search.blackbox.asynchronous_hyperband import AsynchronousHyperband
from cellwright.search.blackbox.auto import Auto
from cellwright.search.blackbox.hyperband import Hyperband, brackets
from cellwright.search.studies.start import Prepared
from cellwright.trials.checkpoint_files import remove_checkpoints
from cellwright.trials.store import Store, find_study, list_trials
from cellwright.trials.study import Event, TrialFinished
from cellwright.trials.study.driver import Watch

MOST_KEPT = 50
"""Of a rung of `auto`, whose number of trials nobody knows. One that goes on although it was not
kept is trained from the beginning, to the same weights."""


class Pruner:
    """Watches a study, and removes the checkpoints of those that have lost.

    It knows the trials of this driver alone, which is on the safe side: who is among the best of
    all is among the best of some.

    Args:
        prepared: the study.
        store: where it is kept.
        trials: how many it shall have.
        watch: who else watches.
    """

    def __init__(
        self, prepared: Prepared, store: Store, trials: int, watch: Watch | None = None
    ) -> None:
        self._prepared, self._store, self._trials, self._watch = prepared, store, trials, watch
        self._rungs: dict[tuple[int, int], list[tuple[float, int, int]]] = {}

    def __call__(self, event: Event) -> None:
        """Take in an event, and pass it on."""
        if isinstance(event, TrialFinished) and event.outcome["status"] == "ok":
            study = find_study(self._store, self._prepared.name)
            [trial] = list_trials(self._store, study, first=event.number, most=1)
            self._finished(event.number, event.outcome["value"], trial.info)
        if self._watch is not None:
            self._watch(event)

    def _finished(self, number: int, value: float, info: Mapping[str, Any]) -> None:
        bracket, rung = info["bracket"], info["rung"]
        ranked = self._rungs.setdefault((bracket, rung), [])
        ranked.append((value, info["index"], number))
        ranked.sort()
        go_on = places(self._prepared.method, bracket, rung, self._trials)
        remove_checkpoints(self._prepared.checkpoints, [lost for *_, lost in ranked[go_on:]])
        del ranked[go_on:]


def places(method: Method, bracket: int, rung: int, trials: int) -> int:
    """How many trials of a rung go on at most, in a study of so many trials.

    >>> from cellwright.search.blackbox.methods import method
    >>> from cellwright.spaces import Enas
    >>> places(method("hyperband", Enas(), epochs=9, eta=3), 0, 0, 100)
    3
    """
    if isinstance(method, Hyperband):
        plans = brackets(method.epochs, method.eta)
        return plans[bracket % len(plans)].rungs[rung].cells // method.eta
    if isinstance(method, AsynchronousHyperband):
        most = math.ceil(trials / method.eta)  # a rung has no end, but the study has
        return min(most, MOST_KEPT) if isinstance(method, Auto) else most
    return 0
