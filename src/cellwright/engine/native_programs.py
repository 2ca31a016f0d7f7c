"""A cell's programs for the core, and what is known about the sizes that they were run with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import torch

from cellwright.engine.graph import Graph
from cellwright.engine.native_memory import Memory, lay_out
from cellwright.engine.plan import Plan
from cellwright.engine.ways import Ways

if TYPE_CHECKING:
    from cellwright.engine import _native

_MOST_SIZES = 100  # layouts, and ways to run, that are kept for one program


class ThetaPlaces:
    """Where the core's numbers θ come from: the caller's θ, one after the other."""

    def __init__(self, graph: Graph) -> None:
        terms = graph.thetas
        self.sizes = {term.theta: graph.theta_sizes[term.theta] for term in terms}
        begins = dict(zip(self.sizes, accumulate(self.sizes.values(), initial=0), strict=False))
        self.total = sum(self.sizes.values())
        order = sorted(terms, key=lambda term: term.number)
        self.once = [term.number for term in order] == list(range(len(order)))
        with torch.inference_mode(False):  # kept for calls that have gradients
            chosen = [begins[term.theta] + term.position for term in order]
            self.chosen = torch.tensor(chosen, device="cpu", dtype=torch.int64)
            numbers = [term.number for term in order]
            self.numbers = torch.tensor(numbers, device="cpu", dtype=torch.int64)


@dataclass(eq=False)
class Programs:
    """A plan's programs, and what is known about the sizes they were run with."""

    plan: Plan
    forward: _native.Program
    backward: _native.Program | None
    _memory: dict[tuple[int, int, int, int], Memory] = field(default_factory=dict)
    _ways: dict[tuple[object, ...], Ways] = field(default_factory=dict)

    @cached_property
    def thetas(self) -> ThetaPlaces:
        """Where the numbers θ come from."""
        return ThetaPlaces(self.plan.graph)

    @cached_property
    def weight_places(self) -> list[tuple[str, int]]:
        """Where each of the core's matrices comes from: linear and input's position."""
        return [(weight.linear, weight.position) for weight in self.plan.graph.weights]

    def memory(self, steps: int, batch: int, hidden: int, input_size: int) -> Memory:
        """The layout for these sizes, worked out once."""
        key = (steps, batch, hidden, input_size)
        if key not in self._memory:
            if len(self._memory) >= _MOST_SIZES:  # sequences of many different lengths
                self._memory.clear()
            self._memory[key] = lay_out(self.plan, *key)
        return self._memory[key]

    def kept_floats(self, hidden: int, input_size: int) -> int:
        """Floats that its packed weights take where they are kept from call to call."""
        return self.forward.kept_floats(hidden, input_size)

    def ways(self, about: tuple[object, ...], make: Callable[[], Ways]) -> Ways:
        """What is known about ways to run such calls."""
        ways = self._ways.get(about)
        if ways is None:
            if len(self._ways) >= _MOST_SIZES:
                self._ways.clear()
            ways = self._ways[about] = make()
        return ways
