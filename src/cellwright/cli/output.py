"""What commands print: text for people, data for programs."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from rich.console import Console


def stdout() -> Console:
    """The console for tables and drawings; plain text where it is not a terminal."""
    return _console(sys.stdout)


def stderr() -> Console:
    """The console for errors and progress."""
    return _console(sys.stderr)


def _console(stream: Any) -> Console:
    # Into a file or a pipe a table is as wide as it needs; only terminals have an edge.
    width = None if stream.isatty() or "COLUMNS" in os.environ else 160
    return Console(file=stream, highlight=False, markup=False, emoji=False, width=width)


def emit(text: str) -> None:
    """Print data for programs: always UTF-8, whatever the terminal's encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(encoded(text))
    sys.stdout.flush()


def emit_json(value: Any) -> None:
    """Print a JSON value for programs."""
    emit(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def encoded(text: str) -> bytes:
    r"""The text as UTF-8. A lone surrogate becomes its escape, which JSON reads as the same.

    >>> encoded("a → \ud800")
    b'a \xe2\x86\x92 \\ud800'
    """
    return text.encode("utf-8", "backslashreplace")


def printable(text: str) -> str:
    r"""The text with control characters as escapes, so that no name can steer a terminal.

    >>> printable("a\x1b[2J →")
    'a\\x1b[2J →'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def count(number: int, thing: str) -> str:
    """A number with its noun.

    >>> count(1, "cell"), count(2, "cell")
    ('1 cell', '2 cells')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
