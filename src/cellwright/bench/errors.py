"""The one error that everything about benchmarks raises on bad input."""

from __future__ import annotations

from cellwright.base.errors import UserError


class BenchError(UserError):
    """A benchmark, a log or a question to one is wrong.

    The message says what, where, and what to do.
    """
