"""One call of a layer with Triton's kernels: its buffers and its two passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from cellwright.engine.graph import HIDDEN, INPUT, Accumulator
from cellwright.engine.layer import LayerCall
from cellwright.engine.torch_backend import rows_at_work
from cellwright.engine.triton_code import Pass, Phase, Place, kernel
from cellwright.engine.triton_plan import OUTPUT, X_FOR_LINEARS, Plan, SumGroup, X

_BLOCK = 256  # columns of a program: few, because a step's work is small and a GPU is wide

Buffers = dict[str, Tensor]
"""Tensors of (steps, rows, columns) by name."""


class KernelError(RuntimeError):
    """Triton could not compile or start a kernel."""


class Job:
    """The sizes of a call, and the passes over all its steps."""

    def __init__(self, plan: Plan, call: LayerCall) -> None:
        self.plan = plan
        self.steps, self.batch = call.steps, call.x.shape[1]
        self.sizes = {HIDDEN: call.hidden_size, INPUT: call.x.shape[2]}
        assert not isinstance(call.active, Tensor)
        self.active = call.active
        self.lengths: Tensor | None = None
        self.busy_steps = self.steps  # those at which any row is at work
        if call.active is not None:
            self.busy_steps = sum(rows > 0 for rows in call.active)
            counts = torch.tensor(call.active, device="cpu").unsqueeze(1)
            lengths = (counts > torch.arange(self.batch, device="cpu")).sum(0)
            self.lengths = lengths.to(call.x.device)

    # -- forward -----------------------------------------------------------------------

    def forward(self, call: LayerCall, *, keep: bool) -> tuple[Tensor, list[Tensor], Buffers]:
        """Outputs, last states, and the buffers; with `keep`, these are what backward needs."""
        buffers = self._buffers(call, keep)
        views = {name: buffer.unbind(0) for name, buffer in buffers.items()}
        theta = self._theta(call)
        biases = {group.buffer: self._bias(group, call) for group in self.plan.groups}
        weights = {group.buffer: self._weights(group, call) for group in self.plan.groups}
        for t in range(self.busy_steps):
            slot = t if keep else 0
            for level in self.plan.levels:
                for group in level.groups:
                    self._add_products(group, views, weights, biases, t, slot)
                for given, normed, epsilon in level.batch_norms:
                    a, result = (
                        self._at(views, self.plan.place[n], t, slot) for n in (given, normed)
                    )
                    result.copy_(_batch_norm(a, epsilon)[0])
                for phase in level.phases:
                    self._launch(phase, phase.forward, t, slot, theta, buffers, {})
        return buffers[OUTPUT], [s.clone().unsqueeze(0) for s in self._ends(buffers)], buffers

    def _buffers(self, call: LayerCall, keep: bool) -> Buffers:
        graph, plan = self.plan.graph, self.plan
        hidden = self.sizes[HIDDEN]
        slots = self.steps if keep else 1
        # Weight gradients are sums over all rows, where a row that has ended adds 0 times what
        # is here.
        new = call.x.new_empty if self.active is None else call.x.new_zeros
        buffers = {X: call.x.contiguous(), X_FOR_LINEARS: call.x_for_linears.contiguous()}
        for kind, mask in ((HIDDEN, call.mask_hidden), (INPUT, call.mask_input)):
            if mask is not None:
                buffers[f"mask {kind}"] = mask.contiguous().unsqueeze(0)
        history = graph.state_history
        before = call.states_before()
        for state in range(len(graph.states)):
            past = before[state * history : (state + 1) * history]
            buffers[f"state {state}"] = new(history + self.steps, self.batch, hidden)
            torch.stack(past[::-1], out=buffers[f"state {state}"][:history])
        for number in plan.stored:
            width = self.sizes[plan.items[number].width]
            buffers[f"value {number}"] = new(slots, self.batch, width)
        for group in plan.groups:
            if group.clock == "slot":
                width = self.sizes[group.width] * len(group.members)
                buffers[group.buffer] = new(slots, self.batch, width)
            else:
                buffers[group.buffer] = self._before_the_loop(group, call, buffers)
        buffers[OUTPUT] = new(self.steps, self.batch, hidden)
        return buffers

    def _before_the_loop(self, group: SumGroup, call: LayerCall, buffers: Buffers) -> Tensor:
        """The biases, and the products with x for all steps at once."""
        bias = self._bias(group, call)
        total: Tensor | None = None
        weights = self._weights(group, call)[len(group.operands) :]
        for shift, weight in zip(group.shifts, weights, strict=True):
            x = self._all_steps(buffers, self._x_at(shift))
            if total is not None:
                total.addmm_(x, weight.t())
            else:
                total = x @ weight.t() if bias is None else torch.addmm(bias, x, weight.t())
        if total is None:
            assert bias is not None
            total = bias.repeat(self.steps * self.batch, 1)
        return total.view(self.steps, self.batch, -1)

    def _add_products(
        self,
        group: SumGroup,
        views: dict[str, tuple[Tensor, ...]],
        weights: dict[str, list[Tensor]],
        biases: dict[str, Tensor | None],
        t: int,
        slot: int,
    ) -> None:
        total = self._at(views, group.place, t, slot)
        begun, bias = bool(group.shifts), biases[group.buffer]
        for number, weight in zip(group.operands, weights[group.buffer], strict=False):
            operand = self._at(views, self.plan.place[number], t, slot)
            if begun:
                total.addmm_(operand, weight.t())
            elif bias is None:
                torch.mm(operand, weight.t(), out=total)
            else:
                torch.addmm(bias, operand, weight.t(), out=total)
            begun = True

    def _ends(self, buffers: Buffers) -> list[Tensor]:
        """Each state as it was at each row's last steps, nearest first."""
        found = []
        for state in range(len(self.plan.graph.states)):
            buffer = buffers[f"state {state}"]
            found += [buffer[at] for at in self._last_steps()]
        return found

    def _last_steps(self) -> list[Any]:
        """Where a state's buffer has each row's last steps, nearest first."""
        history = self.plan.graph.state_history
        if self.lengths is None:
            return [self.steps + history - 1 - back for back in range(history)]
        rows = torch.arange(self.batch, device=self.lengths.device)
        return [(self.lengths + (history - 1 - back), rows) for back in range(history)]

    # -- backward ----------------------------------------------------------------------

    def backward(
        self,
        call: LayerCall,
        buffers: Buffers,
        needed: set[str],
        output: Tensor | None,
        final: Sequence[Tensor | None],
    ) -> dict[Any, Tensor]:
        """Gradients by what they are of: "x", ("initial", 0), ("weight", 0), …

        `needed` says which kinds are wanted.
        """
        if output is None:
            output = call.x.new_zeros(self.steps, self.batch, self.sizes[HIDDEN])
        gradients = self._gradient_buffers(buffers, output, final)
        values = {name: buffer.unbind(0) for name, buffer in buffers.items()}
        views = {name: buffer.unbind(0) for name, buffer in gradients.items()}
        theta = self._theta(call)
        blocks = -(-max(self.sizes.values()) // _BLOCK)
        theta_rows = call.x.new_zeros(self.batch * blocks, self.plan.graph.theta_count)
        weights = {group.buffer: self._weights(group, call) for group in self.plan.groups}
        for t in reversed(range(self.busy_steps)):
            for level in reversed(self.plan.levels):
                for phase in level.phases:
                    self._launch(
                        phase, phase.backward, t, t, [*theta, theta_rows], buffers, gradients
                    )
                for given, normed, epsilon in level.batch_norms:
                    place = self.plan.place[given]
                    a = self._at(values, place, t, t)
                    g = self._at(views, self.plan.place[normed], t, t)
                    self._at(views, place, t, t).add_(_batch_norm_gradient(a, g, epsilon))
                for group in level.groups:
                    g = self._at(views, group.place, t, t)
                    for number, weight in zip(group.operands, weights[group.buffer], strict=False):
                        self._at(views, self.plan.place[number], t, t).addmm_(g, weight)
        return self._results(call, buffers, gradients, needed, weights, theta_rows)

    def _gradient_buffers(
        self, buffers: Buffers, output: Tensor, final: Sequence[Tensor | None]
    ) -> Buffers:
        """Zeros, and the gradients that arrive: every kernel and product adds to what is there."""
        without = {X_FOR_LINEARS, "mask 0", "mask 1"} | (set() if self.plan.graph.reads_x else {X})
        gradients = {n: torch.zeros_like(b) for n, b in buffers.items() if n not in without}
        if self.lengths is not None:  # behind a row's end the output is 0, whatever the cell does
            at_work = rows_at_work(self.lengths, self.steps).unsqueeze(2)
            output = output.masked_fill(~at_work, 0.0)
        gradients[OUTPUT] = output.contiguous()
        history = self.plan.graph.state_history
        for number, gradient in enumerate(final):
            if gradient is not None:
                state, back = divmod(number, history)
                gradients[f"state {state}"][self._last_steps()[back]] += gradient.squeeze(0)
        return gradients

    def _results(
        self,
        call: LayerCall,
        buffers: Buffers,
        gradients: Buffers,
        needed: set[str],
        weights: dict[str, list[Tensor]],
        theta_rows: Tensor,
    ) -> dict[Any, Tensor]:
        """The sums over all steps: gradients of weights, biases and x."""
        graph = self.plan.graph
        results: dict[Any, Tensor] = {}

        def add(key: Any, gradient: Tensor) -> None:
            results[key] = results[key] + gradient if key in results else gradient

        for group in self.plan.groups:
            g = gradients[group.buffer].flatten(0, 1)
            places = [self.plan.place[number] for number in group.operands]
            places += [self._x_at(shift) for shift in group.shifts]
            if "weights" in needed:
                for place, numbers in zip(places, group.weights, strict=True):
                    parts = (g.t() @ self._all_steps(buffers, place)).chunk(len(numbers))
                    for number, part in zip(numbers, parts, strict=True):
                        add(("weight", number), part)
            if "biases" in needed:
                parts = g.sum(0).chunk(len(group.members))
                for member, part in zip(group.members, parts, strict=True):
                    for number in member.biases:
                        add(("bias", number), part)
            if X_FOR_LINEARS in needed:
                for shift, weight in zip(
                    group.shifts, weights[group.buffer][len(group.operands) :], strict=True
                ):
                    if X_FOR_LINEARS not in results:
                        results[X_FOR_LINEARS] = torch.zeros_like(buffers[X_FOR_LINEARS])
                    target = self._all_steps(results, self._x_at(shift))
                    target.addmm_(g, weight)
        if X in gradients:
            results[X] = gradients[X]
        history = graph.state_history
        for number in range(graph.initial_count):
            state, back = divmod(number, history)
            results["initial", number] = gradients[f"state {state}"][history - 1 - back].clone()
        if call.theta:
            at, of_each = self.plan.theta_places(call.x.device)
            sizes = list(self.plan.theta_sizes.values())
            sums = theta_rows.new_zeros(sum(sizes)).index_add_(0, at, theta_rows.sum(0)[of_each])
            thetas = zip(self.plan.theta_sizes, torch.split(sums, sizes), strict=True)
            results |= {("theta", name): gradient for name, gradient in thetas}
        return results

    # -- what both passes need ---------------------------------------------------------

    def _rows(self, t: int) -> int:
        return self.batch if self.active is None else self.active[t]

    def _at(self, views: dict[str, tuple[Tensor, ...]], place: Place, t: int, slot: int) -> Tensor:
        """The rows at work of a value at a step."""
        found = views[place.buffer][place.step(t, slot)]
        rows = self._rows(t)
        if rows < self.batch:
            found = found[:rows]
        return _part(found, place)

    def _all_steps(self, buffers: Buffers, place: Place) -> Tensor:
        """A value at all steps: (steps · batch, columns)."""
        buffer = buffers[place.buffer][place.shift : place.shift + self.steps]
        return _part(buffer.view(self.steps * self.batch, -1), place)

    def _x_at(self, shift: int) -> Place:
        return Place(X_FOR_LINEARS, "t", self.plan.graph.input_history - shift)

    def _weights(self, group: SumGroup, call: LayerCall) -> list[Tensor]:
        """The matrices of a group, those of all members below each other."""
        graph = self.plan.graph
        found = []
        for numbers in group.weights:
            named = [graph.weights[number] for number in numbers]
            matrices = [call.weights[w.linear, w.position] for w in named]
            found.append(matrices[0] if len(matrices) == 1 else torch.cat(matrices))
        return found

    def _bias(self, group: SumGroup, call: LayerCall) -> Tensor | None:
        if not any(member.biases for member in group.members):
            return None
        return torch.cat([self._bias_of(member, call) for member in group.members])

    def _bias_of(self, member: Accumulator, call: LayerCall) -> Tensor:
        if not member.biases:
            return call.x.new_zeros(self.sizes[member.width])
        biases = [call.biases[self.plan.graph.biases[number]] for number in member.biases]
        return sum(biases[1:], start=biases[0])

    def _theta(self, call: LayerCall) -> list[Tensor]:
        """The numbers θ of all mixes in one tensor."""
        if not call.theta:
            return []
        at, numbers = self.plan.theta_places(call.x.device)
        given = torch.cat([call.theta[name] for name in self.plan.theta_sizes])
        zeros = call.x.new_zeros(self.plan.graph.theta_count)
        return [zeros.index_add_(0, numbers, given[at])]

    def _launch(
        self,
        phase: Phase,
        code: Pass,
        t: int,
        slot: int,
        theta: list[Tensor],
        buffers: Buffers,
        gradients: Buffers,
    ) -> None:
        rows, width = self._rows(t), self.sizes[phase.width]
        block = 1 << (width - 1).bit_length()
        if not phase.whole_rows:
            block = min(block, _BLOCK)
        tensors = theta if phase.has_theta else []
        tensors = [*tensors, *(buffers[n] for n in code.values)]
        tensors += [gradients[n] for n in code.gradients]
        warps = max(1, min(8, block // 64))
        try:
            kernel(code.source)[rows, -(-width // block)](
                t, slot, self.batch, width, *tensors, BLOCK=block, num_warps=warps
            )
        except Exception as error:
            raise KernelError(f"{type(error).__name__}: {error}".split("\n")[0]) from error


def _batch_norm(a: Tensor, epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """The normed columns, their means, and the inverse of what they were divided by."""
    return torch.native_batch_norm(a, None, None, None, None, True, 0.0, epsilon)


def _batch_norm_gradient(a: Tensor, g: Tensor, epsilon: float) -> Tensor:
    _, mean, scale = _batch_norm(a, epsilon)
    backward = torch.ops.aten.native_batch_norm_backward
    none = (None, None, None)
    found: Tensor = backward(g, a, *none, mean, scale, True, epsilon, (True, False, False))[0]
    return found


def _part(columns: Tensor, place: Place) -> Tensor:
    if place.parts == 1:
        return columns
    width = columns.shape[1] // place.parts
    return columns[:, place.part * width : (place.part + 1) * width]
