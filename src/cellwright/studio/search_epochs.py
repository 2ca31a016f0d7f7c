"""The epochs of a one-shot search: its losses, what it watches, θ, and the cell after each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cellwright.base.errors import UserError
from cellwright.cell import Cell
from cellwright.cell.errors import CellError
from cellwright.report.search_pictures import choices_of
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.one_shot.cells import listed_cell
from cellwright.studio.metrics_tail import MetricsTail
from cellwright.studio.rows import Document, as_number, training_values, values_of
from cellwright.studio.search_file import Search

MOST_FRAMES = 150
"""Epochs of θ that the page gets: of a longer search, evenly spread ones."""


def seed_document(search: Search, seed: int, tail: MetricsTail) -> Document:
    """One seed: columns with a value for each epoch."""
    epochs, metric = tail.epochs, search.metric

    def column(name: str) -> list[float | None]:
        return [as_number(record.get(name)) for record in epochs]

    watched: dict[str, list[float | None]] = {}
    for name in _watched_names(epochs):
        watched[name] = [_watched(record, name) for record in epochs]
    return {
        "seed": seed,
        "epoch": [record.get("epoch") for record in epochs],
        "train": training_values(metric, column("train")),
        "architecture": training_values(metric, column("architecture")),
        "valid": values_of(metric, column("valid")),
        "seconds": column("seconds"),
        "group": [record.get("group") for record in epochs],
        "round": [record.get("round") for record in epochs],
        "watched": watched,
        "choices": _choices(epochs),
        "theta": _theta(search.recipe.search, epochs),
    }


def _watched_names(epochs: Sequence[Mapping[str, Any]]) -> list[str]:
    """What a search watches beside its losses: entropies and deviations, or those of a policy."""
    if not epochs:
        return []
    last = epochs[-1]
    if isinstance(last.get("watched"), dict):
        names = list(last["watched"])
        return [n for n in names if n not in ("entropy", "mad") or len(names) <= 2]
    return [name for name in ("reward", "entropy") if last.get(name) is not None]


def _watched(record: Mapping[str, Any], name: str) -> float | None:
    values = record.get("watched")
    return as_number((values if isinstance(values, dict) else record).get(name))


def _choices(epochs: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """What each node of the cell was, after each epoch."""
    found = []
    for record in epochs:
        try:
            found.append(choices_of(record["listing"]))
        except (KeyError, TypeError, AttributeError, ValueError):
            found.append({})
    return found


def _theta(settings: Any, epochs: Sequence[Mapping[str, Any]]) -> Document | None:
    """The edge weights after some epochs, with what each number stands for."""
    if not isinstance(settings, DifferentiableSettings) or not epochs:
        return None
    edges = settings.whole_supernet().edges
    names = [name for name in edges if name in (epochs[-1].get("theta") or {})]
    if not names:
        return None
    every = -(-len(epochs) // MOST_FRAMES)
    places = sorted({*range(0, len(epochs), every), len(epochs) - 1})
    frames = []
    for place in places:
        theta = epochs[place].get("theta") or {}
        frames.append([_weights(theta.get(name), len(edges[name])) for name in names])
    return {
        "edges": [
            {
                "part": edges[name][0].part,
                "target": edges[name][0].target,
                "source": edges[name][0].source,
                "ops": [edge.op for edge in edges[name]],
            }
            for name in names
        ],
        "softmax": settings.softmax,
        "places": places,
        "frames": frames,
    }


def _weights(values: Any, size: int) -> list[float]:
    if not isinstance(values, list) or len(values) != size:
        return [0.0] * size
    return [round(as_number(value) or 0.0, 4) for value in values]


def epoch_cell(tail: MetricsTail, place: int) -> Cell:
    """The cell that a search would have chosen after an epoch.

    Raises:
        UserError: there is no such epoch, or its record is damaged.
    """
    try:
        record = tail.epochs[place]
        return listed_cell(record["listing"], f"epoch {record['epoch']}")
    except (LookupError, TypeError, ValueError, CellError):
        raise UserError(f"{tail.path} has no epoch at place {place} with a cell") from None
