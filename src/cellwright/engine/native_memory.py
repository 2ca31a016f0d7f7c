"""Memory of the native backend: what a plan's buffers need, and past calls' memory reused."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import torch
from torch import Tensor

from cellwright.engine.graph import HIDDEN, INPUT
from cellwright.engine.plan import Plan

ROW = 16
"""Floats that rows of the core's memory are padded to."""


def padded(width: int) -> int:
    """`width` rounded up to whole rows of the core's memory."""
    return -(-width // ROW) * ROW


def address(tensor: Tensor | None) -> int:
    """Where a tensor's numbers are; 0, the core's word for what is not wanted, for None."""
    return 0 if tensor is None else tensor.data_ptr()


@dataclass(frozen=True)
class Memory:
    """Where a plan's stored buffers lie in the workspace, for given sizes."""

    floats: int
    offsets: tuple[int, ...]
    """Bytes from the start."""
    elsewhere: tuple[tuple[int, str], ...]
    """The buffers that are not in the workspace, with the names of the tensors that hold them."""
    row_lengths: tuple[int, ...]
    state_shapes: list[tuple[int, ...]]
    weight_shapes: list[tuple[int, ...]]
    bias_shapes: list[tuple[int, ...]]
    weight_bytes: int

    def addresses(
        self, workspace: Tensor, tensors: dict[str, Tensor]
    ) -> tuple[list[int], list[int]]:
        """Addresses and row lengths of all stored buffers."""
        start = workspace.data_ptr()
        addresses, row_lengths = [start + offset for offset in self.offsets], list(self.row_lengths)
        for i, name in self.elsewhere:
            tensor = tensors.get(name)
            addresses[i] = 0 if tensor is None else tensor.data_ptr()
            row_lengths[i] = 0 if tensor is None else tensor.shape[2]
        return addresses, row_lengths


def lay_out(plan: Plan, steps: int, batch: int, hidden: int, input_size: int) -> Memory:
    """The workspace of a plan for these sizes."""
    width = {HIDDEN: hidden, INPUT: input_size}
    floats = 0
    offsets: list[int] = []
    elsewhere = []
    row_lengths = []
    for i, buffer in enumerate(plan.stored):
        row = padded(width[buffer.width])
        row_lengths.append(row)
        offsets.append(4 * floats)
        if buffer.owner == "workspace":
            floats += (steps + buffer.lead) * batch * row
        else:
            elsewhere.append((i, buffer.owner))
    weights: list[tuple[int, ...]] = [(width[w.rows], width[w.columns]) for w in plan.graph.weights]
    biases: list[tuple[int, ...]] = [(width[kind],) for kind in plan.graph.bias_widths]
    weight_bytes = sum(4 * rows * columns for rows, columns in weights)
    return Memory(
        floats,
        tuple(offsets),
        tuple(elsewhere),
        tuple(row_lengths),
        [(batch, hidden)] * plan.graph.initial_count,
        weights,
        biases,
        weight_bytes,
    )


class Workspaces:
    """Memory of past calls, to be used again: fresh pages cost more than small cells do."""

    _MOST = 4

    def __init__(self) -> None:
        self._free: list[Tensor] = []
        self._lock = threading.Lock()

    def take(self, floats: int) -> Tensor:
        """Memory of at least this size, whatever is in it."""
        with self._lock:
            fitting = [t for t in self._free if floats <= t.numel() <= 2 * floats + 4096]
            if fitting:
                best = min(fitting, key=lambda t: t.numel())
                self._free = [t for t in self._free if t is not best]
                return best
        return torch.empty(floats, dtype=torch.float32, device="cpu")

    def give_back(self, memory: Tensor) -> None:
        """Keep memory for a later call; the oldest goes when there is too much."""
        with self._lock:
            self._free = [*self._free[-self._MOST + 1 :], memory]


workspaces = Workspaces()
