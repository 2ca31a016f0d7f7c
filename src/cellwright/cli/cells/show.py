"""`cellwright cells show`: a cell as text, with the facts about it."""

from __future__ import annotations

from typing import Annotated

import typer

from cellwright.cell import Cell
from cellwright.cell.liveness import surely_dead
from cellwright.cli import sources
from cellwright.cli.cells.listing import note
from cellwright.cli.cells.options import (
    Cells,
    From,
    HiddenSize,
    InputSize,
    Simplify,
    expressible_in,
    known_format,
)
from cellwright.cli.help import examples
from cellwright.cli.output import count, emit, printable, stdout
from cellwright.cli.tables import print_facts

EXAMPLES = examples(
    ("a cell of the zoo", "cellwright cells show lstm"),
    ("without its dead nodes and identities", "cellwright cells show darts-v1 --simplify"),
    ("as cellwright JSON, into a file", "cellwright cells show gru --json > gru.json"),
    ("from a file", "cellwright cells show gru.json --hidden-size 650"),
)


def run(
    cells: Cells,
    input_size: InputSize = 300,
    hidden_size: HiddenSize = 300,
    simplify: Simplify = False,
    from_: From = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print cellwright JSON.")] = False,
) -> None:
    """Show cells: a drawing for the terminal, and what is known about each."""
    loaded = sources.load(cells, known_format(from_))
    if simplify:
        loaded = [sources.Loaded(entry.label, entry.cell.simplified()) for entry in loaded]
    if as_json:
        from cellwright.cli.cells.convert import joined

        emit(joined([entry.cell for entry in loaded], "cellwright"))
        return
    for number, entry in enumerate(loaded):
        if number:
            stdout().print()
        _show(entry, input_size, hidden_size)


def _show(entry: sources.Loaded, input_size: int, hidden_size: int) -> None:
    console = stdout()
    if entry.label != entry.cell.name:  # the drawing says the cell's own name
        console.print(f"{printable(entry.label)}:", style="bold cyan", soft_wrap=True)
    console.print(entry.cell.to_text().rstrip("\n"), soft_wrap=True)
    console.print()
    print_facts(_facts(entry.cell, input_size, hidden_size))


def _facts(cell: Cell, input_size: int, hidden_size: int) -> list[tuple[str, str]]:
    facts = [("id", cell.id), ("source", note(cell))]
    facts.append(("cannot learn", surely_dead(cell) or ""))
    facts.append(("formats", ", ".join(expressible_in(cell))))
    facts.append(("inputs", ", ".join(cell.inputs)))
    states = ", ".join(f"h{i} = {name}" for i, name in enumerate(cell.states))
    facts.append(("states", f"{states}; output {cell.output}"))
    if cell.input_history > 0 or cell.state_history > 1:
        back = f"x {count(cell.input_history, 'step')}, states {count(cell.state_history, 'step')}"
        facts.append(("reads back", back))
    facts.append(("nodes", f"{len(cell.nodes)}, depth {cell.depth}"))
    simple = cell.simplified()
    if simple == cell:
        facts.append(("simplified", "nothing to remove"))
    else:
        change = f"{count(len(simple.nodes), 'node')}, depth {simple.depth}, id {simple.id}"
        facts.append(("simplified", change))
    facts.append((f"at {input_size} → {hidden_size}", _sizes(cell, input_size, hidden_size)))
    return [(name, value) for name, value in facts if value]


def _sizes(cell: Cell, input_size: int, hidden_size: int) -> str:
    if cell.needs_equal_widths and input_size != hidden_size:
        return "needs equal sizes, because it uses x outside a linear"
    parameters = count(cell.parameters(input_size, hidden_size), "parameter")
    products = count(cell.multiply_adds(input_size, hidden_size), "multiply-add")
    return f"{parameters}, {products} a row and step"
