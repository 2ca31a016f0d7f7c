"""The Triton backend: a step's elementwise values in a kernel or a few. CUDA, float32.

Between the kernels stand matrix products of torch; those with x, and the gradients of all
weights, are taken for all time steps at once. It has not been run on a GPU yet.
"""

from __future__ import annotations

import os
import warnings
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor

from cellwright.engine import surroundings, torch_backend
from cellwright.engine.graph import HIDDEN, INPUT
from cellwright.engine.layer import LayerCall, LayerResult
from cellwright.engine.torch_gradients import torch_gradients, wanted_of_torch
from cellwright.engine.triton_code import UnknownOperationError, language
from cellwright.engine.triton_job import Job, KernelError
from cellwright.engine.triton_plan import X_FOR_LINEARS, Plan, X

_failure: str | None = None


def refusal(call: LayerCall) -> str | None:
    """Why the tensors of this call cannot be computed with here, or None if they can."""
    device = call.x.device
    if device.type != "cuda" and not _interpreted():
        return f"it does not run on {device.type}"
    if _failure is not None:
        return _failure
    if language() is None:
        return "Triton is not installed, or too old"
    if isinstance(call.active, Tensor):
        return "it needs to look at lengths"
    if call.precision != "float32":
        return f"its products are of float32, not {call.precision}"
    tensors = [*_flat(call), *(m for m in (call.mask_hidden, call.mask_input) if m is not None)]
    if any(t.dtype is not torch.float32 or t.device != device for t in tensors):
        return "it computes in torch.float32, on one device"
    if not surroundings.ordinary(tensors):
        return "it computes with tensors of torch itself, without autocast"
    try:
        plan = _plan(call)
    except UnknownOperationError as error:
        return f"it has no kernel for {error}"
    if not _fits(plan, call):
        return "a weight, bias, mask or state is not of the shape that the cell asks for"
    return None


def give_up(error: KernelError) -> None:
    """Leave everything to torch from now on, and say so."""
    global _failure
    _failure = f"Triton fails here: {error}"
    warnings.warn(f"{_failure}; torch computes instead", RuntimeWarning, stacklevel=3)


def run(call: LayerCall) -> LayerResult:
    """Run one layer."""
    call = call._replace(initial=call.states_before())
    job = Job(_plan(call), call)
    flat = _flat(call)
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in flat):
        output, *final = _Run.apply(job, call, *flat)  # type: ignore[no-untyped-call]
        return LayerResult(output, final)
    with torch.no_grad(), _device_of(call.x):
        return LayerResult(*job.forward(call, keep=False)[:2])


def _interpreted() -> bool:
    """Whether Triton interprets its kernels, on any device, instead of compiling them."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def _device_of(tensor: Tensor) -> AbstractContextManager[None]:
    """Triton starts its kernels on the current device, whatever tensors they are given."""
    return torch.cuda.device_of(tensor)  # type: ignore[no-untyped-call]


def _plan(call: LayerCall) -> Plan:
    """The cell's plan for a call. Plans are kept with the cell object itself."""
    plans: dict[tuple[bool, ...], Plan] = call.cell.__dict__.setdefault("_triton_plans", {})
    flags = {
        "mask_hidden": call.mask_hidden is not None,
        "mask_input": call.mask_input is not None,
        "one_width": call.x.shape[2] == call.hidden_size,
    }
    key = tuple(flags.values())
    if key not in plans:
        plans[key] = Plan(call.cell, **flags)
    return plans[key]


def _fits(plan: Plan, call: LayerCall) -> bool:
    """Whether all tensors are as large as the kernels think that they are."""
    sizes = {HIDDEN: call.hidden_size, INPUT: call.x.shape[2]}
    batch, graph = call.x.shape[1], plan.graph
    wanted: list[tuple[Tensor | None, tuple[int, ...]]] = [
        (call.x_for_linears, tuple(call.x.shape)),
        (call.mask_hidden, (batch, sizes[HIDDEN])),
        (call.mask_input, (batch, sizes[INPUT])),
        *((state, (batch, sizes[HIDDEN])) for state in call.states_before()),
        *((call.theta[name], (size,)) for name, size in plan.theta_sizes.items()),
    ]
    for at, number in graph.weight_of.items():
        weight = graph.weights[number]
        wanted.append((call.weights[at], (sizes[weight.rows], sizes[weight.columns])))
    for name, width in zip(graph.biases, graph.bias_widths, strict=True):
        wanted.append((call.biases[name], (sizes[width],)))
    return len(call.states_before()) == graph.initial_count and all(
        tensor is None or tensor.shape == shape for tensor, shape in wanted
    )


def _flat(call: LayerCall) -> list[Tensor]:
    """What has gradients, in one list."""
    return [
        call.x, call.x_for_linears, *call.states_before(), *call.weights.values(),
        *call.biases.values(), *call.theta.values(),
    ]  # fmt: skip


def _with(call: LayerCall, flat: list[Tensor]) -> LayerCall:
    """The same call of other tensors."""
    rest = iter(flat)
    return call._replace(
        x=next(rest),
        x_for_linears=next(rest),
        initial=[next(rest) for _ in call.states_before()],
        weights={at: next(rest) for at in call.weights},
        biases={name: next(rest) for name in call.biases},
        theta={name: next(rest) for name in call.theta},
    )


def _kinds(call: LayerCall) -> list[str]:
    """Of each tensor in the list, what it is."""
    return [
        X, X_FOR_LINEARS, *["initial"] * len(call.states_before()),
        *["weights"] * len(call.weights), *["biases"] * len(call.biases),
        *["theta"] * len(call.theta),
    ]  # fmt: skip


class _Run(torch.autograd.Function):
    """The two passes, joined for autograd."""

    @staticmethod
    def forward(ctx: Any, job: Job, call: LayerCall, *flat: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        with _device_of(call.x):
            output, final, buffers = job.forward(call, keep=True)
        ctx.job, ctx.call, ctx.names = job, call, [n for n in buffers if buffers[n] is not output]
        ctx.save_for_backward(*flat, *(buffers[name] for name in ctx.names))
        return (output, *final)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Any, ...]:
        job: Job = ctx.job
        count = len(ctx.saved_tensors) - len(ctx.names)
        flat, needed = list(ctx.saved_tensors[:count]), ctx.needs_input_grad[2:]
        call = _with(ctx.call, flat)
        if not wanted_of_torch(gradients):
            buffers = dict(zip(ctx.names, ctx.saved_tensors[count:], strict=True))
            kinds = {kind for kind, need in zip(_kinds(call), needed, strict=True) if need}
            try:
                with _device_of(call.x):
                    found = job.backward(call, buffers, kinds, gradients[0], gradients[1:])
                return (None, None, *_in_order(job.plan, call, found, needed))
            except KernelError as error:
                give_up(error)

        def again(tensors: list[Tensor]) -> list[Tensor]:
            result = torch_backend.run(_with(call, tensors))
            return [result.output, *result.final]

        return (None, None, *torch_gradients(again, flat, needed, gradients))


def _in_order(
    plan: Plan, call: LayerCall, found: dict[Any, Tensor], needed: tuple[bool, ...]
) -> list[Tensor | None]:
    """The gradients in the order of `_flat`."""
    first: dict[int, tuple[str, int]] = {}
    for at, number in plan.graph.weight_of.items():
        first.setdefault(number, at)
    weight = {at: ("weight", number) for number, at in first.items()}  # a shared one has one place
    bias = {name: ("bias", number) for number, name in enumerate(plan.graph.biases)}
    keys: list[Any] = [
        X, X_FOR_LINEARS, *(("initial", number) for number in range(len(call.states_before()))),
        *(weight.get(at) for at in call.weights), *(bias.get(name) for name in call.biases),
        *(("theta", name) for name in call.theta),
    ]  # fmt: skip
    return [found.get(key) if need else None for key, need in zip(keys, needed, strict=True)]
