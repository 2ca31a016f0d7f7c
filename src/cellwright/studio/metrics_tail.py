"""What a run has measured so far, read as it grows: each time only the new end of the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from cellwright.base.json_values import loads
from cellwright.base.regular_files import open_regular

MOST_STEPS = 600
"""Steps that are kept: of more, every second one, then every fourth, and so on."""

_AT_ONCE = 16 * 2**20
_EPOCH = b'{"kind": "epoch"'


class MetricsTail:
    """The records of a `metrics.jsonl`.

    A training that goes on from a checkpoint writes the file anew, without what came after it; then
    it is read from the start again.

    Args:
        path: the file, which need not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget()

    def _forget(self) -> None:
        self.epochs: list[dict[str, Any]] = []
        self.damaged: str | None = None
        self._steps: list[bytes] = []
        self._every, self._count = 1, 0
        self._last: bytes | None = None
        self._offset, self._file = 0, (0, 0)

    def read_on(self) -> bool:
        """Read what is new; whether there was something."""
        try:
            with open_regular(self.path) as file:
                status = os.fstat(file.fileno())
                same = (status.st_dev, status.st_ino) == self._file
                if not same or status.st_size < self._offset:
                    self._forget()
                    self._file = (status.st_dev, status.st_ino)
                if status.st_size == self._offset:
                    return not same
                file.seek(self._offset)
                while chunk := file.read(_AT_ONCE):
                    whole = chunk.rfind(b"\n") + 1
                    if not whole:
                        break
                    self._take(chunk[:whole])
                    self._offset += whole
                    file.seek(self._offset)
        except OSError:
            return False
        return True

    def _take(self, lines: bytes) -> None:
        for line in lines.split(b"\n"):
            if line.startswith(_EPOCH):
                record = _record(line)
                if record is None:
                    self.damaged = f"{self.path} has a line that is not a record"
                else:
                    self.epochs.append(record)
                self._last = None
            elif line:
                self._last = line
                if self._count % self._every == 0:
                    self._steps.append(line)
                    if len(self._steps) > 2 * MOST_STEPS:
                        self._steps = self._steps[::2]
                        self._every *= 2
                self._count += 1

    @property
    def last_step(self) -> dict[str, Any] | None:
        """The last step since the last epoch has ended, if there was one."""
        record = None if self._last is None else _record(self._last)
        return record if record is not None and record.get("kind") == "step" else None

    def steps(self) -> list[dict[str, Any]]:
        """Some of all steps, evenly spread."""
        found = (_record(line) for line in self._steps)
        return [record for record in found if record is not None and record.get("kind") == "step"]


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def position(step: dict[str, Any]) -> float | None:
    """How many epochs a step is from the start, as a number with a fraction; None if it does not
    say."""
    try:
        epoch, done, of = float(step["epoch"]), float(step["step"]), float(step["steps"])
    except (KeyError, TypeError, ValueError):
        return None
    return epoch - 1 + min(1.0, done / of) if of > 0 and epoch >= 1 else None
