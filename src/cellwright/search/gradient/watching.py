"""How far a search has decided: what ESS watches in Figure 6."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

import torch
from torch import Tensor

from cellwright.cell.listings.supernets import Supernet
from cellwright.search.gradient.architecture import distributions


def watch(supernet: Supernet, theta: Mapping[str, Tensor], softmax: str) -> dict[str, float]:
    """Entropy and mean absolute deviation of the edge weights, overall and per group.

    `entropy` is the mean over all softmaxes of −Σ θ·ln θ: the logarithm of the number of edges
    in a softmax at the start, 0 when all is decided. `mad` is the mean over all edges of
    |θ − 1/n|, n being the number of edges in the edge's softmax: 0 at the start, and no longer
    moving when the search has converged. `intra_entropy`, `inter_mad` and so on are those of
    one group; a group that is fixed has none.

    >>> from cellwright.cell.listings.supernets import darts_supernet
    >>> supernet = darts_supernet(1, ("tanh", "relu"))
    >>> watch(supernet, {"theta_1_0": torch.tensor([1.0, 0.0])}, "pair")
    {'entropy': 0.0, 'mad': 0.5, 'intra_entropy': 0.0, 'intra_mad': 0.5}
    """
    entropies: dict[str, list[float]] = {}
    deviations: dict[str, list[float]] = {}
    for group, names in distributions(supernet, softmax):
        weights = torch.cat([theta[name].detach() for name in names]).double()
        entropies.setdefault(group, []).append(torch.special.entr(weights).sum().item())
        away = (weights - 1 / len(weights)).abs()
        deviations.setdefault(group, []).extend(away.tolist())
    seen = {
        "entropy": fmean(value for values in entropies.values() for value in values),
        "mad": fmean(value for values in deviations.values() for value in values),
    }
    for group in entropies:
        seen[f"{group}_entropy"] = fmean(entropies[group])
        seen[f"{group}_mad"] = fmean(deviations[group])
    return seen
