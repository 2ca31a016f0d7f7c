"""One layer for the native core: its tensors, its two passes, and their memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from cellwright.cell import Cell
from cellwright.engine.layer import LayerCall
from cellwright.engine.native_memory import ROW, address, padded, workspaces
from cellwright.engine.native_programs import Programs

if TYPE_CHECKING:
    from cellwright.engine import _native


class UnfitTensorError(RuntimeError):
    """A tensor that the core cannot compute with, as far as only the job can see."""


class NoMemoryError(UnfitTensorError):
    """A tensor that has numbers, but not one after the other in memory, such as a sparse one."""

    def __init__(self) -> None:
        super().__init__("it computes with numbers in memory, and a tensor has none")


_NO_SUCH_SHAPE = "a weight, bias or state is not of the shape that the cell asks for"


class Arguments(NamedTuple):
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

    def like(self, flat: Sequence[Any]) -> Arguments:
        """Another list, cut into the same parts."""
        parts, begin = [], 0
        for part in self:
            parts.append(list(flat[begin : begin + len(part)]))
            begin += len(part)
        return Arguments(*parts)


class Pass(NamedTuple):
    """A pass of a job that is ready to be run."""

    job: Job
    call: _native.Call
    is_backward: bool
    gradients: list[Any]
    """Those that a pass backwards fills; a pass forward fills what it was given."""
    read: object = None
    """What has to stay in memory until it has run."""


class Job:
    """One call: sizes, masks, and the memory that its passes share."""

    def __init__(self, programs: Programs, call: LayerCall) -> None:
        self.programs = programs
        self.cell = call.cell
        assert not isinstance(call.active, Tensor)  # lengths are looked at wherever the core runs
        self.active = call.active
        self.masks = (call.mask_hidden, call.mask_input)
        self.steps, self.batch = call.steps, call.x.shape[1]
        self.hidden, self.input = call.hidden_size, call.x.shape[2]
        self.memory = programs.memory(self.steps, self.batch, self.hidden, self.input)
        self.kept = call.kept
        self.precision = call.precision
        self.backwards = call.backwards
        self.part, self.parts = 0, 1
        """Which of the directions whose results stand side by side, and of how many."""
        self.workspace: Tensor | None = None
        self.taken: Tensor | None = None
        self.padded_masks = [
            None if mask is None else F.pad(mask, (0, padded(mask.shape[1]) - mask.shape[1]))
            for mask in self.masks
        ]

    def arguments(self, call: LayerCall) -> Arguments:
        """The call's tensors as the core wants them."""
        try:
            arguments = self._dense(call)
        except RuntimeError as error:
            raise NoMemoryError from error
        states = [] if call.initial is None else self.memory.state_shapes
        for tensors, shapes in (
            (arguments.weights, self.memory.weight_shapes),
            (arguments.biases, self.memory.bias_shapes),
            (arguments.initial, states),
        ):
            if list(map(_shape, tensors)) != shapes:  # the core would read elsewhere
                raise UnfitTensorError(_NO_SUCH_SHAPE)
        return arguments

    def _dense(self, call: LayerCall) -> Arguments:
        graph = self.programs.plan.graph
        x = call.x.contiguous()
        if graph.reads_x and self.input % ROW:
            x = F.pad(x, (0, padded(self.input) - self.input))
        return Arguments(
            [x, call.x_for_linears.contiguous() if graph.masks_x else x],
            [*map(_contiguous, call.initial or ())],
            [call.weights[at].contiguous() for at in self.programs.weight_places],
            [call.biases[name].contiguous() for name in graph.biases],
            self._theta(call),
        )

    def _theta(self, call: LayerCall) -> list[Tensor]:
        """The numbers θ of all mixes in one tensor."""
        places = self.programs.thetas
        if not places.sizes:
            return []
        parts = torch.cat([call.theta[name] for name in places.sizes])
        if len(parts) != places.total:
            raise UnfitTensorError(_NO_SUCH_SHAPE)
        numbers = parts.index_select(0, places.chosen)
        if places.once:
            return [numbers]
        zeros = call.x.new_zeros(self.programs.plan.graph.theta_count)
        return [zeros.index_add(0, places.numbers, numbers)]

    def theta_gradients(self, gradient: Tensor) -> dict[str, Tensor]:
        """The gradients of the call's θ from that of the one tensor."""
        places = self.programs.thetas
        each = gradient.index_select(0, places.numbers)
        sums = gradient.new_zeros(places.total).index_add_(0, places.chosen, each)
        parts = torch.split(sums, [*places.sizes.values()])
        return dict(zip(places.sizes, map(torch.clone, parts), strict=True))

    # -- the two passes ----------------------------------------------------------------

    def new_results(self, arguments: Arguments) -> tuple[Tensor, list[Tensor]]:
        """Memory for the outputs and final states of this job and those that stand beside it."""
        new = arguments.x[0].new_empty  # like x, whatever torch's defaults are
        output = new(self.steps, self.batch, self.parts * self.hidden)
        return output, [new(self.parts, self.batch, self.hidden) for _ in self.memory.state_shapes]

    def forward(
        self,
        arguments: Arguments,
        output: Tensor,
        final: Sequence[Tensor],
        *,
        workspace: Tensor | None = None,
    ) -> Pass:
        """The pass to outputs and final states; what backward needs is in the workspace then."""
        if workspace is None:
            workspace = workspaces.take(self.memory.floats)
        self.workspace = workspace
        call = self._call(
            self.programs.forward,
            arguments,
            {},
            (*self._own(output, final), address(self._take_kept()), *_NO_GRADIENTS),
        )
        return Pass(self, call, False, [])

    def _own(self, output: Tensor, final: Sequence[Tensor | None]) -> tuple[int, list[int]]:
        """Where this job's outputs and final states begin, or their gradients."""
        states = _addresses(final)
        if self.part:
            behind = 4 * self.part * self.batch * self.hidden
            states = [state and state + behind for state in states]
        return output.data_ptr() + 4 * self.part * self.hidden, states

    def dense_gradients(
        self, arguments: Arguments, output: Tensor | None, *final: Tensor | None
    ) -> tuple[Tensor, list[Tensor | None]]:
        """Gradients of results as the core reads them."""
        if output is None:
            output = arguments.x[0].new_zeros(self.steps, self.batch, self.parts * self.hidden)
        dense = [None if gradient is None else gradient.contiguous() for gradient in final]
        return output.contiguous(), dense

    def backward(
        self,
        arguments: Arguments,
        needed: Arguments,
        output: Tensor,
        final: Sequence[Tensor | None],
    ) -> Pass:
        """The pass to the gradients of the arguments, None where not needed."""
        inputs = self._input_gradients(arguments)
        initial, weights, biases = (
            [torch.empty_like(t) if need else None for t, need in zip(*pair, strict=True)]
            for pair in zip(arguments[1:4], needed[1:4], strict=True)
        )
        # Each row sums its own, so that the result does not depend on the threads.
        thetas = self.programs.plan.graph.theta_count
        theta_rows = arguments.x[0].new_zeros(self.batch, thetas) if thetas else None
        call = self._call(
            self.programs.backward,
            arguments,
            inputs,
            (
                *_NO_OUTPUTS,
                *self._own(output, final),
                _addresses(initial),
                _addresses(weights),
                _addresses(biases),
                address(theta_rows),
            ),
        )
        x = [
            inputs.get(f"gradient of {owner}") if need else None
            for owner, need in zip(_X, needed.x, strict=True)
        ]
        results = Arguments(x, initial, weights, biases, [] if theta_rows is None else [theta_rows])
        return Pass(self, call, True, results.flat, (output, final))

    def _input_gradients(self, arguments: Arguments) -> dict[str, Tensor]:
        """Memory for the gradients of x that the plan asks for."""
        plan = self.programs.plan
        owners = {buffer.owner for buffer in plan.stored}
        make = torch.zeros_like if plan.adds_to_input_gradient else torch.empty_like
        return {
            f"gradient of {owner}": make(tensor)
            for owner, tensor in zip(_X, arguments.x, strict=True)
            if f"gradient of {owner}" in owners
        }

    def _call(
        self,
        program: _native.Program | None,
        arguments: Arguments,
        buffers: dict[str, Tensor],
        results: tuple[Any, ...],
    ) -> _native.Call:
        assert program is not None
        assert self.workspace is not None
        tensors = {**dict(zip(_X, arguments.x, strict=True)), **buffers}
        try:
            stored, row_lengths = self.memory.addresses(self.workspace, tensors)
            x, initial, weights, biases, theta = ([*map(_address, part)] for part in arguments)
        except RuntimeError as error:  # what is left of a transform of torch.func
            raise NoMemoryError from error
        if 0 in x or 0 in initial or 0 in weights or 0 in biases or 0 in theta:
            raise NoMemoryError
        # By position: names of so many arguments would cost more than a small cell's arithmetic.
        return program.call(
            self.steps,
            self.batch,
            self.hidden,
            self.input,
            self.parts * self.hidden,
            self.parts > 1 and self.backwards,
            self.active,
            stored,
            row_lengths,
            _addresses(self.padded_masks),
            weights,
            biases,
            theta[0] if theta else 0,
            initial,
            *results,
        )

    def _take_kept(self) -> Tensor | None:
        """Memory with packed weights, for calls so small that packing them is much of the work."""
        if self.kept is None or self.steps * self.batch > _MOST_ROWS_TO_KEEP_FOR:
            return None
        floats = self.programs.kept_floats(self.hidden, self.input)
        self.taken = self.kept.take(self.programs, floats)
        return self.taken

    def release(self) -> None:
        """Give all memory back."""
        if self.workspace is not None:
            workspaces.give_back(self.workspace)
        self.workspace = None
        self.give_back_kept()

    def give_back_kept(self) -> None:
        """Give the packed weights back."""
        if self.kept is not None and self.taken is not None:
            self.kept.give_back(self.programs, self.taken)
        self.taken = None

    def as_call(self, arguments: Arguments) -> LayerCall:
        """The job as a call of the torch backend, for gradients that the core does not give."""
        graph = self.programs.plan.graph
        x, x_for_linears = (tensor[..., : self.input] for tensor in arguments.x)
        cell, theta = self._unmerged_theta(arguments)
        return LayerCall(
            cell=cell,
            x=x,
            x_for_linears=x_for_linears,
            hidden_size=self.hidden,
            initial=arguments.initial or None,
            weights={at: arguments.weights[i] for at, i in graph.weight_of.items()},
            biases=dict(zip(graph.biases, arguments.biases, strict=True)),
            mask_hidden=self.masks[0],
            mask_input=self.masks[1],
            theta=theta,
            active=self.active,
            precision=self.precision,
            backwards=self.parts > 1 and self.backwards,
        )

    def _unmerged_theta(self, arguments: Arguments) -> tuple[Cell, dict[str, Tensor]]:
        """The cell with a θ of its own for each mix, and those θ: merged weights stand once."""
        if not arguments.theta:
            return self.cell, {}
        places: dict[int, tuple[str, int]] = {}
        for term in self.programs.plan.graph.thetas:
            places.setdefault(term.number, (term.mix, term.position))
        nodes = [replace(node, theta=None) for node in self.cell.nodes]
        theta = {
            node.name: [arguments.theta[0].new_zeros(())] * len(node.inputs)
            for node in nodes
            if node.op == "mix"
        }
        for number, (mix, position) in places.items():
            theta[mix][position] = arguments.theta[0][number]
        cell = Cell(nodes, self.cell.states, self.cell.output)
        return cell, {name: torch.stack(values) for name, values in theta.items()}


_MOST_ROWS_TO_KEEP_FOR = 512  # of all steps; for more of them packing is a small part of the work
_X = ("x", "masked x")
_NO_OUTPUTS: tuple[Any, ...] = (0, [], 0)
_NO_GRADIENTS: tuple[Any, ...] = (0, [], [], [], [], 0)


def _addresses(tensors: Sequence[Tensor | None]) -> list[int]:
    return [0 if tensor is None else tensor.data_ptr() for tensor in tensors]


# In every call of a layer, for all its tensors.
_shape, _contiguous, _address = attrgetter("shape"), Tensor.contiguous, Tensor.data_ptr
