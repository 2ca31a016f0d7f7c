"""What a picture shows: vertices and edges, after folding the motifs that people know.

Folding looks at the graph alone, never at names. A node is hidden inside another one only
if nothing else reads it and it is neither a state nor the output.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum

from cellwright.cell.cell import Cell, Node
from cellwright.cell.names import parse_input
from cellwright.cell.ops import Kind


class Look(Enum):
    """How a vertex is drawn."""

    INPUT = "input"
    LINEAR = "linear"
    ACTIVATION = "activation"
    DENSE = "dense"
    HIGHWAY = "highway"
    COMBINE = "combine"
    SUPERNET = "supernet"
    FINAL = "final"


LOOK_OF_KIND = {
    Kind.LINEAR: Look.LINEAR,
    Kind.ACTIVATION: Look.ACTIVATION,
    Kind.COMBINE: Look.COMBINE,
    Kind.SUPERNET: Look.SUPERNET,
}

_ROLES = {"blend": ("z", "a", "b"), "sub": ("", "−"), "div": ("a", "b")}


@dataclass(frozen=True)
class Vertex:
    """One shape of the picture.

    `labels` has one text for each compartment, `covers` names the cell's nodes that the
    shape stands for (its own value last), and `state` is the number of the state whose
    hue it has.
    """

    key: str
    look: Look
    labels: tuple[str, ...]
    covers: tuple[str, ...] = ()
    op: str = ""
    caption: str = ""
    state: int | None = None
    is_history: bool = False
    is_output: bool = False


@dataclass(frozen=True)
class Edge:
    """A value going from one vertex to another; `role` is what it is there, if that matters."""

    source: str
    target: str
    role: str = ""


@dataclass(frozen=True)
class Diagram:
    """The vertices and edges of a picture."""

    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class Highway:
    """The motif `blend(sigmoid(linear in), f(linear in), s)`, all but the blend hidden."""

    activation: str
    inputs: tuple[str, ...]
    carry: str
    linears: tuple[Node, Node]
    hidden: tuple[str, ...]


@dataclass(frozen=True)
class Affine:
    """A linear, or a sum of linears that nothing else reads: the same thing with more inputs."""

    linears: tuple[Node, ...]
    hidden: tuple[str, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for linear in self.linears for name in linear.inputs)

    @property
    def label(self) -> str:
        if not any(linear.inputs for linear in self.linears):
            return "b"
        return "W+b" if any(linear.bias for linear in self.linears) else "W"


class Folder:
    """Finds motifs in one cell."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.uses = Counter(name for node in cell.nodes for name in node.inputs)
        self.uses.update({*cell.states, cell.output})

    def inner(self, name: str) -> Node | None:
        """The node called `name` if only one place reads it, so that it can be hidden there."""
        return self.cell.node(name) if name in self.cell and self.uses[name] == 1 else None

    def affine(self, node: Node) -> Affine | None:
        """`node` as a linear, or as a sum of linears."""
        if node.spec.kind is Kind.LINEAR:
            return Affine((node,), ())
        if node.op != "add":
            return None
        linears = [self.inner(name) for name in node.inputs]
        found = tuple(n for n in linears if n is not None and n.spec.kind is Kind.LINEAR)
        return Affine(found, node.inputs) if len(found) == len(linears) else None

    def dense(self, node: Node) -> Affine | None:
        """The affine map that only the activation `node` reads."""
        if node.spec.kind is not Kind.ACTIVATION or len(node.inputs) != 1:
            return None
        inner = self.inner(node.inputs[0])
        found = self.affine(inner) if inner is not None else None
        return Affine(found.linears, (*found.hidden, node.inputs[0])) if found else None

    def highway(self, node: Node) -> Highway | None:
        """The highway that ends in the blend `node`."""
        if node.op != "blend":
            return None
        gate, value = self.inner(node.inputs[0]), self.inner(node.inputs[1])
        if gate is None or value is None or gate.op != "sigmoid":
            return None
        gate_map = self.dense(gate)
        if value.spec.kind is Kind.LINEAR:
            value_map: Affine | None = Affine((value,), ())
            activation = "identity"
        else:
            value_map, activation = self.dense(value), value.op
        if gate_map is None or value_map is None:
            return None
        if len(gate_map.linears) != 1 or len(value_map.linears) != 1:
            return None
        if sorted(gate_map.inputs) != sorted(value_map.inputs):
            return None
        if gate_map.label != value_map.label:
            return None
        hidden = (*gate_map.hidden, gate.name, *value_map.hidden, value.name)
        linears = (gate_map.linears[0], value_map.linears[0])
        return Highway(activation, gate_map.inputs, node.inputs[2], linears, hidden)


def diagram(cell: Cell, *, fold: bool = True) -> Diagram:
    """The vertices and edges to draw, inputs first, new states and output last."""
    folder = Folder(cell)
    shared = shared_keys(cell)
    vertices: list[Vertex] = []
    edges: list[Edge] = []
    hidden: set[str] = set()
    # From the end, since the last node of a motif decides whether it is one.
    for node in reversed(cell.nodes):
        if node.name in hidden:
            continue
        vertex, into = _vertex(node, folder if fold else None, shared)
        hidden.update(vertex.covers)
        vertices.append(vertex)
        edges.extend(reversed(into))
    vertices.reverse()
    edges.reverse()
    finals, last = _finals(cell)
    return Diagram((*_inputs(cell), *vertices, *finals), (*edges, *last))


def _vertex(node: Node, folder: Folder | None, shared: set[str]) -> tuple[Vertex, list[Edge]]:
    if folder is not None:
        highway = folder.highway(node)
        if highway is not None:
            return _highway_vertex(node, highway, shared)
        dense = folder.dense(node)
        if dense is not None:
            labels = (dense.label, spoken(node.op))
            covers = (*dense.hidden, node.name)
            caption = _caption(node, dense.linears, shared)
            vertex = Vertex(node.name, Look.DENSE, labels, covers, node.op, caption)
            return vertex, [Edge(name, node.name) for name in dense.inputs]
        affine = folder.affine(node)
        if affine is not None:
            covers = (*affine.hidden, node.name)
            caption = _caption(node, affine.linears, shared)
            vertex = Vertex(node.name, Look.LINEAR, (affine.label,), covers, "linear", caption)
            return vertex, [Edge(name, node.name) for name in affine.inputs]
    look = LOOK_OF_KIND[node.spec.kind]
    linears = (node,) if look is Look.LINEAR else ()
    label = Affine(linears, ()).label if linears else spoken(node.op)
    caption = _caption(node, linears, shared)
    vertex = Vertex(node.name, look, (label,), (node.name,), node.op, caption)
    roles = _roles(node)
    return vertex, [Edge(i, node.name, role) for i, role in zip(node.inputs, roles, strict=True)]


def _highway_vertex(node: Node, highway: Highway, shared: set[str]) -> tuple[Vertex, list[Edge]]:
    vertex = Vertex(
        node.name,
        Look.HIGHWAY,
        (spoken(highway.activation),),
        (*highway.hidden, node.name),
        highway.activation,
        _caption(node, highway.linears, shared),
    )
    carried = "s" if len(highway.inputs) > 1 else ""
    edges = [
        Edge(name, node.name, carried if name == highway.carry else "") for name in highway.inputs
    ]
    if highway.carry not in highway.inputs:
        edges.append(Edge(highway.carry, node.name, "s only"))
    return vertex, edges


def _inputs(cell: Cell) -> list[Vertex]:
    vertices = []
    for name in cell.inputs:
        known = parse_input(name)
        assert known is not None
        symbol = "x" if known.state is None else f"h{known.state}"
        label = f"{symbol}(t)" if known.back == 0 else f"{symbol}(t−{known.back})"
        usual = 0 if known.state is None else 1
        vertices.append(
            Vertex(name, Look.INPUT, (label,), state=known.state, is_history=known.back != usual)
        )
    return vertices


def _finals(cell: Cell) -> tuple[list[Vertex], list[Edge]]:
    """A vertex for each new state; the output shares the vertex of the state that it equals."""
    vertices, edges = [], []
    shown = False
    for number, node in enumerate(cell.states):
        is_output = node == cell.output and not shown
        shown = shown or is_output
        labels = (f"h{number}(t)", "output") if is_output else (f"h{number}(t)",)
        key = f"new h{number}"
        vertices.append(Vertex(key, Look.FINAL, labels, state=number, is_output=is_output))
        edges.append(Edge(node, key))
    if not shown:
        vertices.append(Vertex("output of the cell", Look.FINAL, ("output",), is_output=True))
        edges.append(Edge(cell.output, "output of the cell"))
    return vertices, edges


def _roles(node: Node) -> tuple[str, ...]:
    """What to write at each incoming edge: nothing, where the inputs' order does not matter."""
    count = len(node.inputs)
    if node.spec.commutative or count < 2:
        return ("",) * count
    return _ROLES.get(node.op) or tuple(str(i + 1) for i in range(count))


def _caption(node: Node, linears: tuple[Node, ...], shared: set[str]) -> str:
    keys = [key for linear in linears for key in linear.keys or () if key in shared]
    text = node.name
    if any(linear.width == "input" for linear in linears):
        text += ", as wide as x"
    if keys:
        text += f" ({', '.join(dict.fromkeys(keys))})"
    return text


def shared_keys(cell: Cell) -> set[str]:
    """The names of weights that more than one place uses."""
    counts = Counter(key for node in cell.nodes for key in node.keys or ())
    return {key for key, count in counts.items() if count > 1}


def spoken(op: str) -> str:
    """An operation's name as people write it."""
    return op.replace("_", " ")
