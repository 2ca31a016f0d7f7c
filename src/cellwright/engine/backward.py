"""The backward pass of one time step: the forward pass's runs in reverse."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from cellwright.cell.ops import NORMS, OPS, Saves
from cellwright.engine.assembler import CONSTANT, RING, STORED, Assembler, Place
from cellwright.engine.graph import HIDDEN, Accumulator, Elementwise, Graph, Source


@dataclass(frozen=True)
class Layout:
    """Where the forward pass left values, and where gradients of sums and of x belong."""

    places: dict[int, Place]
    gradient_buffer: dict[int, int]
    input_gradient: int


def backward_steps(graph: Graph, runs: list[list[int]], layout: Layout) -> Assembler:
    """Steps that turn the gradients of states and output into those of sums and sources."""
    return _Backward(graph, runs, layout).code


class _Backward:
    def __init__(self, graph: Graph, runs: list[list[int]], layout: Layout) -> None:
        self.graph = graph
        self.layout = layout
        self.readers = graph.consumers()
        self.code = Assembler()
        self.gradient: dict[int, int] = {}
        self.touched: set[int] = set()
        self.recomputed: dict[int, int] = {}
        self.passed_on: set[int] = set()
        self.together = graph.mixed_together()
        self._start()
        for run in reversed(runs):
            self._go_back(run)
        sources = [n for n, item in enumerate(graph.items) if isinstance(item, Source)]
        self._operand_gradients(sources)
        in_runs = {number for run in runs for number in run}
        self._go_back(
            [
                number
                for number, item in enumerate(graph.items)
                if isinstance(item, Accumulator) and number not in in_runs
            ]
        )

    def _start(self) -> None:
        """Gradients arrive from the next step's states and from the output."""
        for state, number in enumerate(self.graph.states):
            ring = self.code.fixed(Place(RING, state), HIDDEN)
            if number not in self.gradient:
                self.gradient[number] = ring
                self.touched.add(number)
            else:
                self.code.elementwise("d_copy", self.gradient[number], [ring], add=True)
        self._contribute(self.graph.output, "read_output_gradient", [])

    def _go_back(self, run: list[int]) -> None:
        self.recomputed = {}
        self._operand_gradients(run)
        for number in reversed(run):
            item = self.graph.items[number]
            if isinstance(item, Elementwise):
                if item.op == "mix_activations":  # all at once, when the last of them comes
                    if number == self.together[number][0]:
                        self._mixes(self.together[number], item.inputs[0])
                elif number in self.touched:
                    self._elementwise(item, number)
            else:
                self._finish_sum(number)
        self._pass_on_shared(run)

    # -- gradients of single items -----------------------------------------------------

    def _gradient(self, number: int) -> int | None:
        """The value that collects an item's gradient, or None where nobody wants it."""
        if number not in self.gradient:
            item = self.graph.items[number]
            if isinstance(item, Source):
                place = self._source_gradient(item)
                if place is None:
                    return None
                self.touched.add(number)  # starts at zero
                self.gradient[number] = self.code.fixed(place, item.width)
            elif isinstance(item, Accumulator) and self._may_replace(number):
                self.gradient[number] = self._sum_gradient(number)
            else:
                self.gradient[number] = self.code.value(item.width)
        return self.gradient[number]

    def _source_gradient(self, item: Source) -> Place | None:
        if item.kind == "state":
            return Place(RING, item.number, item.shift)
        if item.kind == "x" and self.layout.input_gradient >= 0:
            return Place(STORED, self.layout.input_gradient, item.shift)
        return None

    def _sum_gradient(self, number: int) -> int:
        width = self.graph.items[number].width
        return self.code.fixed(Place(STORED, self.layout.gradient_buffer[number]), width)

    def _may_replace(self, number: int) -> bool:
        """Whether a sum's gradient can be written over the sum at once.

        It can if nobody needs the sum any more by then: its one reader's gradient follows
        from the reader's result, or from nothing, or needs each element just when it is
        replaced.
        """
        readers = self.readers[number]
        if not readers:
            return False
        if readers[0] in self.together:
            return set(readers) == set(self.together[readers[0]]) <= self.touched
        item = self.graph.items[readers[0]]
        if len(set(readers)) != 1 or not isinstance(item, Elementwise):
            return False
        return item.op in OPS and OPS[item.op].saves is not Saves.INPUTS

    def _contribute(self, number: int, op: str, inputs: list[int], arg: int = 0) -> None:
        """Add a term to an item's gradient."""
        target = self._gradient(number)
        if target is None:
            return
        self.code.elementwise(op, target, inputs, add=number in self.touched, arg=arg)
        self.touched.add(number)

    def _operand_gradients(self, numbers: list[int]) -> None:
        """Products of the sums' gradients with the weights, for the operands among `numbers`."""
        for number in numbers:
            terms = [
                (self._sum_gradient(reader), weight)
                for reader in dict.fromkeys(self.readers[number])
                if reader not in self.passed_on
                for operand, weight in self._terms(reader)
                if operand == number
            ]
            if not terms:
                continue
            target = self._gradient(number)
            if target is not None:
                self.code.linear(target, terms, add=number in self.touched)
                self.touched.add(number)

    def _pass_on_shared(self, run: list[int]) -> None:
        """The operands' gradients from sums that share weights, while those are at hand.

        Otherwise an operand's gradient is taken in one product over all its readers.
        """
        uses = Counter(weight for number in run for _, weight in self._terms(number))
        shared = [n for n in run if any(uses[weight] > 1 for _, weight in self._terms(n))]
        by_operand: dict[int, list[tuple[int, int]]] = {}
        for number in shared:
            for operand, weight in self._terms(number):
                by_operand.setdefault(operand, []).append((self._sum_gradient(number), weight))
        self.passed_on.update(shared)
        for operand, terms in sorted(by_operand.items(), key=lambda pair: [w for _, w in pair[1]]):
            target = self._gradient(operand)
            if target is not None:
                self.code.linear(target, terms, add=operand in self.touched)
                self.touched.add(operand)

    def _terms(self, number: int) -> list[tuple[int, int]]:
        item = self.graph.items[number]
        return item.terms if isinstance(item, Accumulator) else []

    def _finish_sum(self, number: int) -> None:
        """Put a sum's gradient where weight gradients look for it."""
        target = self._sum_gradient(number)
        if number not in self.touched:  # a zero reads it, to be as wide
            self.code.elementwise("zero", target, [])
            return
        gradient = self._gradient(number)
        assert gradient is not None
        if gradient != target:
            self.code.elementwise("d_copy", target, [gradient])

    # -- gradients of operations -------------------------------------------------------

    def _value(self, number: int) -> int:
        """An item's value: stored by the forward pass, or computed again."""
        item = self.graph.items[number]
        place = self.layout.places.get(number)
        if place is not None and place.kind in (STORED, CONSTANT):
            return self.code.fixed(place, item.width)
        if number not in self.recomputed:
            assert isinstance(item, Elementwise)
            inputs = [self._value(i) for i in item.inputs]
            self.recomputed[number] = self.code.value(item.width)
            self.code.elementwise(item.op, self.recomputed[number], inputs, arg=item.arg)
        return self.recomputed[number]

    def _elementwise(self, item: Elementwise, number: int) -> None:
        g = self._gradient(number)
        assert g is not None
        inputs = item.inputs
        match item.op:
            case "add":
                for i in inputs:
                    if self._only_here(i):
                        self.gradient[i] = g
                        self.touched.add(i)
                    else:
                        self._contribute(i, "d_copy", [g])
            case "mean":
                shared: int | None = None
                for i in inputs:
                    if not self._only_here(i):
                        self._contribute(i, "d_scale", [g], arg=len(inputs))
                        continue
                    if shared is None:
                        shared = self.code.value(item.width)
                        self.code.elementwise("d_scale", shared, [g], arg=len(inputs))
                    self.gradient[i] = shared
                    self.touched.add(i)
            case "sub":
                self._contribute(inputs[0], "d_copy", [g])
                self._contribute(inputs[1], "d_negate", [g])
            case "identity":
                self._contribute(inputs[0], "d_copy", [g])
            case "mul":
                self._product(g, inputs)
            case "blend":
                gate, one, other = inputs
                if self._wanted(gate):
                    values = [g, self._value(one), self._value(other)]
                    self._contribute(gate, "d_blend_gate", values)
                self._contribute(one, "d_mul", [g, self._value(gate)])
                self._contribute(other, "d_blend_rest", [g, self._value(gate)])
            case "max":
                for one, other in (inputs, inputs[::-1]):
                    if self._wanted(one):
                        values = [g, self._value(one), self._value(other)]
                        self._contribute(one, "d_max", values)
            case "div":
                above, below = inputs
                self._contribute(above, "div", [g, self._value(below)])
                if self._wanted(below):
                    values = [g, self._value(above), self._value(below)]
                    self._contribute(below, "d_divisor", values)
            case "mix":
                values = [g, *(self._value(i) for i in inputs)]
                self.code.elementwise("d_theta", -1, values, arg=item.theta)
                for k, i in enumerate(inputs):
                    self._mixed(i, g, item.theta + k)
            case "highway":
                self._highway(g, item)
            case op if op in NORMS:
                self._contribute(inputs[0], f"d_{item.op}", [g, self._value(inputs[0])])
            case "zero":
                pass
            case op:
                self._contribute(inputs[0], f"d_{op}", [g, self._value(number)], arg=-1)

    def _mixed(self, number: int, g: int, theta: int) -> None:
        """The gradient of a mix's input; for an activation that only the mix reads, at once
        that of the activation's input."""
        item = self.graph.items[number]
        if (
            isinstance(item, Elementwise)
            and item.op in OPS
            and OPS[item.op].saves is Saves.OUTPUT
            and self._only_here(number)
        ):
            self._contribute(item.inputs[0], f"d_{item.op}", [g, self._value(number)], arg=theta)
        else:
            self._contribute(number, "d_mix", [g], arg=theta)

    def _mixes(self, numbers: list[int], source: int) -> None:
        """Gradients of the weights of mixes of one value's activations, and of that value."""
        steps: list[list[int]] = []
        before = -1
        for number in numbers:
            if number not in self.touched:
                continue
            if before >= 0 and numbers.index(number) == before + 1:
                steps[-1].append(number)
            else:
                steps.append([number])
            before = numbers.index(number)
        for step in steps:
            first = self.graph.items[step[0]]
            assert isinstance(first, Elementwise)
            values = [self._value(source), *(self.gradient[number] for number in step)]
            self._contribute(source, "d_mix_activations", values, arg=first.arg)

    def _highway(self, g: int, item: Elementwise) -> None:
        """All gradients of an edge in one go. Those of its two sums take the sums' places."""
        gate, value, carried = item.inputs
        sigmoid = self.graph.items[gate]
        assert isinstance(sigmoid, Elementwise)
        values = [g, self._value(gate), self._value(value), self._value(carried)]
        target = self._gradient(carried)
        if target is None:  # nobody wants it, but the step has it
            target = self.code.value(item.width)
        add = carried in self.touched
        self.code.elementwise("d_highway", target, values, add=add, arg=item.arg)
        self.touched.add(carried)
        for number in (sigmoid.inputs[0], value):
            self.gradient[number] = self._sum_gradient(number)
            self.touched.add(number)

    def _only_here(self, number: int) -> bool:
        """Whether an elementwise value has no gradient but from its one reader."""
        return (
            isinstance(self.graph.items[number], Elementwise)
            and len(self.readers[number]) == 1
            and number not in self.gradient
            and number != self.graph.output
        )

    def _wanted(self, number: int) -> bool:
        item = self.graph.items[number]
        return not isinstance(item, Source) or self._source_gradient(item) is not None

    def _product(self, g: int, inputs: list[int]) -> None:
        for position, number in enumerate(inputs):
            if self._wanted(number):
                others = [self._value(i) for j, i in enumerate(inputs) if j != position]
                self._contribute(number, "d_mul", [g, *others])
