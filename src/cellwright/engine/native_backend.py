"""The native backend: the C++ core as one autograd function per layer. CPU, float32."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from cellwright.cell import Cell
from cellwright.engine import graph as graphs
from cellwright.engine import torch_backend
from cellwright.engine.layer import LayerCall, LayerResult
from cellwright.engine.plan import Plan, make_plan

try:
    from cellwright.engine import _native
except ImportError:  # the core could not be built: everything runs on torch
    _native = None  # type: ignore[assignment]

_ROW = 16  # floats that rows of the core's memory are padded to
_SPLIT_BYTES = 4_000_000  # from here on a step's weights do not nearly fit a core's cache


def available() -> bool:
    """Whether the core was built for this machine."""
    return _native is not None


def refusal(call: LayerCall) -> str | None:
    """Why this call cannot run here, or None if it can."""
    if _native is None:
        return "the core could not be built on this machine"
    for tensor in (call.x, *call.initial, *call.weights.values(), *call.biases.values()):
        if not tensor.is_cpu:
            return f"it does not run on {tensor.device.type}"
        if tensor.dtype is not torch.float32:
            return f"it computes in torch.float32, not {tensor.dtype}"
    if call.x.shape[1] == 0:
        return "the batch is empty"
    return None


_warned: set[str] = set()


def _warn_once(reason: str) -> None:
    if reason not in _warned:
        _warned.add(reason)
        warnings.warn(
            f"the native backend does not serve this call ({reason}): it runs on torch, more slowly",
            RuntimeWarning,
            stacklevel=3,
        )


def run_or_fall_back(call: LayerCall) -> LayerResult:
    """Run one layer here if that is possible, else on torch, saying so once."""
    reason = refusal(call)
    if reason is None:
        return run(call)
    _warn_once(reason)
    return torch_backend.run(call)


def run(call: LayerCall) -> LayerResult:
    """Run one layer."""
    needs_gradient = torch.is_grad_enabled() and any(t.requires_grad for t in _tensors(call))
    programs = _programs(
        call.cell,
        train=needs_gradient,
        mask_hidden=call.mask_hidden is not None,
        mask_input=call.mask_input is not None,
        input_gradient=needs_gradient
        and (call.x.requires_grad or call.x_for_linears.requires_grad),
    )
    job = _Job(programs, call)
    arguments = job.arguments(call)
    if needs_gradient:
        output, *final = _Run.apply(job, arguments, *arguments.flat)  # type: ignore[no-untyped-call]
    else:
        output, final = job.forward(arguments, keep=False)
    return LayerResult(output, list(final))


def _tensors(call: LayerCall) -> list[Tensor]:
    return [
        call.x, call.x_for_linears, *call.initial, *call.weights.values(),
        *call.biases.values(), *call.theta.values(),
    ]  # fmt: skip


# -- programs ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Memory:
    """Where a plan's stored buffers lie in the workspace, for given sizes."""

    floats: int
    offsets: list[int | str]  # bytes from the start, or whose tensor it is
    row_lengths: list[int]
    weight_bytes: int


@dataclass
class _Programs:
    plan: Plan
    forward: Any
    backward: Any
    memory: dict[tuple[int, int, int, int], _Memory] = field(default_factory=dict)

    def memory_for(self, steps: int, batch: int, hidden: int, input_size: int) -> _Memory:
        """The layout for these sizes, worked out once."""
        key = (steps, batch, hidden, input_size)
        if key not in self.memory:
            if len(self.memory) > 100:  # sequences of many different lengths
                self.memory.clear()
            self.memory[key] = _lay_out(self.plan, *key)
        return self.memory[key]


def _lay_out(plan: Plan, steps: int, batch: int, hidden: int, input_size: int) -> _Memory:
    width = {graphs.HIDDEN: hidden, graphs.INPUT: input_size}
    floats = 0
    offsets: list[int | str] = []
    row_lengths = []
    for buffer in plan.stored:
        row = _padded(width[buffer.width])
        row_lengths.append(row)
        if buffer.owner == "workspace":
            offsets.append(4 * floats)
            floats += (steps + buffer.lead) * batch * row
        else:
            offsets.append(buffer.owner)
    weight_bytes = sum(4 * width[w.rows] * width[w.columns] for w in plan.graph.weights)
    return _Memory(floats, offsets, row_lengths, weight_bytes)


def _programs(cell: Cell, **flags: bool) -> _Programs:
    """The cell's programs for these flags. They are kept with the cell object itself."""
    per_cell: dict[tuple[bool, ...], _Programs] = cell.__dict__.setdefault("_programs", {})
    key = tuple(flags.values())
    if key not in per_cell:
        graph = graphs.build(
            cell, mask_hidden=flags["mask_hidden"], mask_input=flags["mask_input"]
        )
        plan = make_plan(graph, train=flags["train"], input_gradient=flags["input_gradient"])
        backward = _native.Program(**plan.backward) if plan.backward else None
        per_cell[key] = _Programs(plan, _native.Program(**plan.forward), backward)
    return per_cell[key]


# -- memory --------------------------------------------------------------------------------


class _Workspaces:
    """Memory of past calls, to be used again: fresh pages cost more than small cells do."""

    _MOST = 4

    def __init__(self) -> None:
        self._free: list[Tensor] = []
        self._lock = threading.Lock()

    def take(self, floats: int) -> Tensor:
        with self._lock:
            fitting = [t for t in self._free if floats <= t.numel() <= 2 * floats + 4096]
            if fitting:
                best = min(fitting, key=lambda t: t.numel())
                self._free = [t for t in self._free if t is not best]
                return best
        return torch.empty(floats)

    def give_back(self, memory: Tensor) -> None:
        with self._lock:
            self._free = [*self._free[-self._MOST + 1 :], memory]


_workspaces = _Workspaces()


# -- one call ------------------------------------------------------------------------------


def _padded(width: int) -> int:
    return -(-width // _ROW) * _ROW


class _Arguments(NamedTuple):
    """The tensors of a call in the order of the plan, or their gradients, by kind."""

    x: list[Any]
    initial: list[Any]
    weights: list[Any]
    biases: list[Any]
    theta: list[Any]

    @property
    def flat(self) -> list[Any]:
        """All in one list."""
        return [tensor for part in self for tensor in part]

    def like(self, flat: list[Any]) -> _Arguments:
        """Another list with the same parts."""
        parts, begin = [], 0
        for part in self:
            parts.append(flat[begin : begin + len(part)])
            begin += len(part)
        return _Arguments(*parts)


class _Job:
    """One call of the core: sizes, masks, and the memory that its passes share."""

    def __init__(self, programs: _Programs, call: LayerCall) -> None:
        self.programs = programs
        self.cell = call.cell
        self.active = call.active
        self.masks = (call.mask_hidden, call.mask_input)
        self.steps, self.batch = call.steps, call.x.shape[1]
        self.hidden, self.input = call.hidden_size, call.x.shape[2]
        self.memory = programs.memory_for(self.steps, self.batch, self.hidden, self.input)
        self.workspace: Tensor | None = None
        self.padded_masks = [
            None if mask is None else F.pad(mask, (0, _padded(mask.shape[1]) - mask.shape[1]))
            for mask in self.masks
        ]

    def arguments(self, call: LayerCall) -> _Arguments:
        """The call's tensors as the core wants them."""
        graph = self.programs.plan.graph
        x = call.x
        if graph.reads_x and self.input % _ROW:
            x = F.pad(x, (0, _padded(self.input) - self.input))
        return _Arguments(
            [x.contiguous(), call.x_for_linears.contiguous() if graph.masks_x else x],
            [state.contiguous() for state in call.initial],
            [call.weights[w.linear, w.position].contiguous() for w in graph.weights],
            [call.biases[name].contiguous() for name in graph.biases],
            [call.theta[name] for name in graph.thetas],
        )

    def forward(self, arguments: _Arguments, *, keep: bool) -> tuple[Tensor, list[Tensor]]:
        """Outputs and final states; with `keep`, what backward needs stays in the workspace."""
        output = torch.empty(self.steps, self.batch, self.hidden)
        final = [torch.empty(self.batch, self.hidden) for _ in arguments.initial]
        self.workspace = _workspaces.take(self.memory.floats)
        self._run(
            self.programs.forward,
            arguments,
            output=output.data_ptr(),
            final_states=_addresses(final),
        )
        if not keep:
            self._release()
        return output, final

    def backward(
        self,
        arguments: _Arguments,
        needed: _Arguments,
        output: Tensor | None,
        final: list[Tensor | None],
    ) -> list[Tensor | None]:
        """Gradients of the arguments, None where not needed."""
        if self.workspace is None:  # a second backward pass: the first one used it up
            self.forward(arguments, keep=True)
        if output is None:
            output = torch.zeros(self.steps, self.batch, self.hidden)
        output = output.contiguous()
        final = [None if gradient is None else gradient.contiguous() for gradient in final]
        plan = self.programs.plan
        shared = plan.adds_to_input_gradient
        owners = {buffer.owner for buffer in plan.stored}
        x_gradients = {
            f"gradient of {owner}": torch.zeros_like(tensor) if shared else torch.empty_like(tensor)
            for owner, tensor in zip(("x", "masked x"), arguments.x, strict=True)
            if f"gradient of {owner}" in owners
        }
        found = _Arguments(
            [x_gradients.get("gradient of x"), x_gradients.get("gradient of masked x")],
            *(
                [torch.empty_like(t) if need else None for t, need in zip(*pair, strict=True)]
                for pair in zip(arguments[1:4], needed[1:4], strict=True)
            ),
            [],
        )
        # Each row sums its own, so that the result does not depend on the threads.
        theta_rows = torch.zeros(self.batch if arguments.theta else 0, plan.graph.theta_count)
        self._run(
            self.programs.backward,
            arguments,
            buffers=x_gradients,
            output_gradient=output.data_ptr(),
            final_gradients=_addresses(final),
            initial_gradients=_addresses(found.initial),
            weight_gradients=_addresses(found.weights),
            bias_gradients=_addresses(found.biases),
            theta_gradient=theta_rows.data_ptr(),
        )
        self._release()
        x = [g if need else None for g, need in zip(found.x, needed.x, strict=True)]
        theta: list[Tensor] = []
        if arguments.theta:
            theta = list(theta_rows.sum(0).split([len(t) for t in arguments.theta]))
        return found._replace(x=x, theta=theta).flat

    def _run(
        self,
        program: Any,
        arguments: _Arguments,
        *,
        buffers: Mapping[str, Tensor] = MappingProxyType({}),
        **outputs: Any,
    ) -> None:
        x, x_for_linears = arguments.x
        tensors = {"x": x, "masked x": x_for_linears, **buffers}
        stored, row_lengths = self._stored(tensors)
        theta = torch.cat(arguments.theta) if arguments.theta else _NOTHING
        threads = torch.get_num_threads()
        program.run(
            steps=self.steps,
            batch=self.batch,
            hidden=self.hidden,
            input=self.input,
            active=self.active,
            stored=stored,
            stored_ld=row_lengths,
            constants=_addresses(self.padded_masks),
            weights=_addresses(arguments.weights),
            biases=_addresses(arguments.biases),
            theta=theta.data_ptr(),
            initial=_addresses(arguments.initial),
            threads=threads,
            split_columns=_split_columns(self.batch, threads, self.memory.weight_bytes),
            **{**_NO_OUTPUTS, **outputs},
        )

    def _stored(self, tensors: Mapping[str, Tensor]) -> tuple[list[int], list[int]]:
        """Addresses and row lengths of all stored buffers."""
        assert self.workspace is not None
        start = self.workspace.data_ptr()
        addresses, row_lengths = [], self.memory.row_lengths.copy()
        for i, offset in enumerate(self.memory.offsets):
            if isinstance(offset, int):
                addresses.append(start + offset)
                continue
            tensor = tensors.get(offset)
            addresses.append(0 if tensor is None else tensor.data_ptr())
            row_lengths[i] = 0 if tensor is None else tensor.shape[2]
        return addresses, row_lengths

    def _release(self) -> None:
        if self.workspace is not None:
            _workspaces.give_back(self.workspace)
        self.workspace = None

    def on_torch(self, arguments: _Arguments) -> LayerResult:
        """The same on the torch backend, for gradients of gradients."""
        graph = self.programs.plan.graph
        x, x_for_linears = (tensor[..., : self.input] for tensor in arguments.x)
        return torch_backend.run(
            LayerCall(
                cell=self.cell,
                x=x,
                x_for_linears=x_for_linears,
                initial=arguments.initial,
                weights={at: arguments.weights[i] for at, i in graph.weight_of.items()},
                biases=dict(zip(graph.biases, arguments.biases, strict=True)),
                mask_hidden=self.masks[0],
                mask_input=self.masks[1],
                theta=dict(zip(graph.thetas, arguments.theta, strict=True)),
                active=self.active,
            )
        )


_NOTHING = torch.empty(0)
_NO_OUTPUTS: dict[str, Any] = {
    "weight_gradients": [],
    "bias_gradients": [],
    "theta_gradient": 0,
    "output": 0,
    "output_gradient": 0,
    "final_states": [],
    "final_gradients": [],
    "initial_gradients": [],
}


def _split_columns(batch: int, threads: int, weight_bytes: int) -> bool:
    """Whether threads share columns: few rows each, and weights that do not fit a cache."""
    rows = batch / threads
    return threads > 1 and (rows < 4 or (rows <= 16 and weight_bytes > _SPLIT_BYTES))


def _addresses(tensors: Sequence[Tensor | None]) -> list[int]:
    return [0 if tensor is None else tensor.data_ptr() for tensor in tensors]


class _Run(torch.autograd.Function):
    """The core's two passes, joined for autograd."""

    @staticmethod
    def forward(ctx: Any, job: _Job, shape: _Arguments, *flat: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*flat)
        ctx.job, ctx.parts = job, _Arguments(*([None] * len(part) for part in shape))
        output, final = job.forward(shape.like(list(flat)), keep=True)
        return (output, *final)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Any, ...]:
        job: _Job = ctx.job
        arguments = ctx.parts.like(list(ctx.saved_tensors))
        needed = ctx.parts.like(list(ctx.needs_input_grad[2:]))
        if torch.is_grad_enabled():  # create_graph=True
            return (None, None, *_differentiable(job, arguments, needed, gradients))
        return (None, None, *job.backward(arguments, needed, gradients[0], list(gradients[1:])))


def _differentiable(
    job: _Job, arguments: _Arguments, needed: _Arguments, gradients: tuple[Tensor | None, ...]
) -> list[Tensor | None]:
    """Gradients that can be differentiated again, by way of torch."""
    _warn_once("it has no gradients of gradients")
    result = job.on_torch(arguments)
    pairs = [
        (value, gradient)
        for value, gradient in zip([result.output, *result.final], gradients, strict=True)
        if gradient is not None and value.requires_grad
    ]
    wanted = [a for a, need in zip(arguments.flat, needed.flat, strict=True) if need]
    found = iter(
        torch.autograd.grad(
            [value for value, _ in pairs],
            wanted,
            [gradient for _, gradient in pairs],
            create_graph=True,
            allow_unused=True,
        )
    )
    return [next(found) if need else None for need in needed.flat]
