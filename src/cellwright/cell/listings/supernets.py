"""Supernets: cells that hold a whole search space, weighted by θ from outside.

The weight θ of an edge (target, source, operation) multiplies that edge's value. What a
softmax makes of the search's variables, per pair of nodes (DARTS) or over all edges into a
node (I-DARTS), is the caller's matter: `Supernet.edges` says what each θ stands for. With θ
one-hot, a supernet without norms computes what the listing of the chosen edges computes.

Every weight has a key, the one that `lower(listing, keys=True)` gives it in `listings.darts`
and `listings.ess`: a supernet, the same supernet with one group of edges fixed, and a cell
that was derived from it can so share one bank of weights, or take them over by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cellwright.cell.cell import Cell, Node
from cellwright.cell.errors import CellError
from cellwright.cell.listings._graph import MOST_NODES, Builder, check_word
from cellwright.cell.listings.darts import EDGES, OPERATIONS, DartsListing, lower_start
from cellwright.cell.listings.ess import EssListing
from cellwright.cell.names import MAX_HISTORY

GROUPS = ("intra", "inter")
"""What is searched apart (ESS section 3.1): inside the cell, and between cells."""

NORM_OPS: Mapping[str, str | None] = {"batch": "batch_norm", "row": "norm", "none": None}
"""Norms and their operations. `"batch"` brings each feature to mean 0 and variance 1 over the rows
of a batch at each step, as DARTS' code does in search; `"row"` does that to each row by itself."""

Listing = DartsListing | EssListing


def norm_word(norm: str | bool) -> str:
    """One of `NORM_OPS`; earlier versions said `True` for `"row"` and `False` for `"none"`."""
    word = {True: "row", False: "none"}[norm] if isinstance(norm, bool) else norm
    if word not in NORM_OPS:
        raise CellError(f"norm is 'batch', 'row' or 'none', not {norm!r}")
    return word


class SupernetEdge(NamedTuple):
    """What one θ weighs: an operation from node `source` into node `target` of a part.

    The parts are `"intra"`, and for ESS the gates `"f"` and `"g"`, whose node i reads the
    input vector i steps back (source 0), and `"f_alpha"` and `"g_alpha"`, the one node on the
    α side of each gate (target 1, source 0).
    """

    part: str
    target: int
    source: int
    op: str

    @property
    def group(self) -> str:
        """`"intra"` or `"inter"`."""
        return "intra" if self.part == "intra" else "inter"

    @property
    def node(self) -> str:
        """The target's name: `s_3`, `f_2`, `g_alpha`."""
        if self.part.endswith("_alpha"):
            return self.part
        return f"{'s' if self.part == 'intra' else self.part}_{self.target}"


@dataclass(frozen=True)
class Supernet:
    """A cell with `mix` nodes, and what each number of each θ stands for.

    Args:
        cell: the cell.
        edges: for each θ its edges, in the order of its numbers.
        edge_kind: `"highway"` or `"plain"`, see `listings.darts`.
        nodes: how many nodes follow node 0.
        m: how many steps the gates look back; 0 where there are no gates.
        alpha: whether the α side of the gates is searched, too.
        fixed: the listing that each group was fixed to, for groups without θ.
    """

    cell: Cell
    edges: Mapping[str, tuple[SupernetEdge, ...]]
    edge_kind: str
    nodes: int
    m: int = 0
    alpha: bool = False
    fixed: Mapping[str, EssListing] = field(default_factory=dict)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that θ weighs."""
        found = {edges[0].group for edges in self.edges.values()}
        return tuple(group for group in GROUPS if group in found)


def darts_supernet(
    nodes: int = 8,
    operations: Sequence[str] = OPERATIONS,
    *,
    edges: str = "highway",
    norm: str | bool = "batch",
) -> Supernet:
    """All edges of a DARTS or I-DARTS cell (I-DARTS, Eq. 2).

    Args:
        nodes: how many nodes follow node 0.
        operations: what each edge may do.
        edges: `"highway"` as DARTS' own code has them, or `"plain"` as the papers write them.
        norm: how the value of each node is normalised, see `NORM_OPS`.
    """
    make = _Maker(operations, edges, norm)
    make.intra(nodes, "x", "h0")
    return Supernet(make.cell(f"darts-supernet-{nodes}"), make.edges, edges, nodes)


def ess_supernet(
    nodes: int = 8,
    m: int = 3,
    operations: Sequence[str] = OPERATIONS,
    *,
    edges: str = "plain",
    norm: str | bool = "none",
    alpha: bool = False,
) -> Supernet:
    """All edges of an ESS cell: `nodes` inside, and gates over the last `m` steps.

    ĥ = h(t−1) ⊙ mean_i Σ_k θ_k·o_k(x(t−i)·W_i) and x̂ = x(t) ⊙ mean_i Σ_k θ_k·o_k(h(t−i)·W_i)
    (Eqs. 4 to 9); ĥ and x̂ then go into the intra-cell part (Eq. 7).

    Args:
        nodes: how many nodes follow node 0 (Eq. 7).
        m: how many input vectors each gate has, one node for each (Eqs. 8 and 9).
        operations: what each edge may do; `none` is the paper's drop.
        edges: `"plain"` as the paper writes them (Eq. 4), or `"highway"` as in DARTS' code.
        norm: how the value of each node inside the cell is normalised, see `NORM_OPS`.
        alpha: whether both sides of F(α; β) are searched (Eq. 6): Σ_k θ_k·o_k(h(t−1)·W)
            and Σ_k θ_k·o_k(x(t)·W) then stand in place of h(t−1) and x(t). A dropped α would
            cut the cell off from its state or its input, so there is no drop among these.
    """
    if not 1 <= m <= MAX_HISTORY:
        raise CellError(f"m, how many steps the gates look back, is 1 to {MAX_HISTORY}, not {m}")
    make = _Maker(operations, edges, norm)
    h = make.gate("f", "h0", "x", m, "hidden", alpha)
    x = make.gate("g", "x", "h0", m, "input", alpha)
    make.intra(nodes, x, h)
    name = f"ess-supernet-{nodes}-{m}"
    return Supernet(make.cell(name), make.edges, edges, nodes, m, alpha)


class _Maker:
    def __init__(self, operations: Sequence[str], edge_kind: str, norm: str | bool) -> None:
        self.operations = tuple(operations)
        for op in self.operations:
            check_word(op, OPERATIONS, "a supernet's operations")
        if len(set(self.operations)) < len(self.operations):
            raise CellError("a supernet's operations: one of them stands twice")
        if not self.operations:
            raise CellError("a supernet needs at least one operation")
        if edge_kind not in EDGES:
            raise CellError(f"edges are 'highway' or 'plain', not {edge_kind!r}")
        self.edge_kind = edge_kind
        self.norm = norm_word(norm)
        self.build = Builder()
        self.edges: dict[str, tuple[SupernetEdge, ...]] = {}
        self.candidates: dict[int, list[str]] = {}
        self.end = ""

    def cell(self, name: str) -> Cell:
        return Cell(self.build.nodes, [self.end], name=name)

    def _mix(self, name: str, theta: str, values: Sequence[str]) -> str:
        self.build.nodes.append(Node(name, "mix", tuple(values), theta=theta))
        return name

    def _theta(self, tag: str, part: str, target: int, source: int, ops: Sequence[str]) -> str:
        """A new θ for the operations `ops` between two nodes."""
        theta = f"theta_{tag}"
        self.edges[theta] = tuple(SupernetEdge(part, target, source, op) for op in ops)
        return theta

    def _candidates(self, tag: str, linear: str, like: str, ops: Sequence[str]) -> list[str]:
        """The value of each operation on a linear; `none` is a zero as wide as `like`."""
        return [
            self.build.add(f"{op}_{tag}", *(("zero", like) if op == "none" else (op, linear)))
            for op in ops
        ]

    # -- between cells -----------------------------------------------------------------

    def gate(self, part: str, value: str, history: str, m: int, width: str, alpha: bool) -> str:
        """`value` times the mean of m nodes, node i over the vector i steps back (Eq. 6)."""

        def node(tag: str, part: str, target: int, over: str, ops: Sequence[str]) -> str:
            """A node that is fed by the vector `over` alone (section 3.4)."""
            linear = self.build.linear(f"{tag}_w", over, width=width, keys=(f"{tag}_w",))
            theta = self._theta(tag, part, target, 0, ops)
            return self._mix(tag, theta, self._candidates(tag, linear, value, ops))

        steps = [
            node(f"{part}_{back}", part, back, f"{history}@{back}", self.operations)
            for back in range(1, m + 1)
        ]
        if alpha:
            linked = [op for op in self.operations if op != "none"]
            if not linked:
                raise CellError("the α side of a gate needs an operation other than none")
            value = node(f"{part}_alpha", f"{part}_alpha", 1, value, linked)
        return self.build.add(f"{part}_hat", "mul", value, self.build.mean(f"{part}_gate", steps))

    # -- inside the cell ---------------------------------------------------------------

    def intra(self, nodes: int, x: str, h: str) -> None:
        """Node 0 over x and h, then `nodes` nodes with every edge, then their mean (Eq. 5)."""
        if not 1 <= nodes <= MOST_NODES:
            raise CellError(f"a supernet has 1 to {MOST_NODES} nodes after node 0, not {nodes}")
        values = [self._normed(lower_start(self.build, self.edge_kind, x, h, keys=True))]
        node = self._highway if self.edge_kind == "highway" else self._plain
        for number in range(1, nodes + 1):
            values.append(self._normed(node(number, values)))
        self.end = self.build.mean("mean", values[1:])

    def _normed(self, value: str) -> str:
        op = NORM_OPS[self.norm]
        return value if op is None else self.build.add(f"{value}_norm", op, value)

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
            theta = self._theta(tag, "intra", number, source, self.operations)
            new = self._candidates(tag, z, value, self.operations)
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
                linear = self.build.linear(f"w_{source}", value, keys=(f"w_{source}",))
                self.candidates[source] = self._candidates(
                    f"{source}", linear, value, self.operations
                )
            theta = self._theta(tag, "intra", number, source, self.operations)
            parts.append(self._mix(f"edge_{tag}", theta, self.candidates[source]))
        return self._sum(number, parts)

    def _sum(self, number: int, parts: list[str]) -> str:
        return parts[0] if len(parts) == 1 else self.build.add(f"s_{number}", "add", *parts)
