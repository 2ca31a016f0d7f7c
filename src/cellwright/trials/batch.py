"""`Batch`: calls that are all to be done, side by side, each tried again as often as it may be.

Trials of a study have a store for this. Here nothing is kept: who has the calls knows which of them
are still to be done.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from cellwright.trials.executors import Call, Ended, Executor, Job
from cellwright.trials.retries import Retries

LOOK_SECONDS = 0.2

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Happened(Generic[Key]):
    """What happened to a call.

    Args:
        key: its owner's name for it.
        kind: "begun", "ended", "again" (an attempt came to nothing, and there will be another),
            "failed", or "stopped" (in this process: the call heard a signal to end).
        ending: how an attempt came to nothing, as executors name it.
        message: what happened then. The first line says it all.
        attempts: how many came to nothing.
    """

    key: Key
    kind: Literal["begun", "ended", "again", "failed", "stopped"]
    ending: str = ""
    message: str = ""
    attempts: int = 0


class Batch(Generic[Key]):
    """Calls and where they run.

    Args:
        calls: by keys of their owner, in the order in which they begin.
        executor: where they run.
        retries: how often a call that crashes, is lost or passes a limit is tried again.
        alone: each call has a process of its own, where there are processes; else a process does
            one call after the other, which saves the time to start one.
        missed: what is missing of a call that has ended, if something is; such an attempt came to
            nothing.
    """

    def __init__(
        self,
        calls: Mapping[Key, Call],
        executor: Executor,
        retries: Retries | None = None,
        *,
        alone: bool = True,
        missed: Callable[[Key], str | None] = lambda key: None,
    ) -> None:
        self._calls, self._executor, self._missed = dict(calls), executor, missed
        self._retries, self._alone = retries or Retries(), alone
        self._todo = list(calls)
        self._running: dict[int, Key] = {}
        self._faults: Counter[Key] = Counter()
        self._losses: Counter[Key] = Counter()
        self._handed_out = 0

    @property
    def is_over(self) -> bool:
        """Whether every call has ended or failed."""
        return not (self._todo or self._running)

    @property
    def going(self) -> list[Key]:
        """The calls that run now."""
        return list(self._running.values())

    def move_on(self) -> Iterator[Happened[Key]]:
        """Hand out what there is room for, and say what happens within a moment."""
        while self._todo and self._executor.free:
            key = self._todo.pop(0)
            self._handed_out += 1
            self._running[self._handed_out] = key
            yield Happened(key, "begun")
            self._executor.submit(Job(self._handed_out, self._calls[key], alone=self._alone))
        if not self._running:  # a cluster that is just starting
            time.sleep(LOOK_SECONDS)
        for end in self._executor.wait(LOOK_SECONDS):
            yield self._taken_in(end)

    def _taken_in(self, end: Ended) -> Happened[Key]:
        key = self._running.pop(end.key)
        if end.kind == "stopped":
            return Happened(key, "stopped")
        ending, message = end.kind, end.message
        if ending == "done":
            missing = self._missed(key)
            if missing is None:
                return Happened(key, "ended")
            ending, message = "error", missing
        counted = self._losses if ending == "lost" else self._faults
        counted[key] += 1
        faults, losses = self._faults[key], self._losses[key]
        if self._retries.used_up(faults, losses):
            return Happened(key, "failed", ending, message, faults + losses)
        self._todo.append(key)
        return Happened(key, "again", ending, message, faults + losses)
