"""`cellwright cells list`: a table of cells."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cellwright.cell import Cell
from cellwright.cli import sources
from cellwright.cli.cells.options import From, HiddenSize, InputSize, known_format
from cellwright.cli.help import examples
from cellwright.cli.output import emit_json, say, stdout
from cellwright.cli.tables import Column, Listing, name_column

EXAMPLES = examples(
    ("every cell of the zoo", "cellwright cells list"),
    ("some of them, at other sizes", "cellwright cells list lstm gru --hidden-size 650"),
    ("the cells of a file", "cellwright cells convert rnn gru --to cellwright -o cells.json"),
    ("", "cellwright cells list cells.json"),
    ("for programs", "cellwright cells list --json"),
)

_NUMBERS = {"nodes": 2, "states": 6, "depth": 5, "parameters": 1, "multiply_adds": 7}
"""The figures, and which of them go first where there is no room."""


def run(
    cells: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CELL",
            help="Names, files, folders, zip files, or - for standard input; the zoo if left out.",
        ),
    ] = None,
    input_size: InputSize = 300,
    hidden_size: HiddenSize = 300,
    from_: From = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List cells with their sizes: those of the zoo, or those in files.

    Parameters are those of one layer; multiply-adds are for one row and one
    time step.
    """
    from cellwright.cell.zoo import zoo

    loaded = sources.load(cells or list(zoo), known_format(from_))
    rows = [_row(entry, input_size, hidden_size) for entry in loaded]
    if as_json:
        emit_json(rows)
        return
    table = Listing(
        name_column("name"),
        Column("id", 3, style="dim"),
        *(Column(name.replace("_", "-"), goes, right=True) for name, goes in _NUMBERS.items()),
        Column("note", 4, short="end", least=24),
    )
    for row in rows:
        numbers = ["–" if row[name] is None else f"{row[name]:,}" for name in _NUMBERS]
        table.add(row["name"], row["id"], *numbers, row["note"])
    stdout().print(table)
    if any(row["parameters"] is None for row in rows):
        say("–: the cell uses x outside a linear and needs equal sizes", "dim")


def _row(entry: sources.Loaded, input_size: int, hidden_size: int) -> dict[str, Any]:
    cell = entry.cell
    fits = input_size == hidden_size or not cell.needs_equal_widths
    return {
        "name": entry.title,
        "id": cell.id,
        "nodes": len(cell.nodes),
        "states": len(cell.states),
        "depth": cell.depth,
        "parameters": cell.parameters(input_size, hidden_size) if fits else None,
        "multiply_adds": cell.multiply_adds(input_size, hidden_size) if fits else None,
        "note": note(cell),
    }


def note(cell: Cell) -> str:
    """Where the cell comes from, in one line."""
    source = cell.notes.get("source", "")
    return " ".join(source.split()) if isinstance(source, str) else ""
