"""Draws a cell as text for a terminal of 80 columns: one line for each value, as a formula."""

from __future__ import annotations

import textwrap

from cellwright.cell.cell import Cell, Node
from cellwright.cell.draw import formulas
from cellwright.cell.draw.diagram import Folder, Highway, shared_keys
from cellwright.cell.names import parse_input
from cellwright.cell.ops import Kind

WIDTH = 79
WIDEST_NAME = 16


def render(cell: Cell) -> str:
    """A compact drawing for the terminal.

    >>> nodes = [Node("s", "linear", ("x", "h0")), Node("h", "tanh", ("s",))]
    >>> print(render(Cell(nodes, states=["h"], name="rnn")))
    rnn: 2 nodes, 1 state
    reads x, h0
    <BLANKLINE>
      h = tanh(W[x, h0] + b)  → new h0, output
    <BLANKLINE>
    W, b: own weights at each place
    """
    lines, highways = _lines(cell)
    column = min(max(len(name) for name, _ in lines), WIDEST_NAME)
    body = [_wrapped(f"  {name:<{column}} = ", formula) for name, formula in lines]
    return "\n".join([*_head(cell), "", *body, *_foot(cell, highways)])


def formula_lines(cell: Cell) -> tuple[list[tuple[str, str]], list[str]]:
    """The same without any layout: each value's name and formula, and what explains them."""
    lines, highways = _lines(cell)
    return lines, _foot(cell, highways)[1:]


def _lines(cell: Cell) -> tuple[list[tuple[str, str]], list[Highway]]:
    folder = Folder(cell)
    lines: list[tuple[str, str]] = []
    highways: list[Highway] = []
    hidden: set[str] = set()
    for node in reversed(cell.nodes):
        if node.name in hidden:
            continue
        formula, covered, highway = _formula(node, folder)
        hidden.update(covered)
        if highway is not None:
            highways.append(highway)
        lines.append((node.name, formula + _mark(cell, node.name)))
    lines.reverse()
    return lines, highways


def _formula(node: Node, folder: Folder) -> tuple[str, tuple[str, ...], Highway | None]:
    """The formula, the nodes that are folded into it, and the highway if it is one."""
    highway = folder.highway(node)
    if highway is not None:
        return _highway(highway), highway.hidden, highway
    dense = folder.dense(node)
    if dense is not None:
        formula = f"{node.op}({formulas.affine(dense.linears)})"
        return formula + _note(formulas.width_note(dense.linears)), dense.hidden, None
    affine = folder.affine(node)
    if affine is not None:
        formula = formulas.affine(affine.linears)
        return formula + _note(formulas.width_note(affine.linears)), affine.hidden, None
    return formulas.operation(node), (), None


def _highway(highway: Highway) -> str:
    parts = [highway.activation]
    if highway.inputs == (highway.carry,):
        parts.append(highway.carry)
    else:
        parts += [f"[{', '.join(highway.inputs)}]", highway.carry]
    gate, value = highway.linears
    formula = f"highway({', '.join(parts)})"
    if gate.bias:
        formula += " with b"
    if gate.keys is not None or value.keys is not None:
        formula += f", z by {' '.join(gate.keys or ('W',))}, f by {' '.join(value.keys or ('W',))}"
    return formula + _note(formulas.width_note(highway.linears))


def _note(words: str) -> str:
    return f"  ({words})" if words else ""


def _mark(cell: Cell, name: str) -> str:
    """Which states and outputs a value becomes."""
    roles = [f"new h{i}" for i, state in enumerate(cell.states) if state == name]
    if name == cell.output:
        roles.append("output")
    return f"  → {', '.join(roles)}" if roles else ""


def _head(cell: Cell) -> list[str]:
    # A name may hold anything, also what a terminal would obey.
    printable = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(cell.name.split()))
    title = printable or "cell"
    count, states = len(cell.nodes), len(cell.states)
    size = f"{count} node{'s' * (count != 1)}, {states} state{'s' * (states != 1)}"
    lines = [f"{title}: {size}"]
    now = [name for name in cell.inputs if not _is_history(name)]
    earlier = [name for name in cell.inputs if _is_history(name)]
    if now:
        lines.append(_wrapped("reads ", ", ".join(now)))
    if earlier:
        lines.append(_wrapped("looks back to ", f"{', '.join(earlier)}  (@k: k steps ago)"))
    return lines


def _is_history(name: str) -> bool:
    known = parse_input(name)
    return known is not None and known.back != (0 if known.state is None else 1)


def _foot(cell: Cell, highways: list[Highway]) -> list[str]:
    """What the formulas do not say by themselves."""
    lines = []
    if any(highway.inputs == (highway.carry,) for highway in highways):
        lines.append("highway(f, s) = z·f(W[s]) + (1 − z)·s where z = sigmoid(W[s])")
    if any(highway.inputs != (highway.carry,) for highway in highways):
        lines.append("highway(f, [a, …], s) = z·f(W[a, …]) + (1 − z)·s where z = sigmoid(W[a, …])")
    linears = [node for node in cell.nodes if node.spec.kind is Kind.LINEAR]
    own = "W, b" if any(linear.bias for linear in linears) else "W"
    if any(linear.keys is None for linear in linears):
        lines.append(f"{own}: own weights at each place")
    shared = sorted(shared_keys(cell))
    if shared:
        lines.append(_wrapped("used more than once: ", ", ".join(shared)))
    return ["", *lines] if lines else []


def _wrapped(start: str, text: str) -> str:
    """`start` and `text`, broken before the terminal's edge, going on below `text`."""
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=start,
        subsequent_indent=" " * min(len(start), 24),
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
