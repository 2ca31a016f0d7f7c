"""A cell's programs for the native core: what is stored, and the steps of each pass.

Stored for the backward pass are the linears' sums, the operands that weight gradients need,
and factors that take a mix of activations; the rest is cheap and is computed again. The
gradient of a sum takes the place of the sum itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from cellwright.cell.ops import NORMS, OPS, Saves
from cellwright.engine.assembler import CONSTANT, STORED, Assembled, Assembler, Place
from cellwright.engine.backward import Layout, backward_steps
from cellwright.engine.forward import forward_steps
from cellwright.engine.graph import HIDDEN, INPUT, Accumulator, Elementwise, Graph, Source

_FROM_OUTPUT = frozenset(op.name for op in OPS.values() if op.saves is Saves.OUTPUT)
"""Activations whose gradient follows from their result."""


@dataclass(frozen=True)
class StoredBuffer:
    """A matrix for each time step. `owner` says who brings the memory."""

    width: int
    lead: int
    owner: str  # "workspace", "x", "masked x", "gradient of x" or "gradient of masked x"


@dataclass
class Plan:
    """Everything the native backend needs to run one graph."""

    graph: Graph
    stored: list[StoredBuffer] = field(default_factory=list)
    groups: list[list[int]] = field(default_factory=list)
    forward: dict[str, Any] = field(default_factory=dict)
    backward: dict[str, Any] | None = None
    adds_to_input_gradient: bool = False
    """Whether the gradient of x is added to from several places, and so starts as zeros."""


def make_plan(graph: Graph, *, train: bool, input_gradient: bool = False) -> Plan:
    """The forward program, and with `train` the backward program, of a graph."""
    return _Planner(graph, train, input_gradient).plan


class _Planner:
    def __init__(self, graph: Graph, train: bool, input_gradient: bool) -> None:
        self.graph = graph
        self.train = train
        self.plan = Plan(graph)
        self.readers = graph.consumers()
        self.place: dict[int, Place] = {}
        self.sum_place: dict[int, Place] = {}
        self.gradient_buffer: dict[int, int] = {}
        self.group: dict[int, int] = {}
        self.runs = _runs(graph)
        self._place_values()
        self.dx = self.dx_for_linears = -1
        if input_gradient and (graph.reads_x or any(item.x_terms for _, item in self._sums())):
            lead = graph.input_history
            if graph.reads_x or not graph.masks_x:
                self.dx = self.dx_for_linears = self._store(INPUT, lead, "gradient of x")
            if graph.masks_x:
                self.dx_for_linears = self._store(INPUT, lead, "gradient of masked x")
        self.plan.adds_to_input_gradient = graph.input_history > 0 or graph.reads_x
        steps = forward_steps(graph, self.runs, self.place, self.group)
        self.plan.forward = self._program(steps, forward=True)
        if train:
            layout = Layout(self.place, self.gradient_buffer, self.dx)
            steps = backward_steps(graph, self.runs, layout)
            self.plan.backward = self._program(steps, forward=False)

    # -- what is stored ----------------------------------------------------------------

    def _store(self, width: int, lead: int = 0, owner: str = "workspace") -> int:
        self.plan.stored.append(StoredBuffer(width, lead, owner))
        return len(self.plan.stored) - 1

    def _place_values(self) -> None:
        graph = self.graph
        for _ in graph.states:
            self._store(HIDDEN, graph.state_history)
        self.x = self._store(INPUT, graph.input_history, "x")
        self.x_for_linears = self.x
        if graph.masks_x:
            self.x_for_linears = self._store(INPUT, graph.input_history, "masked x")
        for number, item in enumerate(graph.items):
            if isinstance(item, Source):
                self.place[number] = self._source_place(item)
        state_of: dict[int, int] = {}
        for state, number in enumerate(graph.states):
            state_of.setdefault(number, state)
        costly = self._costly()
        for number, item in enumerate(graph.items):
            if isinstance(item, Elementwise):
                if number in state_of:
                    self.place[number] = Place(STORED, state_of[number])
                elif self.train and (
                    self._is_operand(number)
                    or self._is_normed(number)
                    or (number in costly and self._is_factor(number))
                ):
                    self.place[number] = Place(STORED, self._store(item.width))
            elif isinstance(item, Accumulator):
                self._place_sum(number, item)

    def _place_sum(self, number: int, item: Accumulator) -> None:
        if item.biases:
            self.group[number] = len(self.plan.groups)
            self.plan.groups.append(item.biases)
        if not (self.train or item.begins_before_the_loop):
            return
        buffer = self._store(item.width)
        self.sum_place[number] = self.place[number] = Place(STORED, buffer)
        # An operand must outlive its gradient: weight gradients come after the loop.
        keeps = self._is_operand(number)
        self.gradient_buffer[number] = self._store(item.width) if keeps and self.train else buffer
        activation = self._only_activation(number)
        if activation is not None and activation not in self.place:
            self.place[activation] = Place(STORED, buffer)

    def _only_activation(self, number: int) -> int | None:
        """The one activation that reads a sum, if its result can be stored in the sum's place."""
        readers = self.readers[number]
        if len(readers) != 1 or number in self.graph.states or number == self.graph.output:
            return None
        item = self.graph.items[readers[0]]
        fits = isinstance(item, Elementwise) and item.op in _FROM_OUTPUT
        if not fits or self._is_operand(readers[0]) or readers[0] in self.graph.states:
            return None
        return readers[0]

    def _is_operand(self, number: int) -> bool:
        return any(isinstance(self.graph.items[r], Accumulator) for r in self.readers[number])

    def _is_normed(self, number: int) -> bool:
        """Whether a norm reads it: its gradient needs the value, often a whole node's sum."""
        readers = (self.graph.items[r] for r in self.readers[number])
        return any(isinstance(item, Elementwise) and item.op in NORMS for item in readers)

    def _costly(self) -> set[int]:
        """Values that take a mix of activations to compute again."""
        found: set[int] = set()
        for number, item in enumerate(self.graph.items):
            if not isinstance(item, Elementwise) or self._is_operand(number):
                continue
            if item.op == "mix_activations" or found & set(item.inputs):
                found.add(number)
        return found

    def _is_factor(self, number: int) -> bool:
        """Whether the gradient of what reads it needs its value."""
        readers = (self.graph.items[r] for r in self.readers[number])
        ops = (item.op for item in readers if isinstance(item, Elementwise))
        return any(op in OPS and OPS[op].saves is Saves.INPUTS for op in ops)

    def _source_place(self, item: Source) -> Place:
        if item.kind == "state":
            return Place(STORED, item.number, item.shift)
        if item.kind == "x":
            return Place(STORED, self.x, item.shift)
        return Place(CONSTANT, item.number)

    # -- tables ------------------------------------------------------------------------

    def _program(self, code: Assembler, *, forward: bool) -> dict[str, Any]:
        assembled: Assembled = code.assemble()
        graph = self.graph
        group_of = {bias: g for g, group in enumerate(self.plan.groups) for bias in group}
        terms: list[int] = []
        projections: list[int] = []
        weight_jobs: list[tuple[int, int, int, int]] = []
        bias_jobs: list[int] = []
        input_jobs: list[int] = []
        if forward:
            for number, item in self._sums():
                if item.begins_before_the_loop:
                    projections += [
                        self.sum_place[number].number,
                        self.group.get(number, -1),
                        len(terms) // 3,
                        len(item.x_terms),
                    ]
                    for shift, weight in item.x_terms:
                        terms += [self.x_for_linears, shift, weight]
        else:
            for number, item in self._sums():
                gradient = self.gradient_buffer[number]
                for operand, weight in item.terms:
                    place = self.place[operand]
                    weight_jobs.append((gradient, place.number, place.shift, weight))
                for shift, weight in item.x_terms:
                    weight_jobs.append((gradient, self.x_for_linears, shift, weight))
                if number in self.group:
                    bias_jobs += [gradient, self.group[number]]
            if self.dx_for_linears >= 0:
                input_jobs = self._input_jobs(terms)
        return {
            "values": assembled.values,
            "steps": assembled.steps,
            "inputs": assembled.inputs,
            "terms": terms,
            "projections": projections,
            "weight_jobs": _bundled(weight_jobs),
            "bias_jobs": bias_jobs,
            "input_jobs": input_jobs,
            "stored": [n for b in self.plan.stored for n in (b.width, b.lead)],
            "weight_rows": [w.rows for w in graph.weights],
            "weight_columns": [w.columns for w in graph.weights],
            "bias_group": [group_of[b] for b in range(len(graph.biases))],
            "group_width": [graph.bias_widths[group[0]] for group in self.plan.groups],
            "blocks": assembled.blocks,
            "chunks": assembled.chunks,
            "states": len(graph.states),
            "history": graph.state_history,
            "thetas": graph.theta_count,
            "input_gradient": -1 if forward else self.dx_for_linears,
            "backward": not forward,
        }

    def _sums(self) -> Iterable[tuple[int, Accumulator]]:
        for number, item in enumerate(self.graph.items):
            if isinstance(item, Accumulator):
                yield number, item

    def _input_jobs(self, terms: list[int]) -> list[int]:
        """One job for each shift at which linears read x.

        The first may set its rows unless others, or elementwise steps, write there as well.
        """
        graph = self.graph
        shared = graph.input_history > 0 or (graph.reads_x and not graph.masks_x)
        by_shift: dict[int, list[tuple[int, int]]] = {}
        for number, item in self._sums():
            for shift, weight in item.x_terms:
                by_shift.setdefault(shift, []).append((self.gradient_buffer[number], weight))
        jobs: list[int] = []
        for shift, pairs in sorted(by_shift.items()):
            jobs += [shift, len(terms) // 3, len(pairs), int(shared)]
            for gradient, weight in pairs:
                terms += [gradient, 0, weight]
        return jobs


def _bundled(jobs: list[tuple[int, int, int, int]]) -> list[int]:
    """Weight jobs in bundles of weights with the same operands, so that these are packed once.

    A weight that several linears share has several operands; all its jobs are in one bundle.
    """
    operands: dict[int, list[tuple[int, int]]] = {}
    for _, operand, shift, weight in jobs:
        operands.setdefault(weight, []).append((operand, shift))
    bundles: dict[tuple[tuple[int, int], ...], list[tuple[int, int, int, int]]] = {}
    for job in jobs:
        bundles.setdefault(tuple(sorted(operands[job[3]])), []).append(job)
    table: list[int] = []
    for number, bundle in enumerate(bundles.values()):
        for job in sorted(bundle, key=lambda job: job[1:3]):
            table += [*job, number]
    return table


def _runs(graph: Graph) -> list[list[int]]:
    """The order of one step: sums, then what follows from them elementwise, and so on.

    A sum is taken as late as its first reader allows: then sums that share a weight, as
    those of a supernet's node do, come together. Sums over x alone are ready before the
    first step and stand in no run.
    """
    level = [0] * len(graph.items)
    for number, item in enumerate(graph.items):
        if isinstance(item, Elementwise):
            level[number] = max((level[i] for i in item.inputs), default=0)
        elif isinstance(item, Accumulator) and item.terms:
            level[number] = 1 + max(level[i] for i, _ in item.terms)
    last = max(level)
    sums: list[list[int]] = [[] for _ in range(last + 1)]
    others: list[list[int]] = [[] for _ in range(last + 1)]
    readers = graph.consumers()
    for number, item in enumerate(graph.items):
        if isinstance(item, Elementwise):
            others[level[number]].append(number)
        elif isinstance(item, Accumulator) and item.terms:
            wanted = [level[r] - isinstance(graph.items[r], Accumulator) for r in readers[number]]
            sums[min(wanted, default=last)].append(number)
    for run in sums:
        run.sort(key=lambda number: [weight for _, weight in _terms(graph, number)])
    return [run for pair in zip(sums, others, strict=True) for run in pair if run]


def _terms(graph: Graph, number: int) -> list[tuple[int, int]]:
    item = graph.items[number]
    return item.terms if isinstance(item, Accumulator) else []
