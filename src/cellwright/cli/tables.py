"""Tables for people, in terminals of any width.

Where a table is wider than the terminal, its least important columns go, and a line below says
which; names come first and always stay. `Listing` is the one way to show a table, `print_facts` the
one way to show what is known of one thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from cellwright.cli.output import printable, stdout

GAP = 2
"""Spaces between columns."""

LEAST_NAME = 8
"""A column that stays is folded, where nothing else helps, to no less than this."""

LEAST_VALUE = 24
"""Of facts: where less is left beside their names, they stand below."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        name: its heading.
        goes: when it is left out where room is short: the highest first, 0 never.
        right: whether it has figures, which stand at the right.
        style: of its cells.
        short: how its cells may be made shorter before it goes: "fold" into lines, "end" and
            "middle" by leaving out what is there.
        least: how short.
    """

    name: str
    goes: int = 0
    right: bool = False
    style: str = ""
    short: Literal["", "fold", "end", "middle"] = ""
    least: int = 16


def name_column(heading: str) -> Column:
    """The column of names, folded where they are long and others need the room."""
    return Column(heading, style="cyan", short="fold", least=24)


def figures(*names: str, goes: int = 0) -> list[Column]:
    """Columns of figures; the later ones go first."""
    return [Column(name, goes + place, right=True) for place, name in enumerate(names)]


class Listing:
    """A table that fits where it is shown.

    Args:
        columns: its columns, the first of which are names.
        title: a line above it.
    """

    def __init__(self, *columns: Column, title: str = "") -> None:
        self.columns, self.title = columns, title
        self.rows: list[list[Text]] = []

    def add(self, *cells: str | Text, style: str = "") -> None:
        """Add a row."""
        found = [Text(printable(c), style=style) if isinstance(c, str) else c for c in cells]
        assert len(found) == len(self.columns)
        self.rows.append(found)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.title:
            yield Text(self.title, style="bold")
        widths = fitted(self.columns, self._widths(), options.max_width)
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
        for place, width in widths.items():
            column = self.columns[place]
            folds = column.short == "fold" or width < self._widths()[place]
            table.add_column(
                column.name,
                justify="right" if column.right else "left",
                style=column.style,
                overflow="fold",
                no_wrap=not folds,
                width=width,
            )
        for row in self.rows:
            table.add_row(*(self._cell(row[place], place, w) for place, w in widths.items()))
        yield table
        gone = [c.name for i, c in enumerate(self.columns) if i not in widths and c.name]
        if gone:
            yield Text(f"not shown at this width: {', '.join(gone)}", style="dim")

    def _widths(self) -> list[int]:
        """How wide each column would like to be."""
        return [
            max([cell_len(column.name), *(row[place].cell_len for row in self.rows)])
            for place, column in enumerate(self.columns)
        ]

    def _cell(self, cell: Text, place: int, width: int) -> Text:
        how = self.columns[place].short
        if how not in ("end", "middle") or cell.cell_len <= width:
            return cell
        return Text(shortened(cell.plain, width, middle=how == "middle"), style=cell.style)


def fitted(columns: Sequence[Column], widths: Sequence[int], room: int) -> dict[int, int]:
    """The places of the columns for which there is room, in order, and their widths.

    >>> columns = [Column("name"), Column("id", 2), Column("note", 1, short="end", least=4)]
    >>> fitted(columns, [6, 16, 30], 60), fitted(columns, [6, 16, 30], 20)
    ({0: 6, 1: 16, 2: 30}, {0: 6, 2: 12})
    >>> fitted(columns, [6, 16, 30], 30), fitted(columns, [12, 16, 30], 10)
    ({0: 6, 1: 16, 2: 4}, {0: 10})
    """
    shown = dict(enumerate(widths))

    def over() -> int:
        return sum(shown.values()) + GAP * (len(shown) - 1) - room

    order = sorted(shown, key=lambda place: (-columns[place].goes, -place))
    for place in order:
        if columns[place].short and over() > 0:
            width = shown[place]
            shown[place] = max(min(width, columns[place].least, room), width - over())
    for place in order:
        if columns[place].goes and over() > 0:
            del shown[place]
    for place in reversed(order):  # where a wide one went, narrower ones may have room after all
        column = columns[place]
        least = min(widths[place], column.least) if column.short else widths[place]
        if place not in shown and over() + GAP + least <= 0:
            shown[place] = min(widths[place], -over() - GAP)
    shown = dict(sorted(shown.items()))
    while over() > 0 and max(shown.values()) > LEAST_NAME:  # nothing else can go
        widest, *others = sorted(shown, key=lambda place: -shown[place])
        second = max([LEAST_NAME, *(shown[place] - 1 for place in others)])
        shown[widest] = max(shown[widest] - over(), min(second, shown[widest] - 1))
    for place in shown:  # what was made short before something else went
        shown[place] += min(widths[place] - shown[place], max(0, -over()))
    return shown


def shortened(text: str, width: int, *, middle: bool = False) -> str:
    """A text without its end, or without its middle, such as a path.

    >>> shortened("a long remark", 8), shortened("/data/corpora/mine", 11, middle=True)
    ('a long …', '/data…/mine')
    """
    if cell_len(text) <= width:
        return text
    behind = (width - 1) // 2 if middle else 0
    return f"{text[: width - 1 - behind]}…{text[len(text) - behind :]}"


# -- facts -------------------------------------------------------------------------------------


class Whole(str):
    """A fact that is copied from the screen, such as a command: no line break is put into it."""

    __slots__ = ()


def print_facts(facts: Iterable[tuple[str, str]], console: Console | None = None) -> None:
    """What is known of one thing: a name and a value in each line, long values folded."""
    console = stdout() if console is None else console
    rows = [(printable(name), value) for name, value in facts]
    wide = max((cell_len(name) for name, _ in rows), default=0)
    below = console.width - wide - GAP < LEAST_VALUE
    for name, value in rows:
        indent = GAP if below else wide + GAP
        lines = list(_lines(value, max(8, console.width - indent), console))
        first = Text(name if below else name + " " * (wide - cell_len(name)), style="dim")
        if below and name:
            console.print(first, soft_wrap=True)
        for number, line in enumerate(lines):
            lead = first if not below and not number else Text(" " * (indent - GAP))
            console.print(Text.assemble(lead, " " * GAP, line) if line else lead, soft_wrap=True)


def _lines(value: str, room: int, console: Console) -> Iterator[str]:
    if isinstance(value, Whole):
        yield printable(value)
        return
    for line in value.splitlines() or [""]:
        for part in Text(printable(line)).wrap(console, room):
            yield part.plain.rstrip()


def print_below(*parts: RenderableType, console: Console | None = None) -> None:
    """Print, with an empty line before each."""
    console = stdout() if console is None else console
    for part in parts:
        console.print()
        console.print(part)
