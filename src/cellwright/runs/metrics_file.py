"""`metrics.jsonl`: what a run measured, one JSON object a line, as it goes.

A record says what it is by `kind`: a `step` now and then, an `epoch` after each. A number that is
not finite is a string (see `json_values`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cellwright.base.errors import refused
from cellwright.base.files import open_lasting, write_whole
from cellwright.base.json_values import dumps, loads
from cellwright.base.regular_files import read_regular
from cellwright.runs.errors import RunError

Record = Mapping[str, Any]

MOST_BYTES = 512 * 2**20
"""The largest file that is read: some million records."""


class MetricsWriter:
    """Appends records; begins with the first `keep` records of the file that is there.

    A checkpoint says how many records were written before it. What was written after the
    checkpoint from which a run goes on is dropped, since it will come again: so every record is
    there exactly once, however often a run was killed.
    """

    def __init__(self, path: Path, keep: int) -> None:
        self.path = path
        records = _whole_lines(path)[:keep] if keep and path.exists() else []
        write_whole(path, b"".join(records))
        self.count = len(records)
        try:
            handle = open_lasting(path, os.O_WRONLY | os.O_APPEND)
        except OSError as error:
            raise refused("write", path, error) from None
        self._file = open(handle, "ab")  # noqa: SIM115

    def append(self, record: Record) -> None:
        """Add a record; other processes see it at once."""
        try:
            self._file.write(dumps(record).encode("utf-8", "backslashreplace") + b"\n")
            self._file.flush()
        except OSError as error:
            raise refused("write", self.path, error) from None
        self.count += 1

    def sync(self) -> None:
        """Wait until the disk has all records; a checkpoint that counts them comes after it."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise refused("write", self.path, error) from None

    def close(self) -> None:
        """Write what is left."""
        try:
            self._file.close()
        except OSError as error:
            raise refused("write", self.path, error) from None


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """All records of a file. A last line that is not whole, since it is being written or was when
    the process was killed, is left out.

    Raises:
        RunError: the file cannot be read, or a line before the last is not a record.
    """
    lines = _whole_lines(path)
    records = []
    for number, line in enumerate(lines, 1):
        record = _record(line)
        if record is None:
            raise RunError(f"{path}, line {number}: not a record; the file is damaged")
        records.append(record)
    return records


def _whole_lines(path: Path) -> list[bytes]:
    try:
        *lines, torn = read_regular(path, MOST_BYTES).split(b"\n")
    except FileNotFoundError:
        raise RunError(f"there are no metrics {path}") from None
    except OSError as error:
        raise refused("read", path, error) from None
    if lines and not torn and _record(lines[-1]) is None:  # the disk had its length, not its bytes
        lines.pop()
    return [line + b"\n" for line in lines]


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None
