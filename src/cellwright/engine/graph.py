"""A cell as the native core sees it: sums of products, and elementwise values between them.

`Graph` is the cell's own graph with three changes: a sum of linears is one accumulator, an
operand of a linear that dropout masks is a value of its own, and products with x stand
apart, because they can be had for all time steps at once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from cellwright.cell import Cell, Node
from cellwright.cell.names import parse_input
from cellwright.cell.ops import Kind

HIDDEN, INPUT = 0, 1
_WIDTH = {"hidden": HIDDEN, "input": INPUT}


@dataclass(frozen=True)
class Source:
    """A value that the step finds ready: x or a state `shift` steps back, or a mask."""

    kind: str  # "x", "state" or "mask"
    number: int
    shift: int
    width: int


@dataclass
class Accumulator:
    """Bias plus the sum of products: `terms` over values, `x_terms` over x at (shift, weight).

    A vector is one without products.
    """

    name: str
    width: int
    terms: list[tuple[int, int]] = field(default_factory=list)
    x_terms: list[tuple[int, int]] = field(default_factory=list)
    biases: list[int] = field(default_factory=list)

    @property
    def begins_before_the_loop(self) -> bool:
        """Whether it, or its part over x, is there for all steps before the first."""
        return bool(self.x_terms) or not self.terms


MIXED_ACTIVATIONS = ("tanh", "sigmoid", "relu", "leaky_relu", "identity")
"""What a `mix_activations` may weigh, in the order of the core's bits."""


@dataclass
class Elementwise:
    """An operation on values, all of one width.

    Besides the operations of cells there is `mix_activations`, a mix of several activations
    of one value. `theta` is where a mix's weights begin, `activations` the set of bits of
    those that a `mix_activations` weighs.
    """

    name: str
    op: str
    inputs: list[int]
    width: int
    theta: int = 0
    activations: int = 0

    @property
    def arg(self) -> int:
        """What the core is told besides the inputs."""
        if self.op == "mix_activations":
            return (self.theta << len(MIXED_ACTIVATIONS)) + self.activations
        return self.theta


Item = Source | Accumulator | Elementwise


@dataclass(frozen=True)
class Weight:
    """One matrix: what the linear's input number `position` is multiplied by."""

    linear: str
    position: int
    rows: int
    columns: int


class ThetaTerm(NamedTuple):
    """A mix's weight at `position` of the caller's θ is added to the core's θ `number`."""

    mix: str
    theta: str
    position: int
    number: int


@dataclass
class Graph:
    """Items in topological order; an item's number is its place."""

    items: list[Item] = field(default_factory=list)
    weights: list[Weight] = field(default_factory=list)
    weight_of: dict[tuple[str, int], int] = field(default_factory=dict)
    """The number of the matrix for each linear and input's position."""
    biases: list[str] = field(default_factory=list)
    bias_widths: list[int] = field(default_factory=list)
    thetas: list[ThetaTerm] = field(default_factory=list)
    """What the numbers θ are made of."""
    theta_count: int = 0
    """How many numbers θ all mixes need."""
    states: list[int] = field(default_factory=list)
    output: int = -1
    state_history: int = 1
    input_history: int = 0
    reads_x: bool = False
    """Whether x is used outside a linear."""
    masks_x: bool = False
    """Whether linears read x through a dropout mask."""

    @property
    def initial_count(self) -> int:
        """How many tensors say what the states were before the first step."""
        return len(self.states) * self.state_history

    def consumers(self) -> list[list[int]]:
        """For each item, the numbers of the items that read it, once per use."""
        readers: list[list[int]] = [[] for _ in self.items]
        for number, item in enumerate(self.items):
            if isinstance(item, Elementwise):
                for value in item.inputs:
                    readers[value].append(number)
            elif isinstance(item, Accumulator):
                for value, _ in item.terms:
                    readers[value].append(number)
        return readers


def build(cell: Cell, *, mask_hidden: bool = False, mask_input: bool = False) -> Graph:
    """The graph of a simplified cell, with dropout masks on the operands of its linears."""
    return _Builder(cell, mask_hidden, mask_input).graph


class _Builder:
    def __init__(self, cell: Cell, mask_hidden: bool, mask_input: bool) -> None:
        self.cell = cell
        self.masked = {HIDDEN: mask_hidden, INPUT: mask_input}
        self.graph = Graph(state_history=cell.state_history, input_history=cell.input_history)
        self.value: dict[str, int] = {}
        self.masked_value: dict[int, int] = {}
        self.mask: dict[int, int] = {}
        self.shared: dict[tuple[str, int, int], int] = {}
        merged = _merged_linears(cell)
        self.mixed = _mixed_activations(cell)
        parts = {name for names in merged.values() for name in names}
        parts |= {name for names in self.mixed.values() for name in names}
        for node in cell.nodes:
            if node.name in parts:
                continue
            if node.name in merged:
                linears = [cell.node(name) for name in merged[node.name]]
                self.value[node.name] = self._accumulator(node.name, linears)
            elif node.spec.kind is Kind.LINEAR:
                self.value[node.name] = self._accumulator(node.name, [node])
            else:
                self.value[node.name] = self._elementwise(node)
        self.graph.states = [self.value[name] for name in cell.states]
        self.graph.output = self.value[cell.output]

    def _add(self, item: Item) -> int:
        self.graph.items.append(item)
        return len(self.graph.items) - 1

    def _read(self, name: str) -> int:
        """The number of the value called `name`, a node or an input of the cell."""
        if name not in self.value:
            known = parse_input(name)
            assert known is not None
            if known.state is None:
                self.graph.reads_x = True
                source = Source("x", 0, known.back, INPUT)
            else:
                source = Source("state", known.state, known.back, HIDDEN)
            self.value[name] = self._add(source)
        return self.value[name]

    def _elementwise(self, node: Node) -> int:
        width = _WIDTH[self.cell.width(node.name)]
        if node.name in self.mixed:
            return self._mix_activations(node, width)
        if node.op == "mix":
            return self._mix(node, width)
        inputs = [self._read(name) for name in node.inputs]
        return self._add(Elementwise(node.name, node.op, inputs, width))

    def _mix(self, node: Node, width: int) -> int:
        """A mix of distinct values: zeros are left out, and weights of equal values added."""
        numbers: dict[int, int] = {}
        first = self.graph.theta_count
        for position, name in enumerate(node.inputs):
            if _op(self.cell, name) == "zero":
                continue
            number = numbers.setdefault(self._read(name), first + len(numbers))
            self.graph.thetas.append(ThetaTerm(node.name, node.theta_name, position, number))
        if not numbers:
            return self._add(Elementwise(node.name, "zero", [], width))
        self.graph.theta_count += len(numbers)
        return self._add(Elementwise(node.name, "mix", list(numbers), width, first))

    def _mix_activations(self, node: Node, width: int) -> int:
        """A mix whose candidates are activations of one value, computed together."""
        kinds: list[str | None] = []
        for name in node.inputs:
            op = _op(self.cell, name)
            kinds.append(
                None if op == "zero" else op if name in self.mixed[node.name] else "identity"
            )
        present = [kind for kind in MIXED_ACTIVATIONS if kind in kinds]
        first = self.graph.theta_count
        for position, kind in enumerate(kinds):
            if kind is not None:
                number = first + present.index(kind)
                self.graph.thetas.append(ThetaTerm(node.name, node.theta_name, position, number))
        self.graph.theta_count += len(present)
        source = self.cell.node(self.mixed[node.name][0]).inputs[0]
        bits = sum(1 << MIXED_ACTIVATIONS.index(kind) for kind in present)
        return self._add(
            Elementwise(node.name, "mix_activations", [self._read(source)], width, first, bits)
        )

    def _accumulator(self, name: str, linears: list[Node]) -> int:
        result = Accumulator(name, _WIDTH[linears[0].width])
        for node in linears:
            if node.bias:
                self.graph.biases.append(node.name)
                self.graph.bias_widths.append(result.width)
                result.biases.append(len(self.graph.biases) - 1)
            for position, operand in enumerate(node.inputs):
                columns = _WIDTH[self.cell.width(operand)]
                weight = self._weight(node, position, result.width, columns)
                known = parse_input(operand)
                if known is not None and known.state is None:
                    self.graph.masks_x = self.masked[INPUT]
                    result.x_terms.append((known.back, weight))
                else:
                    result.terms.append((self._operand(operand, columns), weight))
        return self._add(result)

    def _weight(self, node: Node, position: int, rows: int, columns: int) -> int:
        """The number of a matrix; linears that name the same key have the same one."""
        weights = self.graph.weights
        number = len(weights)
        if node.keys is not None:
            number = self.shared.setdefault((node.keys[position], rows, columns), number)
        if number == len(weights):
            weights.append(Weight(node.name, position, rows, columns))
        self.graph.weight_of[node.name, position] = number
        return number

    def _operand(self, name: str, width: int) -> int:
        """The value that a linear multiplies: masked, where there is dropout."""
        value = self._read(name)
        if not self.masked[width]:
            return value
        if value not in self.masked_value:
            if width not in self.mask:
                self.mask[width] = self._add(Source("mask", width, 0, width))
            product = Elementwise(f"{name} masked", "mul", [value, self.mask[width]], width)
            self.masked_value[value] = self._add(product)
        return self.masked_value[value]


def _op(cell: Cell, name: str) -> str | None:
    """The operation of a node, None for an input of the cell."""
    return cell.node(name).op if name in cell else None


def _uses(cell: Cell) -> Counter[str]:
    """How often each value is read, by nodes, as a state or as the output."""
    read = [name for node in cell.nodes for name in node.inputs]
    return Counter([*read, *cell.states, cell.output])


def _mixed_activations(cell: Cell) -> dict[str, list[str]]:
    """Mixes of activations of one value, with those activations, which nothing else reads.

    The value itself, and zeros, may be among the mix's inputs.
    """
    uses = _uses(cell)
    found: dict[str, list[str]] = {}
    for node in cell.nodes:
        if node.op != "mix":
            continue
        inputs = [name for name in node.inputs if _op(cell, name) != "zero"]
        activations = [name for name in inputs if _op(cell, name) in MIXED_ACTIVATIONS]
        sources = {cell.node(name).inputs[0] for name in activations}
        sources |= {name for name in inputs if name not in activations}
        if activations and len(sources) == 1 and all(uses[name] == 1 for name in activations):
            found[node.name] = activations
    return found


def _merged_linears(cell: Cell) -> dict[str, list[str]]:
    """Sums that consist of linears only, none of which anything else reads."""
    uses = _uses(cell)
    return {
        node.name: list(node.inputs)
        for node in cell.nodes
        if node.op == "add"
        and all(
            name in cell and cell.node(name).spec.kind is Kind.LINEAR and uses[name] == 1
            for name in node.inputs
        )
    }
