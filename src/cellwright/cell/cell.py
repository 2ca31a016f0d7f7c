"""`Cell`: a recurrent cell as data, a small immutable graph of primitive operations."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from cellwright.cell.errors import CellError
from cellwright.cell.names import Input, parse_input
from cellwright.cell.ops import OPS, Kind, Op


@dataclass(frozen=True)
class Node:
    """One operation of a cell.

    Args:
        name: unique within the cell.
        op: a name from `cellwright.cell.ops.OPS`.
        inputs: names of other nodes, or of the cell's inputs (`x`, `h0`, `x@2`, …).
        bias: for `linear`, whether it adds a bias.
        keys: for `linear`, one weight name per input; equal keys are equal weights.
        width: for `linear` and `vector`, `"hidden"` or `"input"`, how wide its result is.
        theta: for `mix`, the name of its weights from outside; the node's name unless said.
    """

    name: str
    op: str
    inputs: tuple[str, ...] = ()
    bias: bool = True
    keys: tuple[str, ...] | None = None
    width: str = "hidden"
    theta: str | None = None

    @property
    def spec(self) -> Op:
        """The row of the table of operations."""
        return OPS[self.op]

    @property
    def theta_name(self) -> str:
        """The name under which a `mix` finds its weights."""
        return self.theta if self.theta is not None else self.name

    def reading(self, inputs: tuple[str, ...]) -> Node:
        """The same node over other inputs; itself if they are the same."""
        return self if inputs == self.inputs else replace(self, inputs=inputs)


_NO_NOTES: Mapping[str, Any] = types.MappingProxyType({})


@dataclass(frozen=True, eq=False, repr=False)
class Cell:
    """A recurrent cell: inputs, nodes in topological order, new states, an output.

    Nodes may be given in any order. The cell is checked once, here; whatever is wrong
    raises a `CellError` that names the node.

    >>> cell = Cell([Node("s", "linear", ("x", "h0")), Node("h", "tanh", ("s",))], states=["h"])
    >>> cell.inputs, cell.depth, cell.parameters(3, 5)
    (('x', 'h0'), 2, 45)

    Args:
        nodes: the operations.
        states: the node that becomes each new state, `h0` first.
        output: the node that is the cell's output; the first state unless said.
        name: what people call it. Does not count for `id` or equality.
        notes: where it comes from, as JSON values. Do not count either.
    """

    nodes: tuple[Node, ...]
    states: tuple[str, ...]
    output: str
    name: str = ""
    notes: Mapping[str, Any] = field(default_factory=lambda: _NO_NOTES)

    def __init__(
        self,
        nodes: Iterable[Node],
        states: Iterable[str],
        output: str | None = None,
        name: str = "",
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        from cellwright.cell.validate import validate

        checked = validate(tuple(nodes), tuple(states), output)
        put = object.__setattr__
        put(self, "nodes", checked.nodes)
        put(self, "states", checked.states)
        put(self, "output", checked.output)
        put(self, "name", name)
        put(self, "notes", types.MappingProxyType(dict(notes or {})))
        put(self, "_widths", checked.widths)
        put(self, "needs_equal_widths", checked.needs_equal_widths)

    needs_equal_widths: bool = field(init=False, default=False)
    """Whether input and hidden width must be equal, because x meets h outside a linear."""

    # -- the graph ---------------------------------------------------------------------

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The inputs that some node reads: x first, then states, nearest step first."""
        names = {name for node in self.nodes for name in node.inputs} - self._by_name.keys()
        return tuple(sorted(names, key=lambda name: _required_input(name).order))

    @cached_property
    def _by_name(self) -> dict[str, Node]:
        return {node.name: node for node in self.nodes}

    def node(self, name: str) -> Node:
        """The node called `name`."""
        try:
            return self._by_name[name]
        except KeyError:
            raise CellError(f"the cell has no node {name!r}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def width(self, name: str) -> str:
        """`"input"` or `"hidden"`: how wide a node or an input is."""
        known = parse_input(name)
        if known is not None:
            return "input" if known.state is None else "hidden"
        widths: dict[str, str] = self._widths  # type: ignore[attr-defined]
        return widths[self.node(name).name]

    @cached_property
    def input_history(self) -> int:
        """How many steps back the cell reads x; 0 for the usual cell."""
        return max((p.back for p in self._parsed_inputs if p.state is None), default=0)

    @cached_property
    def state_history(self) -> int:
        """How many steps back the cell reads its states; 1 for the usual cell."""
        return max((p.back for p in self._parsed_inputs if p.state is not None), default=1)

    @property
    def _parsed_inputs(self) -> list[Input]:
        return [_required_input(name) for name in self.inputs]

    @property
    def is_supernet(self) -> bool:
        """Whether some operation belongs in supernets only."""
        return any(node.spec.kind is Kind.SUPERNET for node in self.nodes)

    # -- identity ----------------------------------------------------------------------

    @cached_property
    def id(self) -> str:
        """A short content hash, equal exactly for equal graphs.

        Node names, listing order, the order of a commutative operation's inputs, the
        cell's name and its notes do not count. Sharing counts: two linears over the same
        inputs are two weights.
        """
        from cellwright.cell.identity import content_id

        return content_id(self)

    def __eq__(self, other: object) -> bool:
        return self.id == other.id if isinstance(other, Cell) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        title = f"{self.name!r}, " if self.name else ""
        return f"<Cell {title}{len(self.nodes)} nodes, inputs {' '.join(self.inputs)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.nodes, self.states, self.output, self.name, dict(self.notes))

    def renamed(self, name: str) -> Cell:
        """The same cell under another name."""
        return Cell(self.nodes, self.states, self.output, name, self.notes)

    # -- measures ----------------------------------------------------------------------

    def parameters(self, input_size: int, hidden_size: int) -> int:
        """The number of trainable numbers of one layer of this cell."""
        from cellwright.cell.measure import parameters

        return parameters(self, input_size, hidden_size)

    def multiply_adds(self, input_size: int, hidden_size: int) -> int:
        """Multiply-adds of the matrix products for one row and one time step."""
        from cellwright.cell.measure import multiply_adds

        return multiply_adds(self, input_size, hidden_size)

    @cached_property
    def depth(self) -> int:
        """The largest number of operations on a path from an input to a state or the output."""
        from cellwright.cell.measure import depth

        return depth(self)

    # -- other forms -------------------------------------------------------------------

    def simplified(self) -> Cell:
        """An equivalent cell without dead nodes, identities and zeros."""
        return self._simplified

    @cached_property
    def _simplified(self) -> Cell:
        from cellwright.cell.simplify import simplify

        return simplify(self)

    def to_json(self, indent: int | None = 2) -> str:
        """The cell as cellwright/1 JSON; `from_json` is the inverse."""
        from cellwright.cell.formats.cellwright_json import write

        return write(self, indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Cell:
        """A cell from cellwright/1 JSON."""
        from cellwright.cell.formats.cellwright_json import read

        return read(text)

    def draw(self, path: str | Path, *, legend: bool = True) -> Path:
        """Draw the cell into an SVG, PDF or PNG file, by the ending of `path`."""
        from cellwright.cell.draw import save

        return save(self, Path(path), legend=legend)

    def to_text(self) -> str:
        """A compact drawing for the terminal."""
        from cellwright.cell.draw.text import render

        return render(self)

    def _repr_svg_(self) -> str:
        from cellwright.cell.draw.svg import render

        return render(self)


def _rebuild(
    nodes: tuple[Node, ...],
    states: tuple[str, ...],
    output: str,
    name: str,
    notes: dict[str, Any],
) -> Cell:
    return Cell(nodes, states, output, name, notes)


def _required_input(name: str) -> Input:
    known = parse_input(name)
    if known is None:
        raise CellError(f"{name!r} is not an input")
    return known


def rename_nodes(cell: Cell, names: Mapping[str, str]) -> Cell:
    """The same cell with its nodes called by other names."""

    def new(name: str) -> str:
        return names.get(name, name)

    nodes = [
        replace(
            node,
            name=new(node.name),
            inputs=tuple(map(new, node.inputs)),
            theta=node.theta_name if node.op == "mix" else None,
        )
        for node in cell.nodes
    ]
    return Cell(nodes, map(new, cell.states), new(cell.output), cell.name, cell.notes)
