"""ESS cells: intra-cell and inter-cell architecture together (Li et al. 2020).

The intra-cell part is a DARTS cell over ĥ and x̂ (Eq. 7) in place of h(t−1) and x(t). The
inter-cell part makes those two with gates over the last m steps:

    ĥ = h(t−1) ⊙ mean_i o_i(W_i·x(t−i))        (Eq. 8)
    x̂ = x(t)   ⊙ mean_i o_i(W_i·h(t−i))        (Eq. 9), as wide as x

with i = 1 … m; gate node i is fed by its own input vector only. `drop` is a gate node whose
value is zero; it still counts in the mean.
"""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.cell.cell import Cell, Node
from cellwright.cell.errors import CellError
from cellwright.cell.listings._graph import ACTIVATIONS, Builder, Structure, check_word
from cellwright.cell.listings.darts import DartsListing, lift_intra, lower_intra
from cellwright.cell.names import MAX_HISTORY, parse_input

GATE_OPERATIONS = ("drop", *ACTIVATIONS)
"""What a gate node may do with its input vector."""


@dataclass(frozen=True)
class EssListing:
    """An ESS cell.

    Args:
        intra: the intra-cell part.
        f_gate: the operation over x(t−i) for i = 1 … m; None for ĥ = h(t−1).
        g_gate: the operation over h(t−i) for i = 1 … m; None for x̂ = x(t).
        f_alpha: an operation, with a linear, on h(t−1) before the product: the α side of
            F(α; β) in Eq. 6. None leaves h(t−1) as it is.
        g_alpha: the same on x(t).
    """

    intra: DartsListing
    f_gate: tuple[str, ...] | None = None
    g_gate: tuple[str, ...] | None = None
    f_alpha: str | None = None
    g_alpha: str | None = None

    def __post_init__(self) -> None:
        for which, gate, alpha in (
            ("f", self.f_gate, self.f_alpha),
            ("g", self.g_gate, self.g_alpha),
        ):
            if gate is None:
                if alpha is not None:
                    raise CellError(f"{which}_alpha needs a {which}_gate")
                continue
            if not 1 <= len(gate) <= MAX_HISTORY:
                raise CellError(
                    f"{which}_gate looks back from 1 to {MAX_HISTORY} steps, not {len(gate)}"
                )
            for op in gate:
                check_word(op, GATE_OPERATIONS, f"{which}_gate")
            if alpha is not None:
                check_word(alpha, ACTIVATIONS, f"{which}_alpha")
        if self.f_gate and self.g_gate and len(self.f_gate) != len(self.g_gate):
            raise CellError(
                f"both gates look back m steps: f_gate has {len(self.f_gate)} operations, "
                f"g_gate {len(self.g_gate)}"
            )

    @property
    def m(self) -> int:
        """How many steps back the gates look; 0 without gates."""
        return len(self.f_gate or self.g_gate or ())


def lower(listing: EssListing, name: str = "", *, keys: bool = False) -> Cell:
    """The listing as a cell.

    With `keys`, the linears name their weights as the ESS supernet does: `f_2_w`, `g_1_w`,
    `f_alpha_w`, and those of `darts.lower`.
    """
    build = Builder()
    h, x = "h0", "x"
    if listing.f_gate is not None:
        h = _gated(build, "f", "h0", "x", listing.f_gate, listing.f_alpha, "hidden", keys)
    if listing.g_gate is not None:
        x = _gated(build, "g", "x", "h0", listing.g_gate, listing.g_alpha, "input", keys)
    end = lower_intra(build, listing.intra, x, h, keys=keys)
    return Cell(build.nodes, [end], name=name)


def _gated(
    build: Builder,
    which: str,
    value: str,
    history: str,
    gate: tuple[str, ...],
    alpha: str | None,
    width: str,
    keys: bool,
) -> str:
    def linear(name: str, over: str) -> str:
        return build.linear(name, over, width=width, keys=(name,) if keys else None)

    steps: list[str] = []
    for back, op in enumerate(gate, 1):
        if op == "drop":  # reads `value`, which is there anyway, to be as wide as it
            steps.append(build.add(f"{which}_{back}", "zero", value))
        else:
            over = linear(f"{which}_{back}_w", f"{history}@{back}")
            steps.append(build.add(f"{which}_{back}", op, over))
    if alpha is not None:
        value = build.add(f"{which}_alpha", alpha, linear(f"{which}_alpha_w", value))
    return build.add(f"{which}_hat", "mul", value, build.mean(f"{which}_gate", steps))


def lift(cell: Cell) -> EssListing:
    """The listing of a cell that has an ESS cell's structure; DARTS cells have it, too."""
    graph = Structure(cell, "an ESS cell")
    values = {"hidden": "h0", "input": "x"}
    gates: dict[str, tuple[tuple[str, ...], str | None]] = {}
    for node in cell.nodes:
        if node.op != "mul":
            continue
        width = cell.width(node.name)
        if width in gates:
            raise graph.misfit(node.name, "it is a second gate of the same kind")
        gates[width] = _lift_gate(graph, node, width)
        values[width] = node.name
    intra = lift_intra(graph, values["input"], values["hidden"])
    graph.all_claimed()
    f_gate, f_alpha = gates.get("hidden", (None, None))
    g_gate, g_alpha = gates.get("input", (None, None))
    if f_gate and g_gate and len(f_gate) != len(g_gate):
        raise graph.misfit(values["input"], "its gate looks back further or less than the other")
    listing = EssListing(intra, f_gate, g_gate, f_alpha, g_alpha)
    graph.same(lower(listing))
    return listing


def _lift_gate(graph: Structure, node: Node, width: str) -> tuple[tuple[str, ...], str | None]:
    """The operations of the gate whose product is `node`, and its α operation."""
    if len(node.inputs) != 2:
        raise graph.misfit(node.name, "a gate is a product of two values")
    value = "h0" if width == "hidden" else "x"
    graph.claim((node.name,))
    for kept, gate in (node.inputs, node.inputs[::-1]):
        alpha = None
        if kept != value:
            if graph.op(kept) not in ACTIVATIONS or _reads(graph, kept) != (value,):
                continue
            alpha = graph.activated(kept, bias=False, width=width).op
        steps: tuple[str, ...] = (gate,)
        if graph.op(gate) == "mean":
            steps = graph.cell.node(gate).inputs
            graph.claim((gate,))
        return _lift_steps(graph, node, steps, width, value), alpha
    raise graph.misfit(node.name, f"one side of a gate is {value}, or an activation over it")


def _reads(graph: Structure, name: str) -> tuple[str, ...]:
    """What the linear under an activation reads."""
    below = graph.cell.node(name).inputs[0]
    return graph.cell.node(below).inputs if graph.op(below) == "linear" else ()


def _lift_steps(
    graph: Structure, node: Node, steps: tuple[str, ...], width: str, value: str
) -> tuple[str, ...]:
    found = ["drop"] * len(steps)
    seen: set[int] = set()
    for step in steps:
        if step not in graph.cell:
            raise graph.misfit(node.name, f"its gate reads {step!r} as it is")
        below = graph.cell.node(step)
        if below.op == "zero":
            if below.inputs != (value,):
                raise graph.misfit(step, f"a dropped gate node is the zero of {value}")
            graph.claim((step,))
            continue
        part = graph.activated(step, bias=False, width=width)
        known = parse_input(part.over[0])
        if len(part.over) != 1 or known is None or (known.state is None) != (width == "hidden"):
            raise graph.misfit(part.linear, "a gate node reads one step of the history")
        if known.state not in (None, 0) or not 1 <= known.back <= len(steps) or known.back in seen:
            raise graph.misfit(
                part.linear,
                f"a gate of {len(steps)} nodes reads steps 1 to {len(steps)}, each once",
            )
        seen.add(known.back)
        found[known.back - 1] = part.op
    return tuple(found)
