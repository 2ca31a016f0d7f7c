"""The native backend: the C++ core as one autograd function per layer. CPU, float32."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from time import perf_counter
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from cellwright.cell import Cell
from cellwright.engine import graph as graphs
from cellwright.engine import surroundings, torch_backend
from cellwright.engine.directions import together
from cellwright.engine.layer import LayerCall, LayerResult
from cellwright.engine.native_job import Arguments, Job, Pass
from cellwright.engine.native_programs import Programs
from cellwright.engine.plan import make_plan
from cellwright.engine.ragged import Ragged
from cellwright.engine.torch_gradients import torch_gradients, wanted_of_torch
from cellwright.engine.ways import Way, Ways

_native: ModuleType | None
try:
    from cellwright.engine import _native
except ImportError:  # the core could not be built: everything runs on torch
    _native = None

_HAS_BFLOAT16 = _native is not None and _native.has_bfloat16()

_SPLIT_BYTES = 1_000_000  # from here on a step's weights do not nearly fit a core's cache
_MOST_THREADS = 64  # that the core can keep apart
_THREAD_WORK = 1_000_000  # multiply-adds for which waking another thread pays


def available(precision: str = "float32") -> bool:
    """Whether the core was built for this machine, and has products of this precision."""
    return _native is not None and (precision == "float32" or _native.has_bfloat16())


def fits_graphs(precision: str) -> bool:
    """The same for graphs of `torch.compile`, which cannot record a question to the core.

    An operator asks again when it runs: another instruction set may have been chosen.
    """
    return _native is not None and (precision == "float32" or _HAS_BFLOAT16)


def threads_for(multiply_adds: int) -> int:
    """How many threads so much work is worth, of those that torch may use."""
    return min(torch.get_num_threads(), 1 + multiply_adds // _THREAD_WORK, _MOST_THREADS)


def refusal(call: LayerCall) -> str | None:
    """Why the tensors of this call cannot be computed with here, or None if they can."""
    if _native is None:
        return "the core could not be built on this machine"
    if not available(call.precision):
        return f"the core has no {call.precision} on this processor"
    return surroundings.unfit(
        (
            call.x,
            *(call.initial or ()),
            *call.weights.values(),
            *call.biases.values(),
            *call.theta.values(),
        )
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


def run(calls: Sequence[LayerCall], ragged: Ragged | None) -> LayerResult:
    """Run a layer in its directions.

    Where all rows have all steps, the core writes the outputs of both directions side by side.
    """
    tensors = [tensor for call in calls for tensor in tensors_of(call)]
    learns = torch.is_grad_enabled() and any(t.requires_grad for t in tensors)
    reaches_input = learns and any(
        call.x.requires_grad or call.x_for_linears.requires_grad for call in calls
    )
    jobs = [prepare(call, train=learns, input_gradient=reaches_input) for call in calls]
    if ragged is None:
        for number, job in enumerate(jobs):
            job.part, job.parts = number, len(jobs)
    arguments = [job.arguments(call) for job, call in zip(jobs, calls, strict=True)]
    if learns:
        flat = [tensor for part in arguments for tensor in part.flat]
        results = _run_and_record(jobs, arguments, *flat)
    else:
        results = tuple(forward(jobs, arguments, keep=False))
    if ragged is None:
        return LayerResult(results[0], list(results[1:]))
    each = [LayerResult(one[0], list(one[1:])) for one in _by_group(jobs, results)]
    return together(calls, each, ragged)


def prepare(call: LayerCall, *, train: bool, input_gradient: bool) -> Job:
    """The call's job for the core."""
    return Job(programs(call, train=train, input_gradient=input_gradient), call)


def forward(
    jobs: Sequence[Job],
    arguments: Sequence[Arguments],
    *,
    keep: bool,
    workspace: Tensor | None = None,
) -> list[Tensor]:
    """Outputs and final states of each group of jobs; with `keep`, what backward needs stays."""
    results: list[Tensor] = []
    passes = []
    for job, given in zip(jobs, arguments, strict=True):
        if job.part == 0:
            output, final = job.new_results(given)
            results += [output, *final]
        passes.append(job.forward(given, output, final, workspace=workspace))
    _run(passes)
    for job in jobs:
        if keep:
            job.give_back_kept()
        else:
            job.release()
    return results


def backward(
    jobs: Sequence[Job],
    arguments: Sequence[Arguments],
    needed: Sequence[Arguments],
    gradients: Sequence[Sequence[Tensor | None]],
) -> list[Tensor | None]:
    """Gradients of all arguments, None where not needed, from those of each group's results."""
    again = [i for i, job in enumerate(jobs) if job.workspace is None]
    if again:  # a second backward pass: the first one used it up
        forward([jobs[i] for i in again], [arguments[i] for i in again], keep=True)
    passes = []
    groups = iter(gradients)
    for job, given, need in zip(jobs, arguments, needed, strict=True):
        if job.part == 0:
            output, final = job.dense_gradients(given, *next(groups))
        passes.append(job.backward(given, need, output, final))
    _run(passes)
    found: list[Tensor | None] = []
    for job, given, one in zip(jobs, arguments, passes, strict=True):
        job.release()
        found += one.gradients
        if given.theta:
            found[-1] = one.gradients[-1].sum(0)
    return found


def _run(passes: Sequence[Pass]) -> None:
    """Run passes of one program on threads, in the way that has been fastest so far."""
    assert _native is not None
    job, calls = passes[0].job, [one.call for one in passes]
    rows = job.steps * job.batch if job.active is None else sum(job.active)
    threads = threads_for(len(calls) * rows * job.memory.weight_bytes // 4)
    if threads == 1:
        _native.run(calls, 1, False, False)
        return
    # Calls of about the same size cost about the same for each row.
    about = (passes[0].is_backward, len(calls), threads, job.batch, job.hidden, job.input)
    ways = job.programs.ways(about, lambda: Ways(_options(job, threads, len(calls))))
    way = ways.choose()
    start = perf_counter()
    _native.run(calls, *way)
    ways.learn(way, (perf_counter() - start) / rows)


def _options(job: Job, threads: int, calls: int) -> list[Way]:
    """Ways to run calls on at most so many threads, the most promising one first."""
    few_rows = job.batch * calls < 4 * threads
    columns = few_rows and job.memory.weight_bytes > _SPLIT_BYTES and threads > calls
    ways = [Way(threads, columns)]
    if calls > 1:
        ways.insert(0, Way(threads, columns, at_once=True))
    if threads > 3:
        ways.append(Way(threads // 2, columns))
    return [*ways, Way(1)]


def tensors_of(call: LayerCall) -> list[Tensor]:
    """All that a call computes with but masks."""
    return [
        call.x, call.x_for_linears, *(call.initial or ()), *call.weights.values(),
        *call.biases.values(), *call.theta.values(),
    ]  # fmt: skip


def programs(call: LayerCall, *, train: bool, input_gradient: bool) -> Programs:
    """The programs for a call."""
    return _programs(
        call.cell,
        train=train,
        mask_hidden=call.mask_hidden is not None,
        mask_input=call.mask_input is not None,
        input_gradient=input_gradient,
        bfloat16=call.precision == "bfloat16",
    )


def _programs(cell: Cell, **flags: bool) -> Programs:
    """The cell's programs for these flags. They are kept with the cell object itself."""
    per_cell: dict[tuple[bool, ...], Programs] = cell.__dict__.setdefault("_programs", {})
    key = tuple(flags.values())
    if key not in per_cell:
        assert _native is not None
        graph = graphs.build(cell, mask_hidden=flags["mask_hidden"], mask_input=flags["mask_input"])
        plan = make_plan(graph, train=flags["train"], input_gradient=flags["input_gradient"])
        forward, backward = (
            _native.Program(**tables, bfloat16=flags["bfloat16"]) if tables else None
            for tables in (plan.forward, plan.backward)
        )
        assert forward is not None
        per_cell[key] = Programs(plan, forward, backward)
    return per_cell[key]


class _Run(torch.autograd.Function):
    """The core's two passes, joined for autograd."""

    @staticmethod
    def forward(
        ctx: Any, jobs: list[Job], parts: list[Arguments], *flat: Tensor
    ) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*flat)
        ctx.jobs = jobs
        ctx.parts = [Arguments(*([None] * len(part) for part in one)) for one in parts]
        return tuple(forward(jobs, parts, keep=True))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Any, ...]:
        jobs: list[Job] = ctx.jobs
        arguments = _cut(ctx.parts, ctx.saved_tensors)
        needed = _cut(ctx.parts, ctx.needs_input_grad[2:])
        if not wanted_of_torch(gradients):
            groups = _by_group(jobs, gradients)
            return (None, None, *backward(jobs, arguments, needed, groups))
        if torch.is_grad_enabled():
            warn_once("it has no gradients of gradients")

        def again(flat: list[Tensor]) -> list[Tensor]:
            pairs = zip(jobs, _cut(ctx.parts, flat), strict=True)
            calls = [job.as_call(given) for job, given in pairs]
            results = [torch_backend.run(call) for call in calls]
            size = jobs[0].parts
            groups = [
                together(calls[i : i + size], results[i : i + size], None)
                for i in range(0, len(jobs), size)
            ]
            return [tensor for one in groups for tensor in (one.output, *one.final)]

        flat = [tensor for one in arguments for tensor in one.flat]
        wanted = [need for one in needed for need in one.flat]
        return (None, None, *torch_gradients(again, flat, wanted, gradients))


# What `_Run.apply` comes to where nothing of torch.func is at work, which is not asked again.
_run_and_record: Callable[..., tuple[Tensor, ...]] = super(torch.autograd.Function, _Run).apply


def _by_group(jobs: Sequence[Job], flat: Sequence[Any]) -> list[Sequence[Any]]:
    """What each group of jobs has of a list of all their results, or of the gradients of these."""
    each = len(flat) * jobs[0].parts // len(jobs)
    return [flat[i : i + each] for i in range(0, len(flat), each)]


def _cut(parts: Sequence[Arguments], flat: Sequence[Any]) -> list[Arguments]:
    """The arguments of each job from those of all of them."""
    found, begin = [], 0
    for one in parts:
        count = sum(map(len, one))
        found.append(one.like(flat[begin : begin + count]))
        begin += count
    return found
