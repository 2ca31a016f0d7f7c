"""Which cells cannot learn, whatever their weights: their output never depends on what they read.

States are zero before a text begins. A linear without bias of zeros is zero, a product with a
zero is, tanh and relu of zero are: some cells never leave zero. The output of others is not zero
but the same for every text. Both learn how often each word occurs, and nothing else.

This looks at the graph alone, so what it says holds for all weights. Cells that only happen to
do nothing are found by running them: `cellwright.engine.probe`.
"""

from __future__ import annotations

import functools
import itertools

from cellwright.cell.cell import Cell, Node
from cellwright.cell.names import parse_input
from cellwright.cell.validate import MAX_NODES

ALWAYS_ZERO = "its output is zero at every step, whatever it reads"
NEVER_READS = "its output is the same whatever it reads"

_ROUNDS = 8
"""How often differences of the same are looked for; a cell that needs more is not told dead."""


@functools.lru_cache(maxsize=4096)
def surely_dead(cell: Cell) -> str | None:
    """Why the output of a cell cannot depend on the text, in words; None if it can.

    >>> gate = [Node("g", "linear", ("h0",), bias=False), Node("h", "mul", ("x", "g"))]
    >>> surely_dead(Cell(gate, ["h"]))
    'its output is zero at every step, whatever it reads'
    """
    lean = without_zero_states(cell)
    if lean.node(lean.output).op == "zero":
        return ALWAYS_ZERO
    return None if lean.output in _moved_by_x(lean) else NEVER_READS


def without_zero_states(cell: Cell) -> Cell:
    """The cell simplified, with a zero in place of every state that never leaves zero.

    All states are taken for zero at first; one that is not zero after a step, if the others are,
    is taken out, until none is. What is left are zero at every step, by induction.
    """
    if len(cell.nodes) >= MAX_NODES:  # no room for a zero
        return cell.simplified()
    zeros = set(range(len(cell.states)))
    while True:
        lean = _without_differences(_with_zeros(cell, zeros).simplified())
        left = {state for state in zeros if lean.node(lean.states[state]).op == "zero"}
        if left == zeros:
            return lean
        zeros = left


def _with_zeros(cell: Cell, states: set[int]) -> Cell:
    """The cell with zeros for these states at all earlier steps."""
    zero = next(name for number in itertools.count() if (name := f"zero_{number}") not in cell)

    def read(name: str) -> str:
        known = parse_input(name)
        return zero if known is not None and known.state in states else name

    nodes = [node.reading(tuple(map(read, node.inputs))) for node in cell.nodes]
    return Cell([Node(zero, "zero"), *nodes], cell.states, cell.output)


def _without_differences(cell: Cell) -> Cell:
    """The cell with a zero for a − a, and what follows from it, a few times over."""
    for _ in range(_ROUNDS):
        nodes = [
            Node(node.name, "zero", node.inputs[:1])
            if node.op == "sub" and len(set(node.inputs)) == 1
            else node
            for node in cell.nodes
        ]
        if nodes == list(cell.nodes):
            break
        cell = Cell(nodes, cell.states, cell.output).simplified()
    return cell


def _moved_by_x(cell: Cell) -> set[str]:
    """The nodes to which a path leads from x, also by way of states."""
    moved: set[str] = set()
    states: set[int] = set()
    while True:
        for node in cell.nodes:  # in topological order
            if node.op != "zero" and any(_moves(name, moved, states) for name in node.inputs):
                moved.add(node.name)
        found = {number for number, name in enumerate(cell.states) if name in moved}
        if found == states:
            return moved
        states = found


def _moves(name: str, moved: set[str], states: set[int]) -> bool:
    known = parse_input(name)
    return name in moved if known is None else known.state is None or known.state in states
