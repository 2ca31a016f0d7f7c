"""A bar for work on bytes: reading, downloading, unpacking."""

from __future__ import annotations

from contextlib import AbstractContextManager

from cellwright.base.progress import Progress
from cellwright.cli.work_bar import work_bar


def bar() -> AbstractContextManager[Progress]:
    """A bar on standard error while the work goes on; where that is no terminal, lines."""
    return work_bar(of_bytes=True)
