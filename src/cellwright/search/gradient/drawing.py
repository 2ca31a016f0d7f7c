"""Cells drawn from θ: what a search might as well have found, by how much each edge counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch

from cellwright.base.seeds import seeded
from cellwright.cell.listings import EssListing
from cellwright.cell.listings.supernets import Listing
from cellwright.search.gradient.derive import derive
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.gradient.stages import searched_supernet

Theta = Mapping[str, Sequence[float]]


def drawn_listing(
    settings: DifferentiableSettings, theta: Theta, found: Listing, seed: int, number: int
) -> Listing:
    """A cell, derived from ln θ with Gumbel noise on it in place of θ.

    The heaviest of ln θ_k + noise is the edge k with the probability θ_k (the Gumbel-max trick), so
    each softmax is drawn from, and every rule of the derivation holds for what was drawn.

    Args:
        settings: of the search.
        theta: its edge weights at the end.
        found: what it derived from them; if that has no gates between cells, no drawn cell has.
        seed: of the search.
        number: which draw it is.
    """
    noisy: dict[str, torch.Tensor] = {}
    with seeded(seed, "drawn from theta", number):
        for name, weights in theta.items():
            known = torch.tensor(weights, dtype=torch.float64)
            noisy[name] = known.log() - torch.empty_like(known).exponential_().log()
    listing = derive(
        searched_supernet(settings),
        noisy,
        n=settings.top_edges,
        drop_unlinks=settings.drop_unlinks,
        connected=True,
    ).listing
    if isinstance(listing, EssListing) and isinstance(found, EssListing) and found.f_gate is None:
        return replace(listing, f_gate=None, g_gate=None, f_alpha=None, g_alpha=None)
    return listing
