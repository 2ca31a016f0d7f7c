"""The core as operators of torch, for graphs: a layer stays one operation in them.

`torch.compile`, `torch.export`, fake tensors and AOT autograd see three operators:

- `cellwright::layer`, one layer in one direction. Gradients pass through it.
- `cellwright::layer_keeping`, the same, and what the backward pass needs, in one tensor.
- `cellwright::layer_gradients`, the backward pass.

The cell is an argument, as JSON: an exported program runs wherever `cellwright.engine` is imported,
on torch where the core could not be built. Outside of graphs nobody calls them: a call that goes
through torch's dispatcher costs more than one that does not.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from cellwright.cell import Cell
from cellwright.engine import native_backend, surroundings, torch_backend
from cellwright.engine.layer import LayerCall, LayerResult
from cellwright.engine.native_job import Arguments, Job, UnfitTensorError
from cellwright.engine.native_memory import lay_out, workspaces
from cellwright.engine.operands import Operands, SortedRows, known_cell
from cellwright.engine.torch_gradients import torch_gradients, wanted_of_torch

_OPERANDS = (
    "str cell, Tensor x, Tensor? x_for_linears, Tensor[] initial, Tensor[] weights, "
    "Tensor[] biases, Tensor[] theta, Tensor? mask_hidden, Tensor? mask_input, Tensor? lengths"
)


def cell_text(cell: Cell) -> str:
    """What the operators know a cell by: its graph, without its name and notes."""
    return Cell(cell.nodes, cell.states, cell.output).to_json(indent=None)


def run(call: LayerCall) -> LayerResult:
    """Run one layer as an operator."""
    output, *final = torch.ops.cellwright.layer(
        call.cell_text,
        call.x,
        None if call.x_for_linears is call.x else call.x_for_linears,
        call.states_before(),
        [*call.weights.values()],
        [*call.biases.values()],
        [*call.theta.values()],
        call.mask_hidden,
        call.mask_input,
        call.active,
        call.precision,
    )
    return LayerResult(output, [state.unsqueeze(0) for state in final])


# -- the three operators -----------------------------------------------------------------------


def _layer(*given: Any) -> list[Tensor]:
    operands = Operands(*given)
    operands.check()
    with torch.no_grad():
        if operands.x.shape[1] and native_backend.refusal(operands.call) is None:
            with suppress(UnfitTensorError):
                rows = SortedRows(operands)
                job = native_backend.prepare(rows.call, train=False, input_gradient=False)
                arguments = job.arguments(rows.call)
                return _undone(rows, native_backend.forward([job], [arguments], keep=False))
        output, *final = _on_torch(*given)
        return [output, *(state.clone() for state in final)]


def _layer_shapes(*given: Any) -> list[Tensor]:
    operands = Operands(*given)
    batch, hidden = operands.initial[0].shape
    output = operands.x.new_empty(operands.call.steps, batch, hidden)
    return [output, *(operands.x.new_empty(batch, hidden) for _ in operands.initial)]


def _undone(rows: SortedRows, results: list[Tensor]) -> list[Tensor]:
    """What the core gave, with the caller's rows; the operators' states are (batch, hidden)."""
    output, *final = results
    return [rows.undone(output, 1), *(rows.undone(state.squeeze(0), 0) for state in final)]


def _layer_keeping(*given: Any) -> list[Tensor]:
    *operands, input_gradient = given
    rows = SortedRows(Operands(*operands))
    with torch.no_grad():
        job = _job(rows.call, input_gradient)
        kept = rows.call.x.new_empty(job.memory.floats)
        if not job.batch:
            return [*_layer(*operands), kept]
        arguments = job.arguments(rows.call)
        results = native_backend.forward([job], [arguments], keep=True, workspace=kept)
        return [*_undone(rows, results), kept]


def _layer_keeping_shapes(*given: Any) -> list[Tensor]:
    *operands, input_gradient = given
    call = Operands(*operands).call
    plan = native_backend.programs(call, train=True, input_gradient=input_gradient).plan
    memory = lay_out(plan, call.steps, call.x.shape[1], call.hidden_size, call.x.shape[2])
    return [*_layer_shapes(*operands), call.x.new_empty(memory.floats)]


def _layer_gradients(*given: Any) -> list[Tensor]:
    *operands, input_gradient, kept, gradients, needed = given
    rows = SortedRows(Operands(*operands))
    with torch.no_grad():
        if not rows.call.x.shape[1]:
            return [tensor.zero_() for tensor in _layer_gradients_shapes(*given)]
        job = _job(rows.call, input_gradient)
        job.workspace = workspaces.take(job.memory.floats)
        job.workspace[: job.memory.floats].copy_(kept)  # the pass overwrites what it has used
        arguments = job.arguments(rows.call)
        wanted = _wanted(job, rows.operands, needed)
        _check_gradients(job, gradients)
        ordered = [rows.ordered(gradient, int(i == 0)) for i, gradient in enumerate(gradients)]
        found = arguments.like(native_backend.backward([job], [arguments], [wanted], [ordered]))
        every = _by_operand(job, rows, found)
        return [
            every[i] if i in every else torch.zeros_like(tensor, memory_format=_CONTIGUOUS)
            for i, (tensor, need) in enumerate(zip(rows.operands.parts.flat, needed, strict=True))
            if need
        ]


def _job(call: LayerCall, input_gradient: bool) -> Job:
    """The job for a call that learns, which only the core serves."""
    reason = surroundings.unfit_for_graph(native_backend.tensors_of(call))
    if reason is None and not native_backend.available(call.precision):
        reason = f"it is not built, or has no {call.precision}"
    if reason is not None:
        raise RuntimeError(f"the core does not serve this operator: {reason}")
    return native_backend.prepare(call, train=True, input_gradient=input_gradient)


def _check_gradients(job: Job, gradients: list[Tensor | None]) -> None:
    shapes: list[tuple[int, ...]] = [(job.steps, job.batch, job.hidden)]
    shapes += [(job.batch, job.hidden)] * job.programs.plan.graph.initial_count
    for gradient, shape in zip(gradients, shapes, strict=True):
        if gradient is not None and (gradient.shape, gradient.dtype) != (shape, torch.float32):
            raise RuntimeError(
                f"cellwright::layer_gradients expects a gradient of {shape} and torch.float32, "
                f"got {tuple(gradient.shape)} and {gradient.dtype}"
            )


def _layer_gradients_shapes(*given: Any) -> list[Tensor]:
    *operands, _, _, _, needed = given
    pairs = zip(Operands(*operands).parts.flat, needed, strict=True)
    return [torch.empty_like(t, memory_format=_CONTIGUOUS) for t, need in pairs if need]


def _wanted(job: Job, operands: Operands, needed: list[bool]) -> Arguments:
    """Which gradients the core is asked for, of those that the caller needs."""
    graph, known = job.programs.plan.graph, known_cell(operands.text)
    parts = operands.parts.like(needed)
    weights = dict(zip(known.weights, parts.weights, strict=True))
    biases = dict(zip(known.biases, parts.biases, strict=True))
    return Arguments(
        [parts.x[0], parts.x[-1]] if graph.masks_x else [any(parts.x), False],
        parts.initial,
        [weights[weight.linear, weight.position] for weight in graph.weights],
        [biases[name] for name in graph.biases],
        [any(parts.theta)] if graph.theta_count else [],
    )


def _by_operand(job: Job, rows: SortedRows, found: Arguments) -> dict[int, Tensor]:
    """The core's gradients by the places of the operands that have them."""
    graph, known = job.programs.plan.graph, known_cell(rows.operands.text)
    weights = {(w.linear, w.position): g for w, g in zip(graph.weights, found.weights, strict=True)}
    biases = dict(zip(graph.biases, found.biases, strict=True))
    thetas = job.theta_gradients(found.theta[0]) if found.theta else {}
    x = [
        None if g is None else rows.undone(rows.without_ended(g)[..., : job.input], 1).contiguous()
        for g in found.x
    ]
    every = [
        *(x if rows.operands.x_for_linears is not None else x[:1]),
        *(None if g is None else rows.undone(g, 0) for g in found.initial),
        *(weights.get(at) for at in known.weights),
        *(biases.get(name) for name in known.biases),
        *(thetas.get(name) for name in known.thetas),
    ]
    return {i: gradient for i, gradient in enumerate(every) if gradient is not None}


# -- gradients through them --------------------------------------------------------------------


class _Recorded(torch.autograd.Function):
    """`layer`, whose gradients are an operator as well."""

    @staticmethod
    def forward(ctx: Any, given: Operands, *flat: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        parts = given.parts
        needed = parts.like(ctx.needs_input_grad[1:])
        input_gradient = any(needed.x)
        with torch._C._AutoDispatchBelowAutograd():
            *results, kept = torch.ops.cellwright.layer_keeping(
                *given.with_parts(parts.like(flat)), input_gradient
            )
        ctx.save_for_backward(*flat, kept, given.mask_hidden, given.mask_input, given.lengths)
        ctx.text, ctx.precision, ctx.input_gradient = given.text, given.precision, input_gradient
        ctx.parts = Arguments(*([None] * len(part) for part in parts))
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Any, ...]:
        *flat, kept, mask_hidden, mask_input, lengths = ctx.saved_tensors
        empty = Operands(
            ctx.text, flat[0], None, [], [], [], [], mask_hidden, mask_input, lengths, ctx.precision
        )
        needed = list(ctx.needs_input_grad[1:])
        operands = empty.with_parts(ctx.parts.like(flat))
        # What stands for a tensor while a graph is recorded is no reason for torch.
        if wanted_of_torch([g for g in gradients if type(g) is Tensor]):

            def again(flat: list[Tensor]) -> list[Tensor]:
                return _on_torch(*empty.with_parts(ctx.parts.like(flat)))

            return (None, *torch_gradients(again, flat, needed, gradients))
        needed = _reached(operands, needed)
        found = iter(
            torch.ops.cellwright.layer_gradients(
                *operands, ctx.input_gradient, kept, list(gradients), needed
            )
        )
        return (None, *(next(found) if need else None for need in needed))


def _reached(operands: Operands, needed: list[bool]) -> list[bool]:
    """Those of the gradients needed that are not zero because nobody reads the operand."""
    known = known_cell(operands.text)
    graph = native_backend.programs(operands.call, train=True, input_gradient=True).plan.graph
    owners = {(weight.linear, weight.position) for weight in graph.weights}
    parts = operands.parts.like(needed)
    x = [parts.x[0] and (graph.reads_x or not graph.masks_x)]
    if len(parts.x) == 2:
        x.append(parts.x[1] and graph.masks_x)
    pairs = zip(known.weights, parts.weights, strict=True)
    return parts._replace(x=x, weights=[need and at in owners for at, need in pairs]).flat


def _layer_with_gradients(*given: Any) -> list[Tensor]:
    operands = Operands(*given)
    flat = operands.parts.flat
    learns = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in flat)
    if surroundings.needs_torch() or (learns and not _core_serves(operands)):
        return _on_torch(*given)
    if learns:
        return list(_Recorded.apply(operands, *flat))  # type: ignore[no-untyped-call]
    with torch._C._AutoDispatchBelowAutograd():
        result: list[Tensor] = torch.ops.cellwright.layer(*given)
    return result


def _core_serves(operands: Operands) -> bool:
    return (
        native_backend.available(operands.precision)
        and surroundings.unfit_for_graph(native_backend.tensors_of(operands.call)) is None
    )


def _on_torch(*given: Any) -> list[Tensor]:
    """The layer in operations of torch itself, which knows all derivatives and batches of them."""
    result = torch_backend.run(Operands(*given).call)
    return [result.output, *(state.squeeze(0) for state in result.final)]


_CONTIGUOUS = torch.contiguous_format
_library = torch.library.Library("cellwright", "FRAGMENT")  # type: ignore[no-untyped-call]


def _define(name: str, schema: str, kernel: Any, shapes: Any) -> None:
    _library.define(f"{name}({schema}) -> Tensor[]", tags=(torch.Tag.pt2_compliant_tag,))  # type: ignore[no-untyped-call]
    _library.impl(name, kernel, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]
    torch.library.register_fake(f"cellwright::{name}", shapes, lib=_library)


# Programs that were exported before there was a precision say none.
_define("layer", f'{_OPERANDS}, str precision="float32"', _layer, _layer_shapes)
_define(
    "layer_keeping",
    f"{_OPERANDS}, str precision, bool input_gradient",
    _layer_keeping,
    _layer_keeping_shapes,
)
_define(
    "layer_gradients",
    f"{_OPERANDS}, str precision, bool input_gradient, Tensor kept, Tensor?[] gradients, "
    "bool[] needed",
    _layer_gradients,
    _layer_gradients_shapes,
)
_library.impl("layer", _layer_with_gradients, "Autograd")  # type: ignore[no-untyped-call]
_library.impl("layer", _on_torch, "FuncTorchBatchedDecomposition")  # type: ignore[no-untyped-call]
