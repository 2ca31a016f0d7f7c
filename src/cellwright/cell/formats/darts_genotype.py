"""DARTS genotypes, as DARTS' code prints them:

    DARTS_V1 = Genotype(recurrent=[('relu', 0), ('relu', 1), …], concat=range(1, 9))

The name and its `=` may be left out; it becomes the cell's name. Several genotypes may follow
each other. For I-DARTS, an entry may be a list of edges: [('relu', 0), ('tanh', 1)]. A third
argument `edges='plain'` says that the edges are the papers' (see `listings.darts`), not the
highway edges of DARTS' code. The text is parsed by the small parser here, never evaluated.
"""

from __future__ import annotations

import re
from typing import Any

from cellwright.base.errors import did_you_mean, shown
from cellwright.cell.cell import Cell
from cellwright.cell.errors import CellError
from cellwright.cell.formats.format import Format
from cellwright.cell.listings import darts
from cellwright.cell.listings._graph import MOST_NODES

_MOST_TEXT = 200_000
_MOST_DEPTH = 8
_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*) | (?P<word>[A-Za-z_][A-Za-z0-9_.]*) | (?P<number>-?\d+)
      | '(?P<single>[^'\n\\]*)' | "(?P<double>[^"\n\\]*)" | (?P<sign>[()\[\],=]) """,
    re.VERBOSE | re.ASCII,
)
_KEYWORDS = ("recurrent", "concat", "edges")


def read(text: str) -> list[Cell]:
    """The cells of one or more genotypes."""
    parser = _Parser(text)
    cells = []
    while not parser.at_end:
        cells.append(parser.genotype())
    if not cells:
        raise CellError("there is no Genotype(…) in the text")
    return cells


def write(cell: Cell) -> str:
    """The cell as a genotype."""
    listing = darts.lift(cell)
    entries = [repr(edges[0]) if len(edges) == 1 else repr(list(edges)) for edges in listing.nodes]
    concat = sorted(listing.concat)
    run = range(concat[0], concat[-1] + 1)
    written = f"range({run.start}, {run.stop})" if concat == list(run) else repr(concat)
    extra = "" if listing.edges == "highway" else f", edges={listing.edges!r}"
    name = re.sub(r"[^A-Za-z0-9_]", "_", cell.name)
    start = f"{name} = " if name.isidentifier() and name.isascii() else ""
    return f"{start}Genotype(recurrent=[{', '.join(entries)}], concat={written}{extra})\n"


class _Parser:
    """A genotype's text as tokens, and the grammar over them."""

    def __init__(self, text: str) -> None:
        if len(text) > _MOST_TEXT:
            raise CellError(f"the genotype has {len(text)} characters; at most {_MOST_TEXT}")
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup is None:
                raise self._error(at, f"did not expect {shown(text[at])}")
            if match.lastgroup != "space":
                self.tokens.append((match.lastgroup, match.group(match.lastgroup), at))
            at = match.end()
        self.next = 0

    @property
    def at_end(self) -> bool:
        return self.next >= len(self.tokens)

    def genotype(self) -> Cell:
        """One genotype, with or without a name."""
        name = ""
        word = self._word()
        if self._skip("="):
            name, word = word, self._word()
        if word.rpartition(".")[2] != "Genotype":
            raise self._error_here(f"expected Genotype(…), not {shown(word)}", 1)
        arguments = self._arguments()
        for needed in ("recurrent", "concat"):
            if needed not in arguments:
                raise self._error_here(f"the genotype has no {needed!r}", 1)
        recurrent = _nodes(arguments["recurrent"])
        concat = arguments["concat"]
        if not isinstance(concat, list | tuple | range) or len(concat) > MOST_NODES + 1:
            raise CellError("concat must be a range or a list of node numbers")
        edges = arguments.get("edges", "highway")
        if not isinstance(edges, str):
            raise CellError("edges must be 'highway' or 'plain'")
        return darts.lower(darts.DartsListing(recurrent, tuple(concat), edges), name[:100])

    def _arguments(self) -> dict[str, Any]:
        self._expect("(")
        found: dict[str, Any] = {}
        while not self._skip(")"):
            keyword = _KEYWORDS[len(found)] if len(found) < len(_KEYWORDS) else ""
            if self._kind(0) == "word" and self._kind(1) == "sign" and self._text(1) == "=":
                keyword = self._word()
                self._expect("=")
            if keyword not in _KEYWORDS:
                hint = did_you_mean(keyword, _KEYWORDS) or f"; it has {', '.join(_KEYWORDS)}"
                raise self._error_here(f"a genotype has no argument {shown(keyword)}{hint}", 1)
            if keyword in found:
                raise self._error_here(f"the argument {keyword!r} stands twice", 1)
            found[keyword] = self._value(0)
            if not self._skip(","):
                self._expect(")")
                break
        return found

    def _value(self, depth: int) -> Any:
        if depth > _MOST_DEPTH:
            raise self._error_here("lists are nested too deeply")
        kind, text = self._kind(0), self._text(0)
        self.next += 1
        if kind in ("single", "double"):
            return text
        if kind == "number":
            if len(text) > 6:
                raise self._error_here(f"the number {shown(text)} is too large", 1)
            return int(text)
        if kind == "word" and text == "range":
            return self._range()
        if kind == "sign" and text in "([":
            return self._items(")" if text == "(" else "]", depth)
        raise self._error_here(f"did not expect {shown(text) if text else 'the end'}", 1)

    def _items(self, close: str, depth: int) -> Any:
        items: list[Any] = []
        comma = False
        while not self._skip(close):
            items.append(self._value(depth + 1))
            comma = self._skip(",")
            if not comma:
                self._expect(close)
                break
        if close == ")" and len(items) == 1 and not comma:
            return items[0]  # parentheses around one value
        return items if close == "]" else tuple(items)

    def _range(self) -> range:
        self._expect("(")
        numbers = self._items(")", 0)
        numbers = numbers if isinstance(numbers, tuple) else (numbers,)
        if not 1 <= len(numbers) <= 3 or not all(type(n) is int for n in numbers):
            raise self._error_here("range(…) takes one to three numbers", 1)
        if len(numbers) == 3 and numbers[2] == 0:
            raise self._error_here("a range cannot go in steps of 0", 1)
        return range(*numbers)

    def _kind(self, ahead: int) -> str:
        at = self.next + ahead
        return self.tokens[at][0] if at < len(self.tokens) else ""

    def _text(self, ahead: int) -> str:
        at = self.next + ahead
        return self.tokens[at][1] if at < len(self.tokens) else ""

    def _word(self) -> str:
        if self._kind(0) != "word":
            raise self._error_here(f"expected a name, not {shown(self._text(0)) or 'the end'}")
        self.next += 1
        return self._text(-1)

    def _skip(self, sign: str) -> bool:
        found = self._kind(0) == "sign" and self._text(0) == sign
        self.next += found
        return found

    def _expect(self, sign: str) -> None:
        if not self._skip(sign):
            found = shown(self._text(0)) if not self.at_end else "the end"
            raise self._error_here(f"expected {sign!r}, not {found}")

    def _error_here(self, what: str, back: int = 0) -> CellError:
        at = max(self.next - back, 0)
        return self._error(self.tokens[at][2] if at < len(self.tokens) else len(self.text), what)

    def _error(self, at: int, what: str) -> CellError:
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        return CellError(f"genotype, line {line}, column {column}: {what}")


def _nodes(recurrent: Any) -> tuple[tuple[darts.Edge, ...], ...]:
    if not isinstance(recurrent, list | tuple):
        raise CellError("recurrent must be a list of (operation, predecessor)")
    nodes = []
    for number, entry in enumerate(recurrent, 1):
        edges = [entry] if _is_edge(entry) else entry
        if not isinstance(edges, list | tuple) or not all(map(_is_edge, edges)):
            raise CellError(
                f"DARTS node {number}: {shown(entry)} is not (operation, predecessor) "
                "or a list of such"
            )
        nodes.append(tuple((op, source) for op, source in edges))
    return tuple(nodes)


def _is_edge(entry: Any) -> bool:
    return (
        isinstance(entry, list | tuple)
        and len(entry) == 2
        and isinstance(entry[0], str)
        and isinstance(entry[1], int)
    )


FORMAT_ENTRY = Format(
    name="darts",
    description="DARTS and I-DARTS genotypes",
    example="Genotype(recurrent=[('relu', 0), ('tanh', 1), ('relu', 1)], concat=range(1, 4))",
    read=read,
    write=write,
    recognizes=lambda text: re.search(r"\bGenotype\s*\(", text) is not None,
)
