"""A cell as the native core sees it: sums of products, and elementwise values between them.

`Graph` is the cell's own graph with three changes: a sum of linears is one accumulator, an
operand of a linear that dropout masks is a value of its own, and products with x stand
apart, because they can be had for all time steps at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from cellwright.cell import Cell, Node
from cellwright.cell.names import parse_input
from cellwright.cell.ops import Kind
from cellwright.engine.mixtures import (
    MIXED_ACTIVATIONS,
    MOST_TARGETS,
    highways,
    mixed_activations,
    op_of,
    uses_of,
)

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


@dataclass
class Elementwise:
    """An operation on values, all of one width.

    Besides the operations of cells there are `mix_activations`, a mix of several activations
    of one value, and `highway`, the blend of such a mix with another value times its weight.
    `theta` is where a mix's weights begin, `activations` the set of bits of those that are
    weighed.
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
        if self.activations:
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
    theta_sizes: dict[str, int] = field(default_factory=dict)
    """How many numbers each of the caller's θ has."""
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

    def mixed_together(self) -> dict[int, list[int]]:
        """For each `mix_activations`, those that weigh the same activations of the same value.

        Their weights follow each other, in the order of the items.
        """
        found: dict[tuple[int, int], list[int]] = {}
        for number, item in enumerate(self.items):
            if isinstance(item, Elementwise) and item.op == "mix_activations":
                found.setdefault((item.inputs[0], item.activations), []).append(number)
        groups = [
            numbers[begin : begin + MOST_TARGETS]
            for numbers in found.values()
            for begin in range(0, len(numbers), MOST_TARGETS)
        ]
        return {number: group for group in groups for number in group}


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
        self.mixed = mixed_activations(cell)
        linears = {node.name for node in cell.nodes if node.spec.kind is Kind.LINEAR}
        self.highways = highways(cell, self.mixed, linears | set(merged))
        self.weighed: dict[int, list[ThetaTerm]] = {}
        parts = {name for names in merged.values() for name in names}
        parts |= {name for names in self.mixed.values() for name in names}
        parts |= {name for edge in self.highways.values() for name in (edge.mixed, edge.carried)}
        for node in cell.nodes:
            if node.name in parts:
                continue
            if node.name in merged:
                summands = [cell.node(name) for name in merged[node.name]]
                self.value[node.name] = self._accumulator(node.name, summands)
            elif node.spec.kind is Kind.LINEAR:
                self.value[node.name] = self._accumulator(node.name, [node])
            else:
                self.value[node.name] = self._elementwise(node)
        self.graph.states = [self.value[name] for name in cell.states]
        self.graph.output = self.value[cell.output]
        self._number_thetas()

    def _number_thetas(self) -> None:
        """Number the weights of all mixes, those of mixes that are taken together in a row."""
        mixes = [node for node in self.cell.nodes if node.op == "mix"]
        self.graph.theta_sizes = {node.theta_name: len(node.inputs) for node in mixes}
        together = self.graph.mixed_together()
        groups = [together.get(number, [number]) for number in self.weighed]
        for number in dict.fromkeys(number for group in groups for number in group):
            item = self.graph.items[number]
            assert isinstance(item, Elementwise)
            item.theta = self.graph.theta_count
            terms = self.weighed[number]
            self.graph.thetas += [term._replace(number=item.theta + term.number) for term in terms]
            self.graph.theta_count += 1 + max(term.number for term in terms)

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
        if node.name in self.highways:
            return self._highway(node, width)
        if node.name in self.mixed:
            source, bits, terms = self._activations(node)
            item = Elementwise(node.name, "mix_activations", [source], width, activations=bits)
            return self._weighed(item, terms)
        if node.op == "mix":
            values, terms = self._mixed_values(node)
            if not values:
                return self._add(Elementwise(node.name, "zero", [], width))
            return self._weighed(Elementwise(node.name, "mix", values, width), terms)
        inputs = [self._read(name) for name in node.inputs]
        return self._add(Elementwise(node.name, node.op, inputs, width))

    def _weighed(self, item: Elementwise, terms: list[ThetaTerm]) -> int:
        """Add an item with weights, which `terms` count from 0 until all are numbered."""
        number = self._add(item)
        self.weighed[number] = terms
        return number

    def _mixed_values(self, node: Node) -> tuple[list[int], list[ThetaTerm]]:
        """A mix's distinct values: zeros are left out, and weights of equal values added."""
        numbers: dict[int, int] = {}
        terms: list[ThetaTerm] = []
        for position, name in enumerate(node.inputs):
            if op_of(self.cell, name) != "zero":
                number = numbers.setdefault(self._read(name), len(numbers))
                terms.append(ThetaTerm(node.name, node.theta_name, position, number))
        return list(numbers), terms

    def _activations(self, node: Node) -> tuple[int, int, list[ThetaTerm]]:
        """The value whose activations a mix weighs, the bits of these, and their weights."""
        kinds: list[str | None] = []
        for name in node.inputs:
            op = op_of(self.cell, name)
            kinds.append(
                None if op == "zero" else op if name in self.mixed[node.name] else "identity"
            )
        present = [kind for kind in MIXED_ACTIVATIONS if kind in kinds]
        terms = [
            ThetaTerm(node.name, node.theta_name, position, present.index(kind))
            for position, kind in enumerate(kinds)
            if kind is not None
        ]
        source = self.cell.node(self.mixed[node.name][0]).inputs[0]
        bits = sum(1 << MIXED_ACTIVATIONS.index(kind) for kind in present)
        return self._read(source), bits, terms

    def _highway(self, node: Node, width: int) -> int:
        edge = self.highways[node.name]
        source, bits, terms = self._activations(self.cell.node(edge.mixed))
        (carried,), more = self._mixed_values(self.cell.node(edge.carried))
        last = 1 + max(term.number for term in terms)
        terms += [term._replace(number=last) for term in more]
        inputs = [self._read(edge.gate), source, carried]
        item = Elementwise(node.name, "highway", inputs, width, activations=bits)
        return self._weighed(item, terms)

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


def _merged_linears(cell: Cell) -> dict[str, list[str]]:
    """Sums that consist of linears only, none of which anything else reads."""
    uses = uses_of(cell)
    return {
        node.name: list(node.inputs)
        for node in cell.nodes
        if node.op == "add"
        and all(
            name in cell and cell.node(name).spec.kind is Kind.LINEAR and uses[name] == 1
            for name in node.inputs
        )
    }
