"""Tables as files: CSV for programs, Markdown for notes, LaTeX for papers.

A table's values are numbers; each column says how people read them. CSV has the numbers in full,
the others what people read, with the best row in bold.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.base.endings import TABLES, format_of
from cellwright.base.files import write_whole
from cellwright.report.latex import escaped, in_math, number

NONE = "–"
"""Where there is no value."""


@dataclass(frozen=True)
class Measured:
    """A mean and its spread, if it has one."""

    mean: float
    spread: float | None = None


@dataclass(frozen=True)
class Said:
    """A value with what people read, where each row of a column is measured in its own way."""

    value: float
    text: str


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        title: its heading, for people.
        name: of the same in CSV.
        shown: a value, or a mean or spread of `Measured`, as people read it.
        right: whether it stands to the right, as numbers do.
        measured: whether its values are `Measured`: two columns of CSV.
    """

    title: str
    name: str
    shown: Callable[[Any], str] = str
    right: bool = True
    measured: bool = False


@dataclass(frozen=True)
class Table:
    """A table.

    Args:
        columns: what its columns are.
        rows: a value for each column; None where there is none.
        caption: above it, in LaTeX and Markdown.
        label: to refer to it by, in LaTeX.
        best: the rows that are in bold.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    label: str = "tab:table"
    best: Collection[int] = ()


def best_rows(values: Sequence[float | None], higher_is_better: bool = False) -> set[int]:
    """The places of the best values, all of those that are equal.

    >>> best_rows([2.0, None, 1.0, 1.0]), best_rows([2.0, 1.0], higher_is_better=True)
    ({2, 3}, {0})
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return set()
    best = max(known) if higher_is_better else min(known)
    return {place for place, value in enumerate(values) if value == best}


def shown_rows(table: Table) -> list[list[str]]:
    """The rows as people read them."""
    return [
        [_words(column, value) for column, value in zip(table.columns, row, strict=True)]
        for row in table.rows
    ]


def write_table(table: Table, path: Path) -> None:
    """Write a table into a file, whole; its ending says in which format.

    Raises:
        UserError: the ending is another one, or the file cannot be written.
    """
    kind = format_of(path, TABLES, "table")
    text = WRITERS[kind](table)
    if kind == "tex":
        text = text.replace(_FILE, path.stem, 1)
    write_whole(path, text.encode("utf-8", "backslashreplace"))


# -- as CSV ----------------------------------------------------------------------------------------


def to_csv(table: Table) -> str:
    """Numbers in full, and nothing where there is none."""
    stream = io.StringIO()
    out = csv.writer(stream, lineterminator="\n")
    heading: list[str] = []
    for column in table.columns:
        heading += [column.name, f"{column.name}_deviation"] if column.measured else [column.name]
    out.writerow(heading)
    for row in table.rows:
        values: list[Any] = []
        for column, value in zip(table.columns, row, strict=True):
            if column.measured:
                values += [None, None] if value is None else [value.mean, value.spread]
            else:
                values.append(value.value if isinstance(value, Said) else value)
        out.writerow(["" if _is_nothing(value) else value for value in values])
    return stream.getvalue()


# -- as Markdown -----------------------------------------------------------------------------------


def to_markdown(table: Table) -> str:
    """A table of GitHub's Markdown."""
    lines = [f"{table.caption}\n"] if table.caption else []
    lines.append(_line(_in_markdown(column.title) for column in table.columns))
    lines.append(_line("---:" if column.right else "---" for column in table.columns))
    for place, words in enumerate(shown_rows(table)):
        bold = "**" if place in table.best else ""
        lines.append(_line(f"{bold}{_in_markdown(word)}{bold}" if word else "" for word in words))
    return "\n".join(lines) + "\n"


def _line(words: Any) -> str:
    return f"| {' | '.join(words)} |"


def _in_markdown(text: str) -> str:
    written = " ".join(text.split())
    for special in "\\`*_[]<>|#":
        written = written.replace(special, f"\\{special}")
    return written


# -- as LaTeX --------------------------------------------------------------------------------------

_FILE = "FILE"

_MANY = 5
"""Tables of more columns than this are set in smaller letters."""

_PREAMBLE = rf"""% To see it by itself:
% \documentclass{{article}}
% \usepackage{{booktabs}}
% \begin{{document}} \input{{{_FILE}}} \end{{document}}
"""


def to_latex(table: Table) -> str:
    """A floating table with the rules of booktabs; it needs that package and no other."""
    form = "".join("r@{}l" if c.measured else "r" if c.right else "l" for c in table.columns)
    lines = [
        _PREAMBLE.rstrip(), r"\begin{table}", r"\centering",
        *([r"\small \setlength{\tabcolsep}{4pt}"] if len(table.columns) > _MANY else []),
        *([rf"\caption{{{escaped(table.caption)}}}"] if table.caption else []),
        rf"\label{{{table.label}}}", r"\smallskip", rf"\begin{{tabular}}{{{form}}}", r"\toprule",
        _row([_heading(column) for column in table.columns]), r"\midrule",
    ]  # fmt: skip
    for place, row in enumerate(table.rows):
        bold = place in table.best
        cells = [_cell(c, value, bold) for c, value in zip(table.columns, row, strict=True)]
        lines.append(_row(cells))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _heading(column: Column) -> str:
    title = escaped(column.title)
    return rf"\multicolumn{{2}}{{c}}{{{title}}}" if column.measured else title


def _cell(column: Column, value: Any, bold: bool) -> str:
    if column.measured:
        return _measured(column, value, bold)
    text = _words(column, value)
    if not column.right:
        found = escaped(text)
        return rf"\textbf{{{found}}}" if bold and found else found
    found = number(text)
    if not bold:
        return found
    return rf"\boldmath{found}" if found.startswith("$") else rf"\textbf{{{found}}}"


def _measured(column: Column, value: Measured | None, bold: bool) -> str:
    """Two columns: the mean to the right, and its spread to the left, so that all are aligned."""
    if value is None or math.isnan(value.mean):
        return f"{escaped(NONE)} &"
    weight = r"\boldmath" if bold else ""
    mean = number(column.shown(value.mean))
    if value.spread is None or math.isnan(value.spread):
        return f"{weight}{mean} &"
    spread = column.shown(value.spread)
    behind = in_math(spread)
    inside = rf"{{}}\pm {behind}" if behind is not None else rf"{{}}\pm \mbox{{{escaped(spread)}}}"
    return f"{weight}{mean} & {weight}${inside}$"


# -- all of them -----------------------------------------------------------------------------------


def _words(column: Column, value: Any) -> str:
    """What people read."""
    if isinstance(value, Said):
        return value.text
    if isinstance(value, Measured):
        if math.isnan(value.mean):
            return NONE
        behind = value.spread
        if behind is None or math.isnan(behind):
            return column.shown(value.mean)
        return f"{column.shown(value.mean)} ± {column.shown(behind)}"
    return NONE if _is_nothing(value) else column.shown(value)


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


WRITERS: dict[str, Callable[[Table], str]] = {
    "csv": to_csv,
    "md": to_markdown,
    "tex": to_latex,
}
"""Who writes each of `TABLES`."""
