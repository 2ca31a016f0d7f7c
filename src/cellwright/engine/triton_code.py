"""Kernels in Triton's language for the values between two sums, forward and backward.

What an operation computes is read from the table of operations, by running it on symbols. Its
gradient follows from the few functions that it is made of. A kernel has one program for each
row, or part of a row, and keeps all values but its results in registers.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import linecache
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cellwright.cell.ops import LEAKY_SLOPE, NORM_EPSILON, OPS
from cellwright.engine.graph import Elementwise, Item, Source
from cellwright.engine.mixtures import MIXED_ACTIVATIONS

_OLDEST = (3, 2)  # the oldest version that was tried and whose interpreter works

# For each function its value, then the gradient of each argument: {0} and {1} are arguments, {v} is
# the value and {g} its gradient. Comparisons are turned so that a NaN stays one, as in torch.
_FUNCTIONS = {
    "add": ("{0} + {1}", "{g}", "{g}"),
    "sub": ("{0} - {1}", "{g}", "-{g}"),
    "mul": ("{0} * {1}", "{g} * {1}", "{g} * {0}"),
    "div": ("{0} / {1}", "{g} / {1}", "-{g} * ({v} / {1})"),
    "tanh": ("tanh({0})", "{g} * (1 - {v} * {v})"),
    "sigmoid": ("tl.sigmoid({0})", "{g} * {v} * (1 - {v})"),
    "exp": ("tl.exp({0})", "{g} * {v}"),
    "relu": ("tl.where({0} <= 0, 0.0, {0})", "tl.where({v} <= 0, 0.0, {g})"),
    "leaky_relu": (
        f"tl.where({{0}} > 0, {{0}}, {LEAKY_SLOPE} * {{0}})",
        f"tl.where({{0}} > 0, {{g}}, {LEAKY_SLOPE} * {{g}})",
    ),
    "maximum": (
        "tl.where(({0} >= {1}) | ({0} != {0}), {0}, {1})",
        "tl.where({0} < {1}, 0.0, tl.where({0} == {1}, {g} / 2, {g}))",
        "tl.where({0} > {1}, 0.0, tl.where({0} == {1}, {g} / 2, {g}))",
    ),
    "norm": ("norm({0}, inside, width)", "norm_gradient({0}, {g}, inside, width)"),
}

# The language has no tanh that its interpreter knows. Near 0 the quotient would lose digits.
_HELPERS = f"""
@triton.jit
def tanh(a):
    square = a * a
    series = -0.05396825396825397 + square * 0.021869488536155203
    series = -0.3333333333333333 + square * (0.13333333333333333 + square * series)
    far = 1 - 2 / (tl.exp(2 * tl.abs(a)) + 1)
    far = tl.where(a < 0, -far, far)
    return tl.where(tl.abs(a) < 0.3, a + a * square * series, far)


@triton.jit
def centred(a, inside, width):
    return tl.where(inside, a - tl.sum(tl.where(inside, a, 0.0), 0) / width, 0.0)


@triton.jit
def norm(a, inside, width):
    a = centred(a, inside, width)
    return a / tl.sqrt(tl.sum(a * a, 0) / width + {NORM_EPSILON})


@triton.jit
def norm_gradient(a, g, inside, width):
    a = centred(a, inside, width)
    deviation = tl.sqrt(tl.sum(a * a, 0) / width + {NORM_EPSILON})
    a = a / deviation
    g = tl.where(inside, g, 0.0)
    return (centred(g, inside, width) - a * (tl.sum(g * a, 0) / width)) / deviation


"""


class UnknownOperationError(Exception):
    """An operation made of a function that has no kernel."""


class Place(NamedTuple):
    """Where a value is at step t: `part` of the `parts` columns that a buffer has side by side.

    The step in the buffer is `clock` + `shift`. The clock is "t", "slot" for what is kept only for
    the way back (t, or 0 where there is none), or "0" for what is the same at all steps.
    """

    buffer: str
    clock: str
    shift: int = 0
    part: int = 0
    parts: int = 1

    def step(self, t: int, slot: int) -> int:
        """Which step of the buffer it is."""
        return {"t": t, "slot": slot, "0": 0}[self.clock] + self.shift


@dataclass(frozen=True)
class Pass:
    """A kernel's source, and the buffers that it is given: of values, and of their gradients."""

    source: str
    values: tuple[str, ...]
    gradients: tuple[str, ...] = ()


@dataclass(frozen=True)
class Phase:
    """Values of one width that one kernel computes, and another one's way back."""

    width: int
    whole_rows: bool
    """Whether a program needs whole rows, for a norm."""
    has_theta: bool
    forward: Pass
    backward: Pass


def make_phase(
    items: Sequence[Item],
    numbers: Sequence[int],
    places: dict[int, Place],
    width: int,
    theta_count: int,
) -> Phase:
    """The kernels for the items with these numbers; those that have places are stored."""
    tape = _Tape(items, places)
    for number in numbers:
        item = items[number]
        assert isinstance(item, Elementwise)
        tape.compute(number, item)
    stored = [number for number in numbers if number in places]
    kinds = {line.kind for line in tape.lines}
    has_theta = "theta" in kinds
    forward = _Writer(has_theta, theta_count)
    _compute(tape, places, forward)
    for number in stored:
        forward.line(f"tl.store({forward.value(places[number])}, v{tape.known[number]}, inside)")
    backward = _Writer(has_theta, theta_count)
    _compute(tape, places, backward)
    _go_back(tape, items, places, stored, backward)
    return Phase(width, "norm" in kinds, has_theta, forward.done(), backward.done())


class _Line(NamedTuple):
    """A value on the tape: a function of others; or a load, a θ or a number, which `what` names."""

    kind: str
    inputs: tuple[int, ...] = ()
    what: int | float = 0


class _Symbol:
    """A value on the tape, for the meanings of operations to compute with."""

    def __init__(self, tape: _Tape, number: int) -> None:
        self.tape = tape
        self.number = number

    def __add__(self, other: _Symbol | float) -> _Symbol:
        return self.tape.apply("add", self, other)

    def __sub__(self, other: _Symbol | float) -> _Symbol:
        return self.tape.apply("sub", self, other)

    def __mul__(self, other: _Symbol | float) -> _Symbol:
        return self.tape.apply("mul", self, other)

    def __truediv__(self, other: _Symbol | float) -> _Symbol:
        return self.tape.apply("div", self, other)


class _Tape:
    """Functions in the order in which they are computed. It is its own arithmetic."""

    def __init__(self, items: Sequence[Item], places: dict[int, Place]) -> None:
        self.items = items
        self.places = places
        self.lines: list[_Line] = []
        self.known: dict[int, int] = {}

    def __getattr__(self, name: str) -> Any:
        if name not in _FUNCTIONS:
            raise UnknownOperationError(name)
        return lambda *values: self.apply(name, *values)

    def zero(self, _: Sequence[_Symbol]) -> _Symbol:
        return self._add(_Line("number"))

    def apply(self, function: str, *values: _Symbol | float) -> _Symbol:
        symbols = [
            v if isinstance(v, _Symbol) else self._add(_Line("number", (), v)) for v in values
        ]
        return self._add(_Line(function, tuple(symbol.number for symbol in symbols)))

    def compute(self, number: int, item: Elementwise) -> None:
        """Put an item on the tape."""
        inputs = [self._read(i) for i in item.inputs]
        self.known[number] = self._result(item, inputs).number

    def _result(self, item: Elementwise, inputs: list[_Symbol]) -> _Symbol:
        if item.op == "highway":
            gate, mixed, carried = inputs
            activations = self._activations(item, mixed)
            theta = self._theta(item.theta + len(activations))
            weighed = self._weighed(item, activations)
            return self._meaning("blend", [gate, weighed, theta * carried])
        if item.op == "mix_activations":
            return self._weighed(item, self._activations(item, inputs[0]))
        if item.op == "mix":
            return self._weighed(item, inputs)
        return self._meaning(item.op, inputs)

    def _activations(self, item: Elementwise, value: _Symbol) -> list[_Symbol]:
        chosen = [name for i, name in enumerate(MIXED_ACTIVATIONS) if item.activations >> i & 1]
        return [self._meaning(name, [value]) for name in chosen]

    def _weighed(self, item: Elementwise, values: list[_Symbol]) -> _Symbol:
        products = [self._theta(item.theta + k) * value for k, value in enumerate(values)]
        return self._meaning("add", products)

    def _theta(self, number: int) -> _Symbol:
        return self._add(_Line("theta", (), number))

    def _meaning(self, op: str, inputs: list[_Symbol]) -> _Symbol:
        meaning = OPS[op].meaning
        assert meaning is not None
        result: _Symbol = meaning(self, inputs)
        return result

    def _read(self, number: int) -> _Symbol:
        if number not in self.known:
            self.known[number] = self._add(_Line("load", (), number)).number
        return _Symbol(self, self.known[number])

    def _add(self, line: _Line) -> _Symbol:
        self.lines.append(line)
        return _Symbol(self, len(self.lines) - 1)


class _Writer:
    """The text of one kernel. Buffers are numbered, so that equal kernels have equal texts."""

    def __init__(self, has_theta: bool, theta_count: int) -> None:
        self.has_theta = has_theta
        self.theta_count = theta_count
        self.lines: list[str] = []
        self.values: dict[str, str] = {}
        self.gradients: dict[str, str] = {}

    def line(self, text: str) -> None:
        self.lines.append(f"    {text}\n")

    def value(self, place: Place) -> str:
        """The address of a value."""
        return _address(self.values.setdefault(place.buffer, f"p{len(self.values)}"), place)

    def gradient(self, place: Place) -> str:
        """The address of a value's gradient."""
        return _address(self.gradients.setdefault(place.buffer, f"g{len(self.gradients)}"), place)

    def done(self) -> Pass:
        names = [*self.values.values(), *self.gradients.values()]
        if self.has_theta:
            names = ["theta", *(["theta_gradient"] if self.gradients else []), *names]
        arguments = ", ".join(["t", "slot", "batch", "width", *names, "BLOCK: tl.constexpr"])
        source = (
            f"{_HELPERS}@triton.jit(do_not_specialize=[0, 1])\n"
            f"def kernel({arguments}):\n"
            "    row = tl.program_id(0).to(tl.int64)\n"
            "    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)\n"
            "    inside = column < width\n"
        ) + "".join(self.lines)
        return Pass(source, tuple(self.values), tuple(self.gradients))


def _address(name: str, place: Place) -> str:
    row = f"(({place.clock} + {place.shift}) * batch + row) * ({place.parts} * width)"
    return f"{name} + {row} + {place.part} * width + column"


def _compute(tape: _Tape, places: dict[int, Place], writer: _Writer) -> None:
    for number, line in enumerate(tape.lines):
        match line.kind:
            case "load":
                text = f"tl.load({writer.value(places[int(line.what)])}, inside, 0.0)"
            case "theta":
                text = f"tl.load(theta + {line.what})"
            case "number":
                text = f"tl.full([BLOCK], {float(line.what)}, tl.float32)"
            case function:
                text = _FUNCTIONS[function][0].format(*_names(line.inputs))
        writer.line(f"v{number} = {text}")


def _go_back(
    tape: _Tape,
    items: Sequence[Item],
    places: dict[int, Place],
    stored: Iterable[int],
    writer: _Writer,
) -> None:
    """Gradients of what was stored become gradients of what was loaded, added to what is there."""
    reached: set[int] = set()

    def contribute(number: int, text: str) -> None:
        if tape.lines[number].kind != "number":
            writer.line(f"d{number} = " + (f"d{number} + {text}" if number in reached else text))
            reached.add(number)

    for number in stored:
        address = writer.gradient(places[number])
        contribute(tape.known[number], f"tl.load({address}, inside, 0.0)")
    for number in reversed(range(len(tape.lines))):
        line = tape.lines[number]
        if number not in reached:
            continue
        if line.kind == "load":
            item = items[int(line.what)]
            if not (isinstance(item, Source) and item.kind == "mask"):
                address = writer.gradient(places[int(line.what)])
                old = f"tl.load({address}, inside, 0.0)"
                writer.line(f"tl.store({address}, {old} + d{number}, inside)")
        elif line.kind == "theta":
            # Each program has a sum of its own, so that the result is always the same.
            program = "(row * tl.num_programs(1) + tl.program_id(1))"
            address = f"theta_gradient + {program} * {writer.theta_count} + {line.what}"
            total = f"tl.sum(tl.where(inside, d{number}, 0.0), 0)"
            writer.line(f"tl.store({address}, tl.load({address}) + {total})")
        else:
            gradients = _FUNCTIONS[line.kind][1:]
            for i, template in zip(line.inputs, gradients, strict=True):
                names = _names(line.inputs)
                contribute(i, f"({template.format(*names, v=f'v{number}', g=f'd{number}')})")


def _names(numbers: Iterable[int]) -> list[str]:
    return [f"v{number}" for number in numbers]


@functools.cache
def language() -> tuple[Any, Any] | None:
    """Triton and its language, or None where it is not installed, or too old."""
    try:
        triton = importlib.import_module("triton")
        found = triton, importlib.import_module("triton.language")
    except ImportError:
        return None
    version = tuple(int(part) for part in triton.__version__.split(".")[:2])
    return found if version >= _OLDEST else None


@functools.cache
def kernel(source: str) -> Any:
    """The kernel of this source; Triton compiles it when it is launched."""
    modules = language()
    assert modules is not None
    name = f"<cellwright kernel {hashlib.sha256(source.encode()).hexdigest()[:16]}>"
    # Triton asks Python for the text of a function, which looks here.
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names: dict[str, Any] = {"__name__": "cellwright.kernels", "triton": modules[0]}
    names["tl"] = modules[1]
    exec(compile(source, name, "exec", dont_inherit=True), names)
    return names["kernel"]
