"""The cells among which a one-shot search chooses: the settings that say how many, as a space."""

from __future__ import annotations

from cellwright.base.errors import UserError
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.sharing.settings import SharingSettings
from cellwright.spaces.darts import Darts, IDarts
from cellwright.spaces.ess import Ess
from cellwright.spaces.space import Space

AnySettings = DifferentiableSettings | SharingSettings


def space_counts(settings: AnySettings) -> dict[str, int]:
    """The whole numbers that say how large the cells are, by name: nodes, and m of ESS' gates.

    >>> space_counts(DifferentiableSettings(kind="ess")), space_counts(DifferentiableSettings())
    ({'nodes': 8, 'm': 3}, {'nodes': 8})
    """
    counts = {"nodes": settings.nodes}
    # Where it searches inside the cell alone, there are no gates.
    if isinstance(settings, DifferentiableSettings) and settings.scope != "intra":
        counts["m"] = settings.m
    return counts


def searched_space(settings: AnySettings) -> Space:
    """The space of what a search may find, to draw cells from it that nobody searched for.

    Where drop may win (ESS), drawn cells still have an edge into each node of the cell, as those
    that are found have.

    Raises:
        UserError: no space has these cells.
    """
    if isinstance(settings, SharingSettings):
        return settings.space()
    joint, edges = settings.scope == "joint", settings.top_edges
    why = ""
    if settings.scope == "inter":
        why = "scope is inter, and no space has gates around a cell that is given"
    elif joint and settings.alpha:
        why = "alpha is true, and gates of the space ess have one side"
    elif edges is None or (joint and edges > 1):
        why = f"top_edges is {edges or 'none'}, and should be 1"
    if why:
        raise UserError(f"no random cells can be drawn for this search: {why}")
    operations = tuple(op for op in settings.operations if op != "none")
    if joint:
        gates = ("drop", *operations) if settings.drop_unlinks else operations
        return Ess(settings.nodes, settings.m, operations, gates, settings.edges)
    if edges == 1:
        return Darts(settings.nodes, operations, settings.edges)
    assert edges is not None
    return IDarts(settings.nodes, operations, settings.edges, edges)
