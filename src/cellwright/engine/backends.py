"""Who runs a layer: the core, Triton, torch, or the core as an operator in a graph of torch."""

from __future__ import annotations

from collections.abc import Callable

from cellwright.engine import (
    native_backend,
    operators,
    surroundings,
    torch_backend,
    triton_backend,
)
from cellwright.engine.layer import LayerCall, LayerResult
from cellwright.engine.native_job import UnfitTensorError
from cellwright.engine.triton_job import KernelError


def run_or_fall_back(call: LayerCall) -> LayerResult:
    """Run one layer on the core or Triton if that is possible, else on torch, saying so once.

    Nothing is said where torch does more than to compute, such as to trace: it is asked to.
    """
    if surroundings.transformed() is not None:
        return operators.run(call) if _in_graph(call) else torch_backend.run(call)
    if call.x.shape[1] == 0:  # nothing to compute
        return torch_backend.run(call)
    reason = native_backend.refusal(call)
    if reason is None:
        try:
            return native_backend.run(call)
        except (
            UnfitTensorError
        ):  # torch computes with such a tensor, or knows what is wrong with it
            return torch_backend.run(call)
    if triton_backend.refusal(call) is None:
        try:
            return triton_backend.run(call)
        except KernelError as error:
            triton_backend.give_up(error)
    native_backend.warn_once(reason)
    return torch_backend.run(call)


def run_or_refuse(call: LayerCall) -> LayerResult:
    """Run one layer on the core, or say why that is not possible."""
    reason = surroundings.transformed()
    if reason is not None and _in_graph(call):
        return operators.run(call)
    if reason is None and call.x.shape[1] == 0:
        return torch_backend.run(call)
    reason = reason or native_backend.refusal(call)
    if reason is None:
        try:
            return native_backend.run(call)
        except UnfitTensorError as error:
            reason = str(error)
    raise RuntimeError(
        f"the native backend does not serve this call ({reason}): with backend='auto', torch does"
    )


def run_on_triton_or_refuse(call: LayerCall) -> LayerResult:
    """Run one layer with Triton's kernels, or say why that is not possible."""
    reason = surroundings.transformed()
    if reason is None and call.x.shape[1] == 0:
        return torch_backend.run(call)
    reason = reason or triton_backend.refusal(call)
    if reason is not None:
        raise RuntimeError(
            f"the triton backend does not serve this call ({reason}): "
            "with backend='auto', another one does"
        )
    return triton_backend.run(call)


def _in_graph(call: LayerCall) -> bool:
    """Whether the core's operator can stand for this layer where torch records operations."""
    return (
        native_backend.available()
        and surroundings.takes_operators()
        and surroundings.unfit_for_graph(native_backend.tensors_of(call)) is None
    )


BACKENDS: dict[str, Callable[[LayerCall], LayerResult]] = {
    "auto": run_or_fall_back,
    "native": run_or_refuse,
    "torch": torch_backend.run,
    "triton": run_on_triton_or_refuse,
}
