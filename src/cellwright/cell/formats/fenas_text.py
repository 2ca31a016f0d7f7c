"""FENAS listings as text: a line for each node.

    # the LSTM, as FENAS represents it
    1 = sigmoid(x, h)
    2 = sigmoid(x, h)
    3 = tanh(x, h)
    4 = sigmoid(x, h)
    5 = mul(2, c)
    6 = mul(1, 3)
    7 = add(5, 6)
    8 = tanh*(7)
    9 = mul(4, 8)
    c = 7

Grammar: `number = function(input)` or `number = function(input, input)`, numbers from 1 in
order. Functions are those of `listings.fenas`; a star means no edge weights. Inputs are `x`,
`h`, `c`, `zero` and numbers of earlier nodes; one input alone is the same as `zero` beside it.
`c = number` says which node is c(t), in the 3-input form. `#` starts a comment.
"""

from __future__ import annotations

import re

from cellwright.base.errors import shown
from cellwright.cell.cell import Cell
from cellwright.cell.errors import CellError
from cellwright.cell.formats.format import Format
from cellwright.cell.listings import fenas

_MOST_TEXT = 200_000
_NODE = re.compile(r"(\d{1,6})\s*=\s*([A-Za-z*-]{1,40})\s*\(([^()]{0,200})\)", re.ASCII)
_C = re.compile(r"c\s*=\s*(\d{1,6})", re.ASCII)


def read(text: str) -> list[Cell]:
    """The cell of a listing."""
    if len(text) > _MOST_TEXT:
        raise CellError(f"the FENAS listing has {len(text)} characters; at most {_MOST_TEXT}")
    nodes: list[fenas.FenasNode] = []
    c: int | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].strip()
        where = f"FENAS listing, line {number}"
        if not line:
            continue
        if match := _C.fullmatch(line):
            if c is not None:
                raise CellError(f"{where}: c is given twice")
            c = int(match.group(1))
        elif match := _NODE.fullmatch(line):
            if int(match.group(1)) != len(nodes) + 1:
                raise CellError(f"{where}: this is node {len(nodes) + 1}, not {match.group(1)}")
            nodes.append(_node(match.group(2), match.group(3), where))
        else:
            raise CellError(f"{where}: {shown(line)} is not like '1 = sigmoid(x, h)' or 'c = 7'")
    return [fenas.lower(fenas.FenasListing(tuple(nodes), c))]


def _node(function: str, inputs: str, where: str) -> fenas.FenasNode:
    sources: list[fenas.Source] = []
    for word in inputs.split(","):
        name = word.strip()
        if name.isascii() and name.isdigit() and len(name) <= 6:
            sources.append(int(name))
        elif name in ("x", "h", "c", "zero"):
            sources.append(name)
        else:
            raise CellError(
                f"{where}: unknown input {shown(name)}; inputs are x, h, c, zero and numbers"
            )
    if len(sources) > 2:
        raise CellError(f"{where}: a node has one or two inputs, not {len(sources)}")
    return fenas.FenasNode(function.lower(), *sources)


def write(cell: Cell) -> str:
    """The cell as a FENAS listing."""
    listing = fenas.lift(cell)
    lines = [f"# {' '.join(cell.name.split())}"] if cell.name.strip() else []
    for number, node in enumerate(listing.nodes, 1):
        alone = node.second == "zero" and node.function not in fenas.ATOMIC
        inputs = f"{node.first}" if alone else f"{node.first}, {node.second}"
        lines.append(f"{number} = {node.function}({inputs})")
    if listing.c is not None:
        lines.append(f"c = {listing.c}")
    return "\n".join(lines) + "\n"


def _recognizes(text: str) -> bool:
    return re.search(r"^[ \t]*\d{1,6}[ \t]*=[ \t]*[A-Za-z]", text, re.MULTILINE) is not None


FORMAT_ENTRY = Format(
    name="fenas",
    description="FENAS listings, a line for each node",
    example="1 = sigmoid(x, h)\n2 = tanh-skip(x, 1)\n3 = mul(1, 2)",
    read=read,
    write=write,
    recognizes=_recognizes,
)
