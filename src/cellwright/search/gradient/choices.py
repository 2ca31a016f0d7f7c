"""A choice of edges in a supernet: as one-hot θ, or with the chosen edges alone in the cell."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from cellwright.base.errors import shown
from cellwright.cell import Cell, CellError, Node
from cellwright.cell.listings import DartsListing, EssListing
from cellwright.cell.listings.supernets import Listing, Supernet, SupernetEdge

_GATED = {"f": "h0", "g": "x"}
"""The gates, and what each of them gates."""


def one_hot(supernet: Supernet, listing: Listing) -> dict[str, Tensor]:
    """The θ that is 1 for the listing's edges and 0 for all others.

    With it a supernet without norms computes what the listing's cell computes.
    """
    whole = _as_ess(listing)
    chosen = {edge for group in supernet.groups for edge in _chosen(supernet, group, whole)}
    if "inter" in supernet.groups and (missing := _missing_gates(whole)):
        raise CellError(
            f"the listing has no {missing[0]} gate, which no θ can say: fix the group 'inter'"
        )
    return {
        name: torch.tensor([float(edge in chosen) for edge in edges])
        for name, edges in supernet.edges.items()
    }


def fix(supernet: Supernet, group: str, listing: Listing) -> Supernet:
    """The supernet with one group fixed to the listing's edges, the other still searched.

    That is how ESS searches jointly (Figure 4). The result computes what the whole supernet
    computes with one-hot θ for that group, norms included, at the cost of the chosen edges
    alone. Weights keep their keys: the `Recurrent`s of all phases can share one `WeightBank`.

    Args:
        supernet: the supernet.
        group: `"intra"` or `"inter"`.
        listing: what to fix the group to; its other group does not matter. A listing without
            gates (any DARTS listing) fixes ĥ = h(t−1) and x̂ = x(t).
    """
    if group not in supernet.groups:
        raise CellError(
            f"the supernet has no group {shown(group)} to fix; "
            f"it searches {' and '.join(supernet.groups) or 'nothing'}"
        )
    whole = _as_ess(listing)
    chosen = _chosen(supernet, group, whole)
    missing = _missing_gates(whole) if group == "inter" else []
    bypasses = {f"{gate}_hat": _GATED[gate] for gate in missing}
    nodes: list[Node] = []
    for node in supernet.cell.nodes:
        edges = supernet.edges[node.theta_name] if node.op == "mix" else ()
        if edges and edges[0].group == group:
            pairs = zip(node.inputs, edges, strict=True)
            nodes.append(_sum(node, tuple(value for value, edge in pairs if edge in chosen)))
        elif node.name in bypasses:
            nodes.append(Node(node.name, "identity", (bypasses[node.name],)))
        else:
            nodes.append(node)
    old = supernet.cell
    return replace(
        supernet,
        cell=Cell(nodes, old.states, old.output, old.name).simplified(),
        edges={name: edges for name, edges in supernet.edges.items() if edges[0].group != group},
        fixed={**supernet.fixed, group: whole},
    )


def _sum(mix: Node, kept: tuple[str, ...]) -> Node:
    """The node that stands for a mix with weight 1 for the values `kept`."""
    if not kept:
        return Node(mix.name, "zero", mix.inputs[:1])
    return Node(mix.name, "identity" if len(kept) == 1 else "add", kept)


def _as_ess(listing: Listing) -> EssListing:
    """A DARTS listing is an ESS listing without gates."""
    return EssListing(listing) if isinstance(listing, DartsListing) else listing


def _gates(listing: EssListing) -> list[tuple[str, tuple[str, ...] | None, str | None]]:
    return [("f", listing.f_gate, listing.f_alpha), ("g", listing.g_gate, listing.g_alpha)]


def _missing_gates(listing: EssListing) -> list[str]:
    return [part for part, gate, _ in _gates(listing) if gate is None]


def _chosen(supernet: Supernet, group: str, listing: EssListing) -> set[SupernetEdge]:
    """The edges of one group that the listing has; raises unless the supernet has them, too."""
    if group == "intra":
        edges = _intra_edges(supernet, listing.intra)
    else:
        edges = _gate_edges(supernet, listing)
    known = {edge for found in supernet.edges.values() for edge in found}
    for edge in edges:
        if edge not in known:
            raise CellError(f"the supernet has no edge {edge.op} from {edge.source} to {edge.node}")
    return set(edges)


def _intra_edges(supernet: Supernet, listing: DartsListing) -> list[SupernetEdge]:
    if listing.edges != supernet.edge_kind:
        raise CellError(f"the listing has {listing.edges} edges, the supernet {supernet.edge_kind}")
    everything = list(range(1, supernet.nodes + 1))
    if len(listing.nodes) != supernet.nodes or sorted(listing.concat) != everything:
        raise CellError(
            f"the listing must have {supernet.nodes} nodes and average them all to fit the supernet"
        )
    return [
        SupernetEdge("intra", target, source, op)
        for target, edges in enumerate(listing.nodes, 1)
        for op, source in edges
    ]


def _gate_edges(supernet: Supernet, listing: EssListing) -> list[SupernetEdge]:
    found = []
    for part, gate, alpha in _gates(listing):
        if gate is None:
            continue
        if len(gate) != supernet.m:
            raise CellError(f"the listing's gates look back {len(gate)} steps, not {supernet.m}")
        for back, op in enumerate(gate, 1):
            found.append(SupernetEdge(part, back, 0, "none" if op == "drop" else op))
        if (alpha is not None) != supernet.alpha:
            words = ("has", "has no") if alpha else ("has no", "has an")
            raise CellError(
                f"the listing {words[0]} {part}_alpha, the supernet {words[1]} α side to choose"
            )
        if alpha is not None:
            found.append(SupernetEdge(f"{part}_alpha", 1, 0, alpha))
    return found
