"""Supernets: cells that hold a whole search space, weighted by θ from outside.

The weight θ of an edge (target, source, operation) multiplies that edge's value. What a
softmax makes of the search's variables, per pair of nodes (DARTS) or over all edges into a
node (I-DARTS), is the caller's matter: `Supernet.edges` says what each θ stands for. With θ
one-hot, a supernet computes what the listing of the chosen edges computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cellwright.cell.cell import Cell, Node
from cellwright.cell.listings._graph import Builder
from cellwright.cell.listings.darts import OPERATIONS
from cellwright.cell.listings.enas import highway


class SupernetEdge(NamedTuple):
    """What one θ weighs: an operation from node `source` into node `target` of a group.

    The groups are `"intra"`, and for ESS the gates `"f"` and `"g"`, whose node i reads the
    input vector i steps back (source 0).
    """

    group: str
    target: int
    source: int
    op: str


@dataclass(frozen=True)
class Supernet:
    """A cell with `mix` nodes, and what each number of each θ stands for."""

    cell: Cell
    edges: Mapping[str, tuple[SupernetEdge, ...]]


def darts_supernet(
    nodes: int = 8,
    operations: Sequence[str] = OPERATIONS,
    *,
    edges: str = "highway",
    norm: bool = True,
) -> Supernet:
    """All edges of a DARTS or I-DARTS cell (I-DARTS, Eq. 2).

    Args:
        nodes: how many nodes follow node 0.
        operations: what each edge may do.
        edges: `"highway"` as DARTS' own code has them, or `"plain"` as the papers write them.
        norm: whether each node's sum is normalised, as DARTS' code does in search.
    """
    make = _Maker(operations)
    make.intra(nodes, edges, norm, "x", "h0")
    return make.supernet(f"darts-supernet-{nodes}")


def ess_supernet(
    nodes: int = 8,
    m: int = 3,
    operations: Sequence[str] = OPERATIONS,
    *,
    edges: str = "plain",
    norm: bool = False,
) -> Supernet:
    """All edges of an ESS cell: `nodes` inside, and gates over the last `m` steps.

    ĥ = h(t−1) ⊙ mean_i Σ_k θ_k·o_k(x(t−i)·W_i) and x̂ = x(t) ⊙ mean_i Σ_k θ_k·o_k(h(t−i)·W_i)
    (Eqs. 4 to 9); ĥ and x̂ then go into the intra-cell part (Eq. 7).
    """
    make = _Maker(operations)
    h = make.gate("f", "h0", "x", m, "hidden")
    x = make.gate("g", "x", "h0", m, "input")
    make.intra(nodes, edges, norm, x, h)
    return make.supernet(f"ess-supernet-{nodes}-{m}")


class _Maker:
    def __init__(self, operations: Sequence[str]) -> None:
        self.operations = tuple(operations)
        self.build = Builder()
        self.edges: dict[str, tuple[SupernetEdge, ...]] = {}
        self.candidates: dict[int, list[str]] = {}
        self.end = ""

    def supernet(self, name: str) -> Supernet:
        return Supernet(Cell(self.build.nodes, [self.end], name=name), self.edges)

    def _mix(self, name: str, theta: str, values: Sequence[str]) -> str:
        self.build.nodes.append(Node(name, "mix", tuple(values), theta=theta))
        return name

    def _candidates(self, tag: str, linear: str, like: str) -> list[str]:
        """The value of each operation on a linear; `none` is a zero as wide as `like`."""
        return [
            self.build.add(f"{op}_{tag}", *(("zero", like) if op == "none" else (op, linear)))
            for op in self.operations
        ]

    def gate(self, which: str, value: str, history: str, m: int, width: str) -> str:
        """`value` times the mean of m nodes, node i over the vector i steps back."""
        steps = []
        for back in range(1, m + 1):
            tag = f"{which}_{back}"
            linear = self.build.linear(f"{tag}_w", f"{history}@{back}", width=width)
            theta = f"theta_{tag}"
            self.edges[theta] = tuple(SupernetEdge(which, back, 0, op) for op in self.operations)
            steps.append(self._mix(tag, theta, self._candidates(tag, linear, value)))
        return self.build.add(f"{which}_hat", "mul", value, self.build.mean(f"{which}_gate", steps))

    def intra(self, nodes: int, edges: str, norm: bool, x: str, h: str) -> None:
        """Node 0 over x and h, then `nodes` nodes with every edge, then their mean."""
        if edges == "highway":
            first = highway(self.build, "0", "tanh", (x, h), h)
        else:
            first = self.build.add("s_0", "tanh", self.build.linear("w_in", x, h))
        values = [self._normed(first, norm)]
        for number in range(1, nodes + 1):
            node = self._highway if edges == "highway" else self._plain
            values.append(self._normed(node(number, values), norm))
        self.end = self.build.mean("mean", values[1:])

    def _normed(self, value: str, norm: bool) -> str:
        return self.build.add(f"{value}_norm", "norm", value) if norm else value

    def _highway(self, number: int, values: list[str]) -> str:
        """Σ_j Σ_k θ_jk·(s_j + c_j·(o_k(z_j) − s_j)), with the matrices of the target.

        The sum over k is taken first: it is blend(c, Σ θ_k·o_k(z), Σ θ_k·s).
        """
        parts = []
        for source, value in enumerate(values):
            tag = f"{number}_{source}"
            c = self.build.linear(f"c_{tag}", value, keys=(f"c_{number}",))
            z = self.build.linear(f"h_{tag}", value, keys=(f"h_{number}",))
            gate = self.build.add(f"gate_{tag}", "sigmoid", c)
            theta = f"theta_{tag}"
            self.edges[theta] = tuple(
                SupernetEdge("intra", number, source, op) for op in self.operations
            )
            new = self._candidates(tag, z, value)
            kept = [
                a if op == "none" else value for a, op in zip(new, self.operations, strict=True)
            ]
            mixed = self._mix(f"new_{tag}", theta, new)
            carried = self._mix(f"carried_{tag}", theta, kept)
            parts.append(self.build.add(f"edge_{tag}", "blend", gate, mixed, carried))
        return self._sum(number, parts)

    def _plain(self, number: int, values: list[str]) -> str:
        """Σ_j Σ_k θ_jk·o_k(s_j·W_j): each source's candidates serve all its targets."""
        parts = []
        for source, value in enumerate(values):
            tag = f"{number}_{source}"
            if source == number - 1:  # the newest node: nobody has read it yet
                self.candidates[source] = self._candidates(
                    f"{source}", self.build.linear(f"w_{source}", value), value
                )
            theta = f"theta_{tag}"
            self.edges[theta] = tuple(
                SupernetEdge("intra", number, source, op) for op in self.operations
            )
            parts.append(self._mix(f"edge_{tag}", theta, self.candidates[source]))
        return self._sum(number, parts)

    def _sum(self, number: int, parts: list[str]) -> str:
        return parts[0] if len(parts) == 1 else self.build.add(f"s_{number}", "add", *parts)
