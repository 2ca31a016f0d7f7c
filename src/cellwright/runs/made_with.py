"""What a checkpoint was made with, kept in it, so that an edited `run.json` is not gone on with.

Going on with another seed, or other settings, would give weights that no run can give again. The
place of the data may change, since its fingerprint is kept, and so may the number of epochs: what
has been learned does not depend on it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cellwright.base.errors import shown
from cellwright.runs.info import WorkInfo

_MAY_CHANGE = ("name", "description", "task.data", "task.folder", "training.epochs")


def made_with(info: WorkInfo) -> dict[str, Any]:
    """All that decides what is learned, by flat names."""
    values = {"seed": info.seed, "data.fingerprint": info.data.fingerprint}
    recipe = getattr(info, "recipe", None)
    settings = {} if recipe is None else _flat(recipe.model_dump())
    kept = {key: value for key, value in settings.items() if key not in _MAY_CHANGE}
    same: dict[str, Any] = json.loads(json.dumps({**values, **kept}, default=str))
    return same


def difference(before: Any, info: WorkInfo) -> str | None:
    """What is not as a checkpoint was made with, in words; None if all is.

    A setting that only one of them has is of another version. Earlier ones kept nothing.
    """
    if not isinstance(before, Mapping):
        return None
    for key, value in made_with(info).items():
        if key in before and before[key] != value:
            return f"{key} was {shown(before[key])}, and is {shown(value)} now"
    return None


def _flat(table: Mapping[str, Any], at: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{at}{key}.")
        else:
            found[f"{at}{key}"] = value
    return found
