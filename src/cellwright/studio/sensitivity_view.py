"""A sensitivity analysis: what was found against each setting that varies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cellwright.base.errors import UserError
from cellwright.studio.collection import read_table
from cellwright.studio.rows import Document, as_number


def axes_of(path: Path) -> list[Document]:
    """A picture for each setting, from `points.json`, which is written when all is trained.

    Each has the values of the setting, and on the validation data the mean of the cell found there,
    that of the random cells, and those of the cells beside them.
    """
    try:
        values = read_table(path / "points.json")
        points = {str(each["label"]): each for each in values["points"]}
        beside = [{"label": str(each["label"]), "valid": _mean(each)} for each in values["against"]]
        return [
            {
                "setting": str(axis["setting"]),
                "values": [int(value) for value in axis["values"]],
                "found": [_mean(points[label]["found"]) for label in axis["points"]],
                "random": [_mean_of_all(points[label]["random"]) for label in axis["points"]],
                "against": beside,
                "own": axis["points"].index(values["recipe"]),
            }
            for axis in values["vary"]
        ]
    except (UserError, KeyError, ValueError, TypeError):
        return []  # not yet, or of another version: the table of the cells says the same


def _mean(standing: Mapping[str, Any]) -> float | None:
    valid = standing.get("valid")
    mean = as_number(valid.get("mean")) if isinstance(valid, Mapping) else None
    return mean if mean is not None and math.isfinite(mean) else None


def _mean_of_all(cells: list[Mapping[str, Any]]) -> float | None:
    """Each cell counts with its mean over the seeds."""
    found = [mean for cell in cells if (mean := _mean(cell)) is not None]
    return math.fsum(found) / len(found) if found else None
