"""Where the native core may compute: on ordinary tensors, when torch computes at once.

The core reads and writes memory by address, which torch does not see. Where torch records
operations instead of computing them, or computes them on something other than plain memory, the
core would give numbers that are wrong, or read memory that is not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.overrides import _get_current_function_mode_stack
from torch.utils._device import DeviceContext
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

_ORDINARY = {Tensor, nn.Parameter}
_USUAL, _kind = {(True, torch.float32)}, attrgetter("is_cpu", "dtype")
_RECORDERS = {  # modes that take operators as they are; by name, because importing them takes long
    "torch._subclasses.fake_tensor.FakeTensorMode",
    "torch._subclasses.functional_tensor.FunctionalTensorMode",
    "torch.fx.experimental.proxy_tensor.ProxyTorchDispatchMode",
}

# Asked for in every call of a layer, so without their wrappers in Python.
_tracing = torch._C._get_tracing_state
_dispatch_modes = torch._C._len_torch_dispatch_stack
_function_modes = torch._C._len_torch_function_stack
_function_transforms = torch._C._functorch.peek_interpreter_stack
transforms_in_graph = torch._C._are_functorch_transforms_active
_autocast = torch._C._is_any_autocast_enabled
_compiling = torch.compiler.is_compiling
_exporting = getattr(torch.compiler, "is_exporting", _compiling)  # torch 2.4 to 2.6 have none


def transformed() -> str | None:
    """What torch does here with operations other than to compute them, or None.

    Then numbers in tensors may not be looked at either: `int(tensor)` fails, or is taken for a
    constant.
    """
    if _compiling():  # first, because the others are not to be seen in a graph
        return "torch records operations for a graph"
    if _tracing() is not None:
        return "torch records operations for a trace"
    if _dispatch_modes():
        return "a mode of torch wants to see all operations"
    if _function_modes() and not _only_default_device():
        return "a mode of torch wants to see all operations"
    if _function_transforms() is not None:
        return "a transform of torch.func works on operations"
    if forward_derivatives():
        return "derivatives are taken forward"
    return None


def takes_operators() -> bool:
    """Whether torch only records operations here, or their shapes, so that the core's may be one.

    A trace of `torch.jit` is no place for it, because others read it, and neither are derivatives
    or modes that want to see what a layer consists of.
    """
    if _compiling():
        return not (transforms_in_graph() or forward_derivatives() or _autocast())
    if _tracing() is not None or needs_torch() or not _dispatch_modes():
        return False
    functions = _get_current_function_mode_stack()  # type: ignore[no-untyped-call]
    return all(_name(mode) in _RECORDERS for mode in _get_current_dispatch_mode_stack()) and all(
        _name(mode).startswith("torch.") for mode in functions
    )


def left_out_of_graphs() -> bool:
    """Whether `torch.compile` looks at this code, which may leave calls out of its graphs."""
    return _compiling() and not _exporting()


def forward_derivatives() -> bool:
    """Whether derivatives are taken forward."""
    return forward_ad._current_level >= 0


def needs_torch() -> bool:
    """Whether operations are transformed in a way that the core's operator does not know."""
    return _function_transforms() is not None or forward_derivatives() or _autocast()


def _name(mode: object) -> str:
    return f"{type(mode).__module__}.{type(mode).__qualname__}"


def _only_default_device() -> bool:
    """Whether modes are there only to say where new tensors belong; the core's say it anyway."""
    modes = _get_current_function_mode_stack()  # type: ignore[no-untyped-call]
    return all(isinstance(mode, DeviceContext) for mode in modes)


def ordinary(tensors: Sequence[Tensor]) -> bool:
    """Whether these are tensors of torch itself, in memory, and stay in their own dtype."""
    if _autocast() or not _ORDINARY.issuperset(map(type, tensors)):
        return False
    return all(tensor.layout is torch.strided and not tensor.is_meta for tensor in tensors)


def unfit(tensors: Sequence[Tensor]) -> str | None:
    """Why the core cannot compute with these tensors, or None if it can.

    Those without memory, such as sparse ones, are found when their memory is asked for.
    """
    if not _USUAL.issuperset(map(_kind, tensors)):
        return unfit_for_graph(tensors)
    if not _ORDINARY.issuperset(map(type, tensors)):
        return "it computes with tensors of torch itself, not of other classes"
    if _autocast():
        return "it computes in torch.float32, not in what autocast chooses"
    return None


def unfit_for_graph(tensors: Sequence[Tensor]) -> str | None:
    """The same for tensors that a graph is recorded with, whatever stands for them now."""
    for tensor in tensors:
        if not tensor.is_cpu:
            return f"it does not run on {tensor.device.type}"
        if tensor.dtype is not torch.float32:
            return f"it computes in torch.float32, not {tensor.dtype}"
    return None
