"""Text formats for cells: import, export, and recognition. Each file has one format.

>>> cell, = read("Genotype(recurrent=[('relu', 0), ('tanh', 1)], concat=range(1, 3))")
>>> write(cell, "darts")
"Genotype(recurrent=[('relu', 0), ('tanh', 1)], concat=range(1, 3))\\n"
"""

from __future__ import annotations

from cellwright.base.errors import did_you_mean, shown
from cellwright.cell.cell import Cell
from cellwright.cell.errors import CellError
from cellwright.cell.formats import (
    cellwright_json,
    darts_genotype,
    enas_sequence,
    fenas_text,
    nas_bench_nlp_json,
)
from cellwright.cell.formats.format import Format

__all__ = ["FORMATS", "Format", "read", "recognize", "write"]

FORMATS: dict[str, Format] = {
    module.FORMAT_ENTRY.name: module.FORMAT_ENTRY
    for module in (
        cellwright_json,
        darts_genotype,
        enas_sequence,
        nas_bench_nlp_json,
        fenas_text,
    )
}
"""Every format, by name."""


def read(text: str | bytes, format: str | None = None) -> list[Cell]:
    """The cells in a text, in the format called `format` or the one that it looks like."""
    decoded = _decoded(text)
    return _format(recognize(decoded) if format is None else format).read(decoded)


def write(cell: Cell, format: str = "cellwright") -> str:
    """A cell as text. Where it is not in the format's space, the error names the node."""
    return _format(format).write(cell)


def recognize(text: str | bytes) -> str:
    """The name of the format that a text looks like."""
    decoded = _decoded(text)
    for entry in FORMATS.values():
        if entry.recognizes(decoded):
            return entry.name
    listed = "\n".join(f"  {f.name}: {_first_line(f.example)}" for f in FORMATS.values())
    beginning = shown(decoded.strip()) if decoded.strip() else "an empty text"
    raise CellError(f"no format is recognised in {beginning}; cells look like this:\n{listed}")


def _decoded(text: str | bytes) -> str:
    if len(text) > cellwright_json.MOST_TEXT:
        raise CellError(
            f"the text has {len(text)} characters; a cell has at most {cellwright_json.MOST_TEXT}"
        )
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CellError(f"not a text: byte {error.start} is not UTF-8") from None


def _format(name: str) -> Format:
    if name not in FORMATS:
        hint = did_you_mean(name, FORMATS) or f"; formats are {', '.join(FORMATS)}"
        raise CellError(f"unknown format {shown(name)}{hint}")
    return FORMATS[name]


def _first_line(example: str) -> str:
    lines = example.strip().splitlines()
    return lines[0] + (" …" if len(lines) > 1 else "")
