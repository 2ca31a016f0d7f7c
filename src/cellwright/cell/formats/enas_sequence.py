"""ENAS integer sequences, as ENAS' code prints and takes them:

    0 0 0 1 1 2 1

is the operation of node 0, then predecessor and operation of each later node, with the codes
0 tanh, 1 relu, 2 identity, 3 sigmoid. Commas and brackets are allowed. Without brackets each
line is a cell; with brackets each outermost pair is one, over as many lines as it needs.
"""

from __future__ import annotations

import re

from cellwright.base.errors import shown
from cellwright.cell.cell import Cell
from cellwright.cell.errors import CellError
from cellwright.cell.formats.format import Format
from cellwright.cell.listings import enas

_MOST_TEXT = 200_000
_ALLOWED = re.compile(r"[\s\d,;\[\]()]*", re.ASCII)


def read(text: str) -> list[Cell]:
    """The cells of one or more sequences."""
    if len(text) > _MOST_TEXT:
        raise CellError(f"the sequence has {len(text)} characters; at most {_MOST_TEXT}")
    end = _ALLOWED.match(text)
    if end is not None and end.end() < len(text):
        raise CellError(f"an ENAS sequence has integers only, not {shown(text[end.end() :])}")
    cells = [_cell(sequence) for sequence in _sequences(text)]
    if not cells:
        raise CellError("there is no number in the ENAS sequence")
    return cells


def _sequences(text: str) -> list[list[str]]:
    if re.search(r"[\[(]", text):
        pieces: list[tuple[int, int]] = []
        depth = start = 0
        for match in re.finditer(r"[\[\]()]", text):
            if match.group() in "[(":
                start = match.end() if depth == 0 else start
                if depth == 0 and re.search(r"\d", text[_previous_end(pieces) : match.start()]):
                    raise CellError("an ENAS sequence stands partly outside its brackets")
                depth += 1
            else:
                depth -= 1
                if depth == 0:
                    pieces.append((start, match.end()))
            if depth < 0:
                raise CellError("an ENAS sequence has a closing bracket too many")
        if depth:
            raise CellError("an ENAS sequence has an opening bracket too many")
        if re.search(r"\d", text[_previous_end(pieces) :]):
            raise CellError("an ENAS sequence stands partly outside its brackets")
        parts = [text[first:last] for first, last in pieces]
    else:
        parts = text.splitlines()
    return [numbers for part in parts if (numbers := re.findall(r"\d+", part, re.ASCII))]


def _previous_end(pieces: list[tuple[int, int]]) -> int:
    return pieces[-1][1] if pieces else 0


def _cell(numbers: list[str]) -> Cell:
    for number in numbers:
        if len(number) > 4:
            raise CellError(f"an ENAS sequence cannot have the number {shown(number)}")
    if len(numbers) % 2 == 0:
        raise CellError(
            f"an ENAS sequence has an odd number of integers, not {len(numbers)}: the operation "
            "of node 0, then predecessor and operation of each later node"
        )
    values = [int(number) for number in numbers]
    later = tuple(
        (values[i], _operation(values[i + 1], (i + 1) // 2)) for i in range(1, len(values), 2)
    )
    return enas.lower(enas.EnasListing(_operation(values[0], 0), later))


def _operation(code: int, node: int) -> str:
    if code >= len(enas.OPERATIONS):
        known = ", ".join(f"{i} {name}" for i, name in enumerate(enas.OPERATIONS))
        raise CellError(f"ENAS node {node}: there is no operation {code}; they are {known}")
    return enas.OPERATIONS[code]


def write(cell: Cell) -> str:
    """The cell as an ENAS sequence."""
    listing = enas.lift(cell)
    values = [enas.OPERATIONS.index(listing.first)]
    for predecessor, op in listing.later:
        values += [predecessor, enas.OPERATIONS.index(op)]
    return " ".join(map(str, values)) + "\n"


def _recognizes(text: str) -> bool:
    return _ALLOWED.fullmatch(text) is not None and re.search(r"\d", text) is not None


FORMAT_ENTRY = Format(
    name="enas",
    description="ENAS integer sequences",
    example="0 0 0 1 1 2 1",
    read=read,
    write=write,
    recognizes=_recognizes,
)
