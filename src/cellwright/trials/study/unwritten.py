"""What a driver knows and its store does not: trials that ended while the store was away."""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.trials.executors import Ended, Executor


class Unwritten:
    """How many trials have ended here that the store does not have."""

    def __init__(self) -> None:
        self._number = 0

    def add(self, ended: Sequence[Ended]) -> None:
        """These are about to be written."""
        self._number += sum(end.kind == "done" for end in ended)

    def clear(self) -> None:
        """All are written."""
        self._number = 0

    def collect(self, executor: Executor) -> None:
        """Count those as well that ended since the store is away."""
        if self._number:
            self.add(executor.wait(0.0))

    def __str__(self) -> str:
        """The end of a sentence; empty if nothing is lost."""
        if not self._number:
            return ""
        what = "a trial that" if self._number == 1 else f"{self._number:,} trials that"
        return f"; {what} had ended could not be written, and will be run again"
