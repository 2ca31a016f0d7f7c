"""A cell's step for Triton: sums of products, and kernels for the values between them.

`Plan` orders a graph by levels. A level begins with sums whose operands are there, taken as
matrix products of torch, and goes on with one kernel for all elementwise values that follow
from them. Sums with the same operands lie side by side and are one product.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from cellwright.cell import Cell
from cellwright.cell.ops import BATCH_NORMS
from cellwright.engine import graph as graphs
from cellwright.engine.graph import HIDDEN, Accumulator, Elementwise, Item, Source
from cellwright.engine.triton_code import Phase, Place, make_phase

X, X_FOR_LINEARS, OUTPUT = "x", "x for linears", "output"


@dataclass(frozen=True)
class SumGroup:
    """Sums side by side in one buffer: the same operands, and x at the same shifts.

    `weights` has for each operand, then for each shift of x, the matrices of all members.
    """

    buffer: str
    clock: str
    members: list[Accumulator]
    operands: list[int]
    shifts: list[int]
    weights: list[list[int]]

    @property
    def width(self) -> int:
        """Of each member."""
        return self.members[0].width

    @property
    def place(self) -> Place:
        """Where all members are, as one value."""
        return Place(self.buffer, self.clock)


@dataclass
class Level:
    """Sums and norms over rows, and what follows from them elementwise."""

    groups: list[SumGroup] = field(default_factory=list)
    batch_norms: list[tuple[int, int, float]] = field(default_factory=list)
    """The numbers of what is normed and of the result, and what is added to the variance."""
    phases: list[Phase] = field(default_factory=list)


class Plan:
    """Where each value of a graph lies, and what computes it.

    The new states and the output are items of their own: copies, in buffers of their own.
    """

    def __init__(self, cell: Cell, *, mask_hidden: bool, mask_input: bool, one_width: bool) -> None:
        self.graph = graphs.build(cell, mask_hidden=mask_hidden, mask_input=mask_input)
        self.items: list[Item] = list(self.graph.items)
        copies = [*self.graph.states, self.graph.output]
        first = len(self.items)
        self.items += [Elementwise("copy", "identity", [n], HIDDEN) for n in copies]
        self.place: dict[int, Place] = {}
        self.groups: list[SumGroup] = []
        self._width = [HIDDEN if one_width else item.width for item in self.items]
        level = self._levels()
        self._place_sources()
        for state in range(len(self.graph.states)):
            self.place[first + state] = Place(f"state {state}", "t", self.graph.state_history)
        self.place[len(self.items) - 1] = Place(OUTPUT, "t")
        self._place_sums()
        self.stored = self._crossing(level)
        for number in self.stored:
            self.place[number] = Place(f"value {number}", "slot")
        self.levels = [Level() for _ in range(max(level) + 1)]
        self._fill(level)
        self.theta_sizes = {n.theta_name: len(n.inputs) for n in cell.nodes if n.op == "mix"}
        self._theta_places: dict[torch.device, tuple[Tensor, Tensor]] = {}

    def width_of(self, number: int) -> int:
        """Which width an item has; there is only one where x is as wide as the states."""
        return self._width[number]

    def theta_places(self, device: torch.device) -> tuple[Tensor, Tensor]:
        """Places in the caller's θ, one after the other, and the number θ that each is added to."""
        if device not in self._theta_places:
            begin, total = {}, 0
            for name, size in self.theta_sizes.items():
                begin[name] = total
                total += size
            terms = self.graph.thetas
            rows = [[begin[t.theta] + t.position for t in terms], [t.number for t in terms]]
            at, numbers = torch.tensor(rows, dtype=torch.int64, device=device)
            self._theta_places[device] = at, numbers
        return self._theta_places[device]

    def _levels(self) -> list[int]:
        """How many sums, or norms over rows, come before each item."""
        level: list[int] = []
        for item in self.items:
            if isinstance(item, Accumulator):
                level.append(max((1 + level[i] for i, _ in item.terms), default=0))
            elif isinstance(item, Elementwise):
                below = max((level[i] for i in item.inputs), default=0)
                level.append(below + (item.op in BATCH_NORMS))
            else:
                level.append(0)
        return level

    def _place_sources(self) -> None:
        for number, item in enumerate(self.items):
            if not isinstance(item, Source):
                continue
            if item.kind == "mask":
                self.place[number] = Place(f"mask {item.number}", "0")
            elif item.kind == "x":
                self.place[number] = Place(X, "t", self.graph.input_history - item.shift)
            else:
                shift = self.graph.state_history - item.shift
                self.place[number] = Place(f"state {item.number}", "t", shift)

    def _place_sums(self) -> None:
        members: dict[tuple[object, ...], list[int]] = {}
        for number, item in enumerate(self.items):
            if isinstance(item, Accumulator):
                operands = tuple(sorted(i for i, _ in item.terms))
                shifts = tuple(sorted(shift for shift, _ in item.x_terms))
                members.setdefault((operands, shifts, item.width), []).append(number)
        for numbers in members.values():
            sums = [s for n in numbers if isinstance(s := self.items[n], Accumulator)]
            terms = [sorted(s.terms) for s in sums]
            x_terms = [sorted(s.x_terms) for s in sums]
            group = SumGroup(
                f"sums {numbers[0]}",
                "t" if sums[0].begins_before_the_loop else "slot",
                sums,
                [operand for operand, _ in terms[0]],
                [shift for shift, _ in x_terms[0]],
                [[w for _, w in of_all] for of_all in zip(*terms, strict=True)]
                + [[w for _, w in of_all] for of_all in zip(*x_terms, strict=True)],
            )
            self.groups.append(group)
            for part, number in enumerate(numbers):
                self.place[number] = Place(group.buffer, group.clock, 0, part, len(numbers))

    def _crossing(self, level: list[int]) -> list[int]:
        """Elementwise values that a sum, a norm over rows or another kernel reads."""
        crossing: dict[int, None] = {}
        for number, item in enumerate(self.items):
            if isinstance(item, Accumulator):
                read = [i for i, _ in item.terms]
            elif isinstance(item, Elementwise):
                apart = item.op in BATCH_NORMS
                read = [i for i in item.inputs if apart or level[i] != level[number]]
                crossing |= dict.fromkeys([number] if apart else [])
            else:
                continue
            crossing |= dict.fromkeys(i for i in read if isinstance(self.items[i], Elementwise))
        return list(crossing)

    def _fill(self, level: list[int]) -> None:
        for group in self.groups:
            if group.operands:
                self.levels[1 + max(level[i] for i in group.operands)].groups.append(group)
        phases: dict[tuple[int, int], list[int]] = {}
        for number, item in enumerate(self.items):
            if not isinstance(item, Elementwise):
                continue
            if item.op in BATCH_NORMS:
                norm = (item.inputs[0], number, BATCH_NORMS[item.op])
                self.levels[level[number]].batch_norms.append(norm)
            else:
                phases.setdefault((level[number], self._width[number]), []).append(number)
        for (at, width), numbers in phases.items():
            phase = make_phase(self.items, numbers, self.place, width, self.graph.theta_count)
            self.levels[at].phases.append(phase)
