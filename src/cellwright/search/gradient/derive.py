"""From θ to a finished cell, and its weights from the supernet's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from cellwright.base.errors import UserError
from cellwright.cell import Cell
from cellwright.cell.listings import DartsListing, EssListing, darts, ess
from cellwright.cell.listings.supernets import Listing, Supernet, SupernetEdge

Weights = dict[SupernetEdge, float]


@dataclass(frozen=True)
class Derived:
    """A discrete cell: its listing, and the cell with the supernet's names for its weights."""

    listing: Listing
    cell: Cell


def derive(
    supernet: Supernet,
    theta: Mapping[str, Tensor],
    *,
    n: int | None = 1,
    drop_unlinks: bool = False,
    connected: bool = False,
    name: str = "",
) -> Derived:
    """The cell of the heaviest edges.

    Each node keeps its `n` heaviest edges, over all predecessors and operations:

    - DARTS: `n=1`. The predecessor whose best operation weighs most, and that operation.
    - I-DARTS (section 2.2): any `n`. Several edges may then link the same two nodes, and others
      stay unlinked.
    - ESS: `drop_unlinks=True`. Where drop outweighs every other operation between two nodes, the
      two are not linked. A node without any link is zero, and still counts in the mean
      (Eq. 5), as it does in the supernet.

    Otherwise none (zeroize, drop) is never chosen, however heavy it is: DARTS' rule. A gate
    node always keeps one operation, or is dropped. Of equally heavy edges the one from the
    earlier predecessor is taken, then the one whose operation the supernet lists first; drop
    wins only where it is strictly heavier.

    Args:
        supernet: the supernet; a group that it has fixed is taken as fixed.
        theta: the weights of its edges.
        n: how many edges a node keeps at most; None for all.
        drop_unlinks: whether drop may win.
        connected: whether drop may not win everywhere. A node of the cell that would have no link
            keeps its one heaviest edge, as in DARTS, and a gate the heaviest operation of all its
            nodes. So no node is there for nothing, and the cell is never cut off from its input
            or its state.
        name: the cell's name.
    """
    if n is not None and n < 1:
        raise UserError(f"n, the number of edges that each node keeps, must be at least 1, not {n}")
    weights = _weights(supernet, theta)
    if "intra" in supernet.fixed:
        intra = supernet.fixed["intra"].intra
    else:
        intra = _intra(supernet, weights, n, drop_unlinks, connected)
    if supernet.m == 0:
        return Derived(intra, darts.lower(intra, name, keys=True))
    if "inter" in supernet.fixed:
        listing = replace(supernet.fixed["inter"], intra=intra)
    else:
        listing = _with_gates(supernet, weights, drop_unlinks, connected, intra)
    return Derived(listing, ess.lower(listing, name, keys=True))


def copy_weights(supernet: nn.Module, derived: nn.Module) -> None:
    """Give a derived cell's module the weights that the supernet's module has for it.

    Both are `Recurrent`s of the same sizes, or equal models around them. Weights are known by
    their names, which the derived cell has from the supernet; those of edges that were not
    chosen stay behind.
    """
    known = dict(supernet.named_parameters())
    wanted = dict(derived.named_parameters())
    for name, parameter in wanted.items():
        if name not in known:
            raise UserError(f"the supernet has no weight {name!r}: was the cell derived from it?")
        if known[name].shape != parameter.shape:
            raise UserError(
                f"the weight {name!r} is {tuple(known[name].shape)} in the supernet and "
                f"{tuple(parameter.shape)} in the derived cell: make both of the same sizes"
            )
    with torch.no_grad():
        for name, parameter in wanted.items():
            parameter.copy_(known[name])


def _weights(supernet: Supernet, theta: Mapping[str, Tensor]) -> Weights:
    """The weight of each edge, in the supernet's order."""
    weights: Weights = {}
    for name, edges in supernet.edges.items():
        if name not in theta:
            raise UserError(f"theta has no weights {name!r}, which the supernet needs")
        numbers = theta[name].detach().flatten().tolist()
        if len(numbers) != len(edges):
            raise UserError(f"theta[{name!r}] has {len(numbers)} numbers, not {len(edges)}")
        if any(math.isnan(number) for number in numbers):
            raise UserError(
                f"theta[{name!r}] is not a number: the search diverged, and no cell can be derived"
            )
        weights.update(zip(edges, numbers, strict=True))
    return weights


def _intra(
    supernet: Supernet, weights: Weights, n: int | None, drop: bool, connected: bool
) -> DartsListing:
    nodes: list[tuple[tuple[str, int], ...]] = []
    for target in range(1, supernet.nodes + 1):
        linked: list[SupernetEdge] = []
        for source in range(target):
            linked += _linked(weights, "intra", target, source, drop)
        if connected and not linked:
            into = (edge for edge in weights if edge[:2] == ("intra", target))
            linked = _heaviest(_without_drop(into), weights)[:1]
        kept = set(_heaviest(linked, weights)[:n])
        edges = tuple((edge.op, edge.source) for edge in linked if edge in kept)
        nodes.append(edges or (("none", 0),))
    return DartsListing.of(nodes, edges=supernet.edge_kind)


def _with_gates(
    supernet: Supernet, weights: Weights, drop: bool, connected: bool, intra: DartsListing
) -> EssListing:
    f_gate, g_gate = (_gate(supernet, weights, part, drop, connected) for part in "fg")
    if not supernet.alpha:
        return EssListing(intra, f_gate, g_gate)
    alphas = (_gate_node(weights, f"{part}_alpha", 1, False) for part in "fg")
    return EssListing(intra, f_gate, g_gate, *alphas)


def _gate(
    supernet: Supernet, weights: Weights, part: str, drop: bool, connected: bool
) -> tuple[str, ...]:
    steps = range(1, supernet.m + 1)
    gate = [_gate_node(weights, part, back, drop) for back in steps]
    if connected and set(gate) == {"drop"}:
        nodes = _without_drop(edge for edge in weights if edge.part == part)
        for edge in _heaviest(nodes, weights)[:1]:
            gate[edge.target - 1] = edge.op
    return tuple(gate)


def _gate_node(weights: Weights, part: str, target: int, drop: bool) -> str:
    """The operation of a node that is fed by one vector."""
    best = _heaviest(_linked(weights, part, target, 0, drop), weights)
    return best[0].op if best else "drop"


def _linked(
    weights: Weights, part: str, target: int, source: int, drop: bool
) -> list[SupernetEdge]:
    """The edges between two nodes; none of them where drop unlinks the two."""
    between = [edge for edge in weights if edge[:3] == (part, target, source)]
    linked = _without_drop(between)
    dropped = [weights[edge] for edge in between if edge.op == "none"]
    if drop and dropped and all(dropped[0] > weights[edge] for edge in linked):
        return []
    return linked


def _heaviest(edges: Iterable[SupernetEdge], weights: Weights) -> list[SupernetEdge]:
    """The edges by falling weight; equal ones stay in order."""
    return sorted(edges, key=lambda edge: -weights[edge])


def _without_drop(edges: Iterable[SupernetEdge]) -> list[SupernetEdge]:
    return [edge for edge in edges if edge.op != "none"]
