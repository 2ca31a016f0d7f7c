"""Who runs a layer: the core, Triton, torch, or the core as an operator in a graph of torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cellwright.engine import (
    native_backend,
    operators,
    surroundings,
    torch_backend,
    triton_backend,
)
from cellwright.engine.directions import together
from cellwright.engine.layer import LayerCall, LayerResult
from cellwright.engine.native_job import UnfitTensorError
from cellwright.engine.ragged import Ragged
from cellwright.engine.triton_job import KernelError

Calls = Sequence[LayerCall]
"""A layer in its directions."""

Rows = Ragged | None
"""The lengths of its rows, where they are not all the same."""


def run_or_fall_back(calls: Calls, ragged: Rows) -> LayerResult:
    """Run a layer on the core if that is possible, else on torch, saying so once.

    Nothing is said where torch does more than to compute, such as to trace: it is asked to.
    """
    if surroundings.transformed() is not None:
        results = [operators.run(c) if _in_graph(c) else torch_backend.run(c) for c in calls]
        return together(calls, results, ragged)
    if calls[0].x.shape[1] == 0:  # nothing to compute
        return run_on_torch(calls, ragged)
    reason = _refusal(calls)
    if reason is None:
        try:
            return native_backend.run(calls, ragged)
        except UnfitTensorError:
            # torch computes with such a tensor, or knows what is wrong with it.
            return run_on_torch(calls, ragged)
    native_backend.warn_once(reason)
    return run_on_torch(calls, ragged)


def run_or_refuse(calls: Calls, ragged: Rows) -> LayerResult:
    """Run a layer on the core, or say why that is not possible."""
    reason = surroundings.transformed()
    if reason is not None and all(map(_in_graph, calls)):
        return together(calls, [operators.run(call) for call in calls], ragged)
    if reason is None and calls[0].x.shape[1] == 0:
        return run_on_torch(calls, ragged)
    reason = reason or _refusal(calls)
    if reason is None:
        try:
            return native_backend.run(calls, ragged)
        except UnfitTensorError as error:
            reason = str(error)
    raise RuntimeError(
        f"the native backend does not serve this call ({reason}): with backend='auto', torch does"
    )


def run_on_torch(calls: Calls, ragged: Rows) -> LayerResult:
    """Run a layer on torch."""
    return together(calls, [torch_backend.run(call) for call in calls], ragged)


def _refusal(calls: Calls) -> str | None:
    for call in calls:
        reason = native_backend.refusal(call)
        if reason is not None:
            return reason
    return None


def run_on_triton_or_refuse(calls: Calls, ragged: Rows) -> LayerResult:
    """Run a layer with Triton's kernels, or say why that is not possible."""
    reason = surroundings.transformed()
    if reason is None and calls[0].x.shape[1] == 0:
        return run_on_torch(calls, ragged)
    reason = reason or next(filter(None, map(triton_backend.refusal, calls)), None)
    if reason is None:
        try:
            return together(calls, [triton_backend.run(call) for call in calls], ragged)
        except KernelError as error:
            reason = f"Triton fails here: {error}"
    raise RuntimeError(
        f"the triton backend does not serve this call ({reason}): "
        "with backend='auto', another one does"
    )


def _in_graph(call: LayerCall) -> bool:
    """Whether the core's operator can stand for this layer where torch records operations."""
    return (
        native_backend.fits_graphs(call.precision)
        and surroundings.takes_operators()
        and surroundings.unfit_for_graph(native_backend.tensors_of(call)) is None
    )


BACKENDS: dict[str, Callable[[Calls, Rows], LayerResult]] = {
    "auto": run_or_fall_back,
    "native": run_or_refuse,
    "torch": run_on_torch,
    "triton": run_on_triton_or_refuse,
}
