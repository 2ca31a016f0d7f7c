"""From abstract steps to a program: places for values, phases, tables of integers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from cellwright.cell.ops import BATCH_NORMS, OPS

STORED, BLOCK, CHUNK, RING, CONSTANT = range(5)

LINEAR = OPS["linear"].code
OPCODES: dict[str, int] = {op.name: op.code for op in OPS.values()} | {
    "copy": OPS["identity"].code,
    "mix_activations": 20,
    "highway": 21,
    "d_mix_activations": 56,
    "d_highway": 57,
    **{
        name: 32 + i
        for i, name in enumerate(
            ("d_copy", "d_negate", "d_scale", "d_mul", "d_blend_gate", "d_blend_rest", "d_tanh",
             "d_sigmoid", "d_relu", "d_leaky_relu", "d_mix", "d_theta", "d_norm", "d_exp",
             "d_max", "d_divisor", *(f"d_{op}" for op in BATCH_NORMS))
        )
    },
    "write_output": 64,
    "read_output_gradient": 65,
}  # fmt: skip
"""The core's operation numbers, as in native/program.hpp."""

ACROSS_ROWS = frozenset({*BATCH_NORMS, *(f"d_{op}" for op in BATCH_NORMS)})
"""What reads all rows of a batch: each has a phase of its own, around which threads wait."""


class Place(NamedTuple):
    """Where a value is: kind of memory, number there, steps back."""

    kind: int
    number: int
    shift: int = 0


@dataclass
class _Step:
    op: int
    out: int
    inputs: list[int]
    accumulate: bool
    arg: int
    phase: int


@dataclass
class Assembled:
    """The tables of a program's steps."""

    values: list[int]
    steps: list[int]
    inputs: list[int]
    blocks: int
    chunks: int


@dataclass
class Assembler:
    """Collects steps over virtual values, then finds each value a place.

    A value without a place of its own goes into a chunk, a few rows that stay in the first
    cache, if one run of elementwise steps makes and uses it; otherwise into a block.
    """

    places: list[Place | None] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    steps: list[_Step] = field(default_factory=list)
    _phase: int = 0
    _is_linear: bool | None = None
    _is_across: bool = False
    _written: set[int] = field(default_factory=set)
    _fixed: dict[tuple[Place, int], int] = field(default_factory=dict)

    def fixed(self, place: Place, width: int) -> int:
        """The value at a given place."""
        key = (place, width)
        if key not in self._fixed:
            self._fixed[key] = self._new(place, width)
        return self._fixed[key]

    def value(self, width: int) -> int:
        """A new value that may be put anywhere."""
        return self._new(None, width)

    def _new(self, place: Place | None, width: int) -> int:
        self.places.append(place)
        self.widths.append(width)
        return len(self.places) - 1

    def elementwise(
        self, op: str, out: int, inputs: list[int], *, add: bool = False, arg: int = 0
    ) -> None:
        """Append an elementwise step."""
        across = op in ACROSS_ROWS
        if self._is_linear or across or self._is_across:
            self._next_phase()
        self._is_linear, self._is_across = False, across
        self.steps.append(_Step(OPCODES[op], out, inputs, add, arg, self._phase))

    def linear(
        self, out: int, terms: list[tuple[int, int]], *, add: bool = False, group: int = -1
    ) -> None:
        """Append a sum of products of (value, weight)."""
        reads_fresh = any(value in self._written for value, _ in terms)
        if self._is_linear is False or reads_fresh:
            self._next_phase()
        self._is_linear, self._is_across = True, False
        self._written.add(out)
        flat = [number for term in terms for number in term]
        self.steps.append(_Step(LINEAR, out, flat, add, group, self._phase))

    def _next_phase(self) -> None:
        self._phase += 1
        self._written.clear()

    def assemble(self) -> Assembled:
        """Place every value, and flatten."""
        touches: dict[int, list[int]] = {}
        for number, step in enumerate(self.steps):
            for value in _values_of(step):
                touches.setdefault(value, []).append(number)
        places = list(self.places)
        # Values of different widths never share a place: a thread's rows of the one would
        # lie over another thread's rows of the other.
        free: dict[tuple[int, int], list[int]] = {}
        count = {BLOCK: 0, CHUNK: 0}
        ended: list[int] = []  # values in blocks that others may read until the phase is over
        phase = 0
        for number, step in enumerate(self.steps):
            values = _values_of(step)
            if step.phase != phase:
                phase = step.phase
                for value in ended:
                    self._set_free(value, places, free)
                ended.clear()
            for value in values:
                if places[value] is None:
                    kind = self._kind(touches[value])
                    unused = free.setdefault((kind, self.widths[value]), [])
                    if not unused:
                        unused.append(count[kind])
                        count[kind] += 1
                    places[value] = Place(kind, unused.pop())
            for value in set(values):
                place = places[value]
                if self.places[value] is None and place and touches[value][-1] == number:
                    if place.kind == BLOCK:
                        ended.append(value)
                    else:
                        self._set_free(value, places, free)
        used = sorted(touches)
        renumbered = {value: i for i, value in enumerate(used)}
        table: list[int] = []
        for value in used:
            place = places[value]
            assert place is not None
            table += [place.kind, place.number, place.shift, self.widths[value]]
        steps: list[int] = []
        inputs: list[int] = []
        for step in self.steps:
            is_linear = step.op == LINEAR
            count_inputs = len(step.inputs) // 2 if is_linear else len(step.inputs)
            steps += [
                step.op, renumbered.get(step.out, 0), len(inputs), count_inputs,
                int(step.accumulate), step.arg, step.phase,
            ]  # fmt: skip
            inputs += [
                number if is_linear and i % 2 else renumbered[number]
                for i, number in enumerate(step.inputs)
            ]
        return Assembled(table, steps, inputs, count[BLOCK], count[CHUNK])

    def _set_free(
        self, value: int, places: list[Place | None], free: dict[tuple[int, int], list[int]]
    ) -> None:
        place = places[value]
        assert place is not None
        free[place.kind, self.widths[value]].append(place.number)

    def _kind(self, touched: list[int]) -> int:
        """A chunk if all touches are elementwise steps of one phase, else a block."""
        phases = {self.steps[number].phase for number in touched}
        linear = any(self.steps[number].op == LINEAR for number in touched)
        return BLOCK if linear or len(phases) > 1 else CHUNK


def _values_of(step: _Step) -> list[int]:
    inputs = step.inputs[::2] if step.op == LINEAR else step.inputs
    return [*inputs, *([step.out] if step.out >= 0 else [])]
