"""What is learned in a phase of the search, and what the phases have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from cellwright.cell.listings import DartsListing, EssListing
from cellwright.cell.listings.supernets import Supernet
from cellwright.engine import WeightBank
from cellwright.models.cell_model import CellModel
from cellwright.search.gradient.architecture import Architecture
from cellwright.search.gradient.choices import fix
from cellwright.search.gradient.derive import Derived, derive
from cellwright.search.gradient.records import SearchEpoch
from cellwright.search.gradient.rounds import Phase
from cellwright.search.gradient.settings import DifferentiableSettings


def searched_supernet(settings: DifferentiableSettings) -> Supernet:
    """The supernet in which only what is searched has variables.

    ESS searches inside the cell with ĥ = h(t−1) and x̂ = x(t), the usual recurrence; between cells,
    with the cell that `settings.intra` says.
    """
    whole = settings.whole_supernet()
    if settings.kind != "ess" or settings.scope == "joint":
        return whole
    if settings.scope == "inter":
        return fix(whole, "intra", settings.intra_listing())
    return fix(whole, "inter", DartsListing.of([("none", 0)] * settings.nodes))


@dataclass(frozen=True)
class Stage:
    """A phase with the supernet that is learned in it and the model around that."""

    phase: Phase
    supernet: Supernet
    model: CellModel[Any]
    variables: Architecture

    def theta(self) -> dict[str, Tensor]:
        """The supernet's edge weights; those of the group that learns have gradients."""
        theta: dict[str, Tensor] = {}
        for group in self.supernet.groups:
            with torch.set_grad_enabled(torch.is_grad_enabled() and group == self.phase.group):
                theta |= self.variables.theta(group)
        return theta

    def derived(self, settings: DifferentiableSettings) -> Derived:
        """The cell that the variables choose, beside what the supernet has fixed."""
        return _derived(self.supernet, self.variables, settings)


@torch.no_grad()
def _derived(
    supernet: Supernet, variables: Architecture, settings: DifferentiableSettings
) -> Derived:
    return derive(
        supernet,
        variables.theta(*supernet.groups),
        n=settings.top_edges,
        drop_unlinks=settings.drop_unlinks,
        connected=True,
    )


def make_stage(
    phase: Phase,
    supernet: Supernet,
    model: CellModel[Any],
    bank: WeightBank,
    variables: Architecture,
    settings: DifferentiableSettings,
    records: Sequence[SearchEpoch],
) -> Stage:
    """What a phase learns: all of the supernet, or with the other group fixed to its choice.

    The variables of the other group do not move during the phase, so its choice can be made at
    any time of it. Gates that have never learned are no choice: until then there are none.
    """
    others = [group for group in supernet.groups if group != phase.group]
    if settings.fixed == "theta" or not others:
        return Stage(phase, supernet, model, variables)
    listing = _derived(supernet, variables, settings).listing
    assert isinstance(listing, EssListing)
    if not any(record.round and record.group == "inter" for record in records):
        listing = replace(listing, f_gate=None, g_gate=None, f_alpha=None, g_alpha=None)
    part = fix(supernet, others[0], listing)
    return Stage(phase, part, model.around(part.cell, bank), variables)


def make_optimizers(
    variables: Architecture, supernet: Supernet, settings: DifferentiableSettings
) -> dict[str, torch.optim.Optimizer]:
    """Adam for the variables of each group (DARTS; I-DARTS section 3.1; ESS section 5.1)."""
    return {
        group: torch.optim.Adam(
            variables.group(group).parameters(),
            settings.architecture_rate(group),
            betas=(settings.architecture_beta1, settings.architecture_beta2),
            weight_decay=settings.architecture_decay,
            fused=True,
        )
        for group in supernet.groups
    }
