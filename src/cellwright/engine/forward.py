"""The forward pass of one time step: sums of products, and what follows from them, run by run."""

from __future__ import annotations

from cellwright.engine.assembler import STORED, Assembler, Place
from cellwright.engine.graph import HIDDEN, Accumulator, Elementwise, Graph


def forward_steps(
    graph: Graph, runs: list[list[int]], places: dict[int, Place], groups: dict[int, int]
) -> Assembler:
    """Steps that make new states and the output.

    Args:
        graph: the graph.
        runs: its items in the order of a step.
        places: where values are that have a place of their own.
        groups: which group of biases a sum begins with.
    """
    return _Forward(graph, runs, places, groups).code


class _Forward:
    def __init__(
        self, graph: Graph, runs: list[list[int]], places: dict[int, Place], groups: dict[int, int]
    ) -> None:
        self.graph = graph
        self.places = places
        self.groups = groups
        self.readers = graph.consumers()
        self.together = graph.mixed_together()
        self.code = Assembler()
        self.value: dict[int, int] = {}
        self.begun: set[int] = set()
        self.summand_of = self._summands()
        for number in (number for run in runs for number in run):
            item = graph.items[number]
            if isinstance(item, Elementwise):
                self._elementwise(number, item)
            elif isinstance(item, Accumulator):
                self._sum(number, item)
        for state, number in enumerate(graph.states):
            target = self.code.fixed(Place(STORED, state), HIDDEN)
            if target != self._at(number):
                self.code.elementwise("copy", target, [self._at(number)])
        self.code.elementwise("write_output", -1, [self._at(graph.output)])

    def _summands(self) -> dict[int, int]:
        """Values that only an `add` reads, with that: they are added to it when they are made."""
        found: dict[int, int] = {}
        for number, item in enumerate(self.graph.items):
            if not isinstance(item, Elementwise) or item.op != "add":
                continue
            for value in item.inputs:
                if (
                    isinstance(self.graph.items[value], Elementwise)
                    and value not in self.places
                    and len(self.readers[value]) == 1
                    and not self._is_result(value)
                ):
                    found[value] = number
        return found

    def _is_result(self, number: int) -> bool:
        return number in self.graph.states or number == self.graph.output

    def _at(self, number: int) -> int:
        """The value that an item is, or is a summand of."""
        while number in self.summand_of:
            number = self.summand_of[number]
        if number not in self.value:
            width = self.graph.items[number].width
            place = self.places.get(number)
            value = self.code.fixed(place, width) if place else self.code.value(width)
            self.value[number] = value
        return self.value[number]

    def _sum(self, number: int, item: Accumulator) -> None:
        started = bool(item.x_terms)
        group = -1 if started else self.groups.get(number, -1)
        terms = [(self._at(i), weight) for i, weight in item.terms]
        self.code.linear(self._at(number), terms, add=started, group=group)

    def _elementwise(self, number: int, item: Elementwise) -> None:
        if not self.readers[number] and not self._is_result(number):
            return  # a zero: mixes leave it out
        if item.op == "mix_activations":
            if number == self.together[number][0]:
                self._mixes(self.together[number], item)
            return
        target = self._at(number)
        inputs = [i for i in item.inputs if self.summand_of.get(i) != number]
        op = item.op
        if op == "add" and len(inputs) < len(item.inputs):
            if not inputs:
                return
            op = "copy" if len(inputs) == 1 else "add"
        add = self._begins(target)
        self.code.elementwise(op, target, [self._at(i) for i in inputs], add=add, arg=item.arg)

    def _begins(self, target: int) -> bool:
        """Whether a step adds to what earlier ones made of a value."""
        add = target in self.begun
        self.begun.add(target)
        return add

    def _mixes(self, numbers: list[int], first: Elementwise) -> None:
        """Mixes of the same activations of one value, as few steps as setting and adding allow."""
        steps: list[tuple[bool, int, list[int]]] = []
        for number in numbers:
            item = self.graph.items[number]
            assert isinstance(item, Elementwise)
            target = self._at(number)
            add = self._begins(target)
            if steps and steps[-1][0] == add:
                steps[-1][2].append(target)
            else:
                steps.append((add, item.arg, [target]))
        value = self._at(first.inputs[0])
        for add, arg, (target, *others) in steps:
            self.code.elementwise("mix_activations", target, [value, *others], add=add, arg=arg)
