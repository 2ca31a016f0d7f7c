"""The native backend: the C++ core as one autograd function per layer. CPU, float32."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from cellwright.cell import Cell
from cellwright.engine import graph as graphs
from cellwright.engine import surroundings
from cellwright.engine.layer import LayerCall, LayerResult
from cellwright.engine.native_job import Arguments, Job, Programs
from cellwright.engine.plan import make_plan
from cellwright.engine.torch_gradients import torch_gradients, wanted_of_torch

_native: ModuleType | None
try:
    from cellwright.engine import _native
except ImportError:  # the core could not be built: everything runs on torch
    _native = None

_SPLIT_BYTES = 4_000_000  # from here on a step's weights do not nearly fit a core's cache
_MOST_THREADS = 64  # that the core can keep apart
_THREAD_WORK = 1_000_000  # multiply-adds for which waking another thread pays


def available() -> bool:
    """Whether the core was built for this machine."""
    return _native is not None


def threads_for(multiply_adds: int) -> int:
    """How many threads so much work is worth, of those that torch may use."""
    return min(torch.get_num_threads(), 1 + multiply_adds // _THREAD_WORK, _MOST_THREADS)


def refusal(call: LayerCall) -> str | None:
    """Why the tensors of this call cannot be computed with here, or None if they can."""
    if _native is None:
        return "the core could not be built on this machine"
    return surroundings.unfit(
        (call.x, *call.initial, *call.weights.values(), *call.biases.values(), *call.theta.values())
    )


_warned: set[str] = set()


def warn_once(reason: str) -> None:
    """Say that torch serves a call, and why, unless this reason was given before."""
    if reason not in _warned:
        _warned.add(reason)
        warnings.warn(
            f"the native backend does not serve this call ({reason}): torch does, more slowly",
            RuntimeWarning,
            stacklevel=3,
        )


def run(call: LayerCall) -> LayerResult:
    """Run one layer."""
    learns = torch.is_grad_enabled() and any(t.requires_grad for t in tensors_of(call))
    reaches_input = learns and (call.x.requires_grad or call.x_for_linears.requires_grad)
    job = prepare(call, train=learns, input_gradient=reaches_input)
    arguments = job.arguments(call)
    if not learns:
        return LayerResult(*job.forward(arguments, keep=False))
    output, *final = _Run.apply(job, arguments, *arguments.flat)  # type: ignore[no-untyped-call]
    return LayerResult(output, final)


def prepare(call: LayerCall, *, train: bool, input_gradient: bool) -> Job:
    """The call's job for the core, with as many threads as it is worth."""
    job = Job(programs(call, train=train, input_gradient=input_gradient), call)
    work = job.steps * job.batch * job.memory.weight_bytes // 4
    job.threads = threads_for(work)
    job.split_columns = _split_columns(job.batch, job.threads, job.memory.weight_bytes)
    return job


def tensors_of(call: LayerCall) -> list[Tensor]:
    """All that a call computes with but masks."""
    return [
        call.x, call.x_for_linears, *call.initial, *call.weights.values(),
        *call.biases.values(), *call.theta.values(),
    ]  # fmt: skip


def _split_columns(batch: int, threads: int, weight_bytes: int) -> bool:
    """Whether threads share columns: few rows each, and weights that do not fit a cache.

    They then wait for each other after every product, which pays only for large ones.
    """
    rows = batch / threads
    limit = _SPLIT_BYTES / 4 if rows < 4 else _SPLIT_BYTES
    return threads > 1 and rows <= 16 and weight_bytes > limit


def programs(call: LayerCall, *, train: bool, input_gradient: bool) -> Programs:
    """The programs for a call."""
    return _programs(
        call.cell,
        train=train,
        mask_hidden=call.mask_hidden is not None,
        mask_input=call.mask_input is not None,
        input_gradient=input_gradient,
    )


def _programs(cell: Cell, **flags: bool) -> Programs:
    """The cell's programs for these flags. They are kept with the cell object itself."""
    per_cell: dict[tuple[bool, ...], Programs] = cell.__dict__.setdefault("_programs", {})
    key = tuple(flags.values())
    if key not in per_cell:
        assert _native is not None
        graph = graphs.build(cell, mask_hidden=flags["mask_hidden"], mask_input=flags["mask_input"])
        plan = make_plan(graph, train=flags["train"], input_gradient=flags["input_gradient"])
        backward = _native.Program(**plan.backward) if plan.backward else None
        per_cell[key] = Programs(plan, _native.Program(**plan.forward), backward)
    return per_cell[key]


class _Run(torch.autograd.Function):
    """The core's two passes, joined for autograd."""

    @staticmethod
    def forward(ctx: Any, job: Job, parts: Arguments, *flat: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*flat)
        ctx.job = job
        ctx.parts = Arguments(*([None] * len(part) for part in parts))
        output, final = job.forward(parts.like(flat), keep=True)
        return (output, *final)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Any, ...]:
        job: Job = ctx.job
        arguments = ctx.parts.like(ctx.saved_tensors)
        needed = ctx.parts.like(ctx.needs_input_grad[2:])
        if not wanted_of_torch(gradients):
            return (None, None, *job.backward(arguments, needed, gradients[0], list(gradients[1:])))
        if torch.is_grad_enabled():
            warn_once("it has no gradients of gradients")

        def again(flat: list[Tensor]) -> list[Tensor]:
            result = job.on_torch(arguments.like(flat))
            return [result.output, *result.final]

        return (None, None, *torch_gradients(again, arguments.flat, needed.flat, gradients))
