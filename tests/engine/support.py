"""What the engine's tests share: running a module on a backend, and comparing what comes out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from cellwright.cell import Cell
from cellwright.engine import Recurrent, native_backend, torch_backend
from cellwright.engine.directions import together
from cellwright.engine.layer import LayerCall, LayerResult
from cellwright.engine.native_memory import workspaces
from cellwright.engine.native_programs import Programs
from cellwright.engine.recurrent import BACKENDS
from cellwright.engine.ways import Way, Ways

Results = dict[str, Tensor | None]
"""Outputs, states and gradients by name."""


def on(module: Recurrent, backend: str) -> Recurrent:
    """The module itself, switched to a backend."""
    module.backend = backend
    return module


def as_tuple(state: Any) -> tuple[Tensor, ...]:
    return (state,) if isinstance(state, Tensor) else tuple(state)


@dataclass
class Inputs:
    """What a module is called with, and through which results the loss looks at it."""

    x: Tensor
    state: Any = None
    lengths: Any = None
    theta: Mapping[str, Tensor] = field(default_factory=dict)
    loss: str = "output and state"
    seed: int = 0

    def at_leaf(self) -> Inputs:
        """Copies that gradients can be asked of; those that need none stay so."""

        def leaf(tensor: Tensor) -> Tensor:
            return tensor.detach().clone().requires_grad_(tensor.requires_grad)

        state = self.state
        if state is not None:
            state = leaf(state) if isinstance(state, Tensor) else tuple(map(leaf, state))
        theta = {name: leaf(value) for name, value in self.theta.items()}
        return replace(self, x=leaf(self.x), state=state, theta=theta)


def call(module: Recurrent, inputs: Inputs) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The output and the tensors of the state, with `inputs.seed` for all dropouts."""
    torch.manual_seed(inputs.seed)
    output, state = module(inputs.x, inputs.state, lengths=inputs.lengths, theta=dict(inputs.theta))
    return output, as_tuple(state)


def run(module: Recurrent, inputs: Inputs) -> Results:
    """Output, states, and the gradients of a fixed random projection of them."""
    inputs = inputs.at_leaf()
    module.zero_grad(set_to_none=True)
    output, state = call(module, inputs)
    results: Results = {"output": output.detach()}
    results |= {f"state {i}": tensor.detach() for i, tensor in enumerate(state)}
    watched = [output] * ("output" in inputs.loss) + [*state] * ("state" in inputs.loss)
    generator = torch.Generator().manual_seed(1)
    loss = sum(
        ((t * torch.randn(t.shape, generator=generator)).sum() for t in watched),
        start=torch.zeros(()),
    )
    if loss.requires_grad:
        loss.backward()
    results["gradient of x"] = inputs.x.grad
    for i, tensor in enumerate(as_tuple(inputs.state) if inputs.state is not None else ()):
        results[f"gradient of state {i}"] = tensor.grad
    for name, tensor in inputs.theta.items():
        results[f"gradient of theta {name}"] = tensor.grad
    for name, parameter in module.named_parameters():
        results[f"gradient of {name}"] = parameter.grad
    return results


def gap(one: Tensor | None, other: Tensor | None) -> tuple[float, float]:
    """The largest difference, and the size of the numbers. No gradient is a gradient of zero.

    The same elements must be finite in both; the gap is infinite otherwise.
    """
    if one is None and other is None:
        return 0.0, 0.0
    one = torch.zeros_like(other) if one is None else one  # type: ignore[arg-type]
    other = torch.zeros_like(one) if other is None else other
    assert one.shape == other.shape
    finite = torch.isfinite(one)
    if not torch.equal(finite, torch.isfinite(other)):
        return math.inf, 0.0
    if not finite.any():
        return 0.0, 0.0
    difference = (one[finite].double() - other[finite].double()).abs().max().item()
    return difference, other[finite].double().abs().max().item()


def differences(
    one: Results, other: Results, rtol: float = 1e-4, atol: float = 1e-6
) -> dict[str, tuple[float, float]]:
    """Gap and size of the results that differ beyond tolerance.

    The tolerance is relative to the largest number of a tensor, because sums of many products
    lose digits in common.
    """
    assert one.keys() == other.keys()
    gaps = {name: gap(one[name], other[name]) for name in one}
    return {name: (d, size) for name, (d, size) in gaps.items() if not d <= atol + rtol * size}


def assert_same(
    one: Results, other: Results, about: str = "", rtol: float = 1e-4, atol: float = 1e-6
) -> None:
    """Outputs, states and gradients agree."""
    wrong = differences(one, other, rtol, atol)
    assert not wrong, f"gap and size: {wrong}\n{about}"


def assert_identical(one: Results, other: Results, about: str = "") -> None:
    """The same bits, NaN being equal to itself."""
    assert one.keys() == other.keys()
    for name, value in one.items():
        twin = other[name]
        if value is None or twin is None:
            assert value is twin, f"{name}: one has none\n{about}"
            continue
        same = torch.equal(
            value.contiguous().view(torch.int32), twin.contiguous().view(torch.int32)
        )
        assert same, f"{name} is not the same bit for bit\n{about}"


def assert_native_is_torch(
    module: Recurrent, inputs: Inputs, expected: Results | None = None
) -> None:
    """Both backends agree about one call, and the core did run.

    Cells can be ill-conditioned: a norm of two nearly equal numbers, a relu near its kink, a
    product that explodes. Where the backends differ, they may differ by a few times what torch
    differs from double precision, or double precision from itself when its inputs are rounded.
    """
    if expected is None:
        expected = run(on(module, "torch"), inputs)
    with core_calls() as calls, poisoned_memory():
        found = run(on(module, "native"), inputs)
    assert calls, f"the core was not called\n{describe(module, inputs)}"
    wrong = differences(found, expected)
    if wrong:
        sensitivity = rounding_sensitivity(module, inputs, expected)
        wrong = {
            name: (*pair, sensitivity[name])
            for name, pair in wrong.items()
            if not pair[0] <= 30 * sensitivity[name]
        }
    assert not wrong, f"gap, size, sensitivity: {wrong}\n{describe(module, inputs)}"


def rounding_sensitivity(module: Recurrent, inputs: Inputs, single: Results) -> dict[str, float]:
    """How far single precision is from the truth, or what rounding the inputs changes."""
    exact = _in_double(module, inputs, 0.0, 0)
    worst = {name: gap(single[name], exact[name])[0] for name in exact}
    for trial in range(2):
        shaken = _in_double(module, inputs, 1e-6, trial)
        for name in exact:
            worst[name] = max(worst[name], gap(shaken[name], exact[name])[0])
    return worst


def _in_double(module: Recurrent, inputs: Inputs, noise: float, seed: int) -> Results:
    """A run on the torch backend in double precision, from tensors with relative noise."""
    generator = torch.Generator().manual_seed(seed)

    def shaken(tensor: Tensor) -> Tensor:
        factor = 1 + noise * torch.randn(tensor.shape, generator=generator, dtype=torch.float64)
        return tensor.double() * factor

    def backend(layer: LayerCall) -> LayerResult:
        masks = [None if m is None else m.double() for m in (layer.mask_hidden, layer.mask_input)]
        x = shaken(layer.x)
        result = torch_backend.run(
            layer._replace(
                x=x,
                x_for_linears=x if masks[1] is None else x * masks[1],
                initial=[shaken(t) for t in layer.states_before()],
                weights={at: shaken(t) for at, t in layer.weights.items()},
                biases={name: shaken(t) for name, t in layer.biases.items()},
                theta={name: shaken(t) for name, t in layer.theta.items()},
                mask_hidden=masks[0],
                mask_input=masks[1],
            )
        )
        return LayerResult(result.output.float(), [t.float() for t in result.final])

    before = module.backend
    BACKENDS["double"] = lambda layers, ragged: together(layers, [*map(backend, layers)], ragged)
    try:
        return run(on(module, "double"), inputs)
    finally:
        del BACKENDS["double"]
        on(module, before)


@contextmanager
def poisoned_memory() -> Iterator[None]:
    """Fresh tensors are full of NaN here, so that whatever is read unset is seen."""
    workspaces._free = []
    torch.use_deterministic_algorithms(True)  # which is what makes torch fill them
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


@contextmanager
def shared_out(by: str | None, threads: int = 2) -> Iterator[None]:
    """Calls of any size are shared out to threads here, by rows, columns or directions."""
    before = torch.get_num_threads(), native_backend.threads_for, Programs.ways
    torch.set_num_threads(threads)
    if by is not None:
        way = Way(threads, split_columns=by == "columns", at_once=by == "directions")
        native_backend.threads_for = lambda _: threads
        Programs.ways = lambda *_: Ways([way])
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        native_backend.threads_for, Programs.ways = before[1:]


@contextmanager
def core_calls() -> Iterator[list[Cell]]:
    """The cells that the native core runs in this block."""
    cells: list[Cell] = []
    original = native_backend.run

    def counted(layer_calls: Any, ragged: Any) -> Any:
        cells.extend(call.cell for call in layer_calls)
        return original(layer_calls, ragged)

    native_backend.run = counted
    try:
        yield cells
    finally:
        native_backend.run = original


def describe(module: Recurrent, inputs: Inputs) -> str:
    """Enough to build the failing call again."""
    frozen = [name for name, p in module.named_parameters() if not p.requires_grad]
    return (
        f"{module}\nx {tuple(inputs.x.shape)} lengths {inputs.lengths} loss {inputs.loss!r} "
        f"seed {inputs.seed} frozen {frozen}\n{module.cell.to_json(indent=None)}"
    )


def thetas(cell: Cell, generator: torch.Generator | None = None) -> dict[str, Tensor]:
    """Random weights for every mix of a supernet, with gradients."""
    sizes = {n.theta_name: len(n.inputs) for n in cell.simplified().nodes if n.op == "mix"}
    return {
        name: torch.softmax(torch.randn(size, generator=generator), 0).requires_grad_()
        for name, size in sizes.items()
    }


def random_state(module: Recurrent, batch: int, grad: bool = True) -> Any:
    """A carried state of small random numbers."""
    zeros = module.zero_state(batch)

    def drawn(tensor: Tensor) -> Tensor:
        return (0.5 * torch.randn_like(tensor)).requires_grad_(grad)

    return drawn(zeros) if isinstance(zeros, Tensor) else tuple(map(drawn, zeros))
