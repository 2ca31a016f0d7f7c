"""`cellwright cells convert`: cells from one format to another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cellwright.base.files import write_named
from cellwright.cell import Cell, CellError
from cellwright.cli import sources
from cellwright.cli.cells.options import Cells, From, Simplify, known_format
from cellwright.cli.help import examples
from cellwright.cli.output import emit, encoded

EXAMPLES = examples(
    ("a DARTS genotype", "cellwright cells convert darts-v1 --to darts"),
    (
        "into a file, and on",
        "cellwright cells convert enas --to enas -o enas.txt",
    ),
    ("", "cellwright cells convert enas.txt --to cellwright -o enas.json"),
    ("several cells", "cellwright cells convert rnn nbnlp-gru --to nas-bench-nlp"),
    ("the formats, each with an example", "cellwright cells convert --formats"),
)


def _print_formats(wanted: bool) -> None:
    if wanted:
        from cellwright.cell.formats import FORMATS

        for format in FORMATS.values():
            emit(f"{format.name}: {format.description}\n{_indented(format.example)}\n")
        raise typer.Exit


def run(
    cells: Cells,
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="The format to write.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A file. Default: standard output."),
    ] = None,
    from_: From = None,
    simplify: Simplify = False,
    formats: Annotated[
        bool,
        typer.Option("--formats", callback=_print_formats, is_eager=True, help="List the formats."),
    ] = False,
) -> None:
    """Convert cells to another format.

    A cell can be written in a format if it belongs to that format's search
    space; otherwise the error says which node does not fit. cellwright JSON
    can say every cell.
    """
    format = known_format(to)
    assert format is not None
    loaded = sources.load(cells, known_format(from_))
    text = joined([e.cell.simplified() if simplify else e.cell for e in loaded], format, loaded)
    if output is None or str(output) == "-":
        emit(text)
    else:
        write_named(output, encoded(text))


def joined(
    cells: Sequence[Cell], format: str, loaded: Sequence[sources.Loaded] | None = None
) -> str:
    """The cells in one text that `formats.read` reads back: a JSON list, or one after another."""
    from cellwright.cell.formats import read, write

    texts = []
    for number, cell in enumerate(cells):
        try:
            texts.append(write(cell, format).strip())
        except CellError as error:
            raise CellError(f"{loaded[number].title}: {error}" if loaded else str(error)) from None
    if len(texts) == 1:
        return texts[0] + "\n"
    if all(map(_is_json, texts)):
        return "[\n" + ",\n".join(texts) + "\n]\n"
    text = "\n".join(texts) + "\n"
    try:
        back = read(text, format)
    except CellError:
        back = []
    if back != list(cells):
        raise CellError(f"a {format} text holds one cell, not {len(cells)}: convert one at a time")
    return text


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.strip().splitlines())
