"""What commands print: text for people, data for programs."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

from rich.cells import cell_len
from rich.console import Console


def stdout() -> Console:
    """The console for tables and drawings; plain text where it is not a terminal."""
    return _console(sys.stdout)


def stderr() -> Console:
    """The console for errors and progress."""
    return _console(sys.stderr)


LEAST_WIDTH = 20
"""Narrower terminals are written to as if they were so wide."""

PIPE_WIDTH = 160
"""Into a file or a pipe a table is as wide as it needs, up to this; only terminals have an edge."""


def forget_no_width() -> None:
    """Leave out a width that is none, as COLUMNS=0, which some programs set; rich, which draws
    the help too, would take it at its word and print nothing."""
    width = os.environ.get("COLUMNS", "")
    if not (width.isdecimal() and int(width[:9]) > 0):
        os.environ.pop("COLUMNS", None)


def _console(stream: Any) -> Console:
    forget_no_width()
    terminal = stream.isatty()
    file: Any = stream if terminal else Trimmed(stream)
    width = None if terminal or "COLUMNS" in os.environ else PIPE_WIDTH
    console = Console(file=file, highlight=False, markup=False, emoji=False, width=width)
    if console.width < LEAST_WIDTH:
        console.width = LEAST_WIDTH
    return console


class Trimmed:
    """A stream without the spaces with which lines are filled up to a width."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._held = stream, ""

    def write(self, text: str) -> int:
        """Write, but hold back spaces until something follows them."""
        whole = self._held + text
        kept = whole.rstrip(" ")
        self._held = whole[len(kept) :]
        self._stream.write(_FILLED.sub("\n", kept))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def trimmed() -> Iterator[None]:
    """While this is entered, what others print into a file or a pipe has no such spaces."""
    if sys.stdout.isatty():
        yield
        return
    stream: Any = Trimmed(sys.stdout)
    with contextlib.redirect_stdout(stream):
        yield


_FILLED = re.compile(r" +\n")


def say(text: str, style: str = "", console: Console | None = None) -> None:
    """Print a sentence: folded at words on a terminal, where long words such as paths stay whole;
    in one line elsewhere."""
    console = stdout() if console is None else console
    for line in (
        folded(printable(text), console.width) if console.is_terminal else [printable(text)]
    ):
        console.print(line, style=style, soft_wrap=True)


def folded(line: str, width: int) -> list[str]:
    """A line in lines of that width, broken between words alone.

    >>> folded("  a line with /a/long/path", 14)
    ['  a line with', '  /a/long/path']
    """
    if cell_len(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip(" "))]
    return textwrap.wrap(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


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


def harmless(text: str) -> str:
    """The same lines and columns without anything that could steer a terminal."""
    return "".join(each if each in "\n\t" else printable(each) for each in text)


def printable_lines(text: str) -> str:
    """The text with its line ends, and with every other control character escaped."""
    return "\n".join(printable(line) for line in text.splitlines())


def count(number: int, thing: str) -> str:
    """A number with its noun.

    >>> count(1, "cell"), count(2, "cell")
    ('1 cell', '2 cells')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
