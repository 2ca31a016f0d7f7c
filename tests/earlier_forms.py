"""What the version before tasks wrote: recipes and descriptions of work in the form they had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SEGMENTS = ("bptt", "bptt_spread", "bptt_shortest", "bptt_halve")


def recipe_before(recipe: dict[str, Any]) -> dict[str, Any]:
    """The JSON values of a recipe: its data at the top, segments and model in the settings."""
    task = recipe["task"]
    segments = {name: task[name] for name in SEGMENTS}
    own = {name: recipe[name] for name in ("name", "description") if name in recipe}
    common = {**own, "data": task["data"]}
    if "search" in recipe:
        search = {**recipe["search"], **segments, "model": recipe["model"]}
        kept = {name: recipe[name] for name in ("training", "selection_epochs")}
        return {**common, **kept, "search": search}
    return {**common, "model": recipe["model"], "training": {**recipe["training"], **segments}}


def info_before(info: dict[str, Any]) -> dict[str, Any]:
    """What describes work: no metric, and the folder of its data beside the data's name."""
    recipe = recipe_before(info["recipe"])
    data = {**info["data"], "folder": info["recipe"]["task"]["folder"]}
    kept = {name: value for name, value in info.items() if name != "metric"}
    kind = info["format"].partition("/")[0]
    return {**kept, "format": f"{kind}/1", "recipe": recipe, "data": data}


def write_before(path: Path) -> dict[str, Any]:
    """Rewrite a file that describes work as the earlier version would have written it."""
    before = info_before(json.loads(path.read_text()))
    path.write_text(json.dumps(before, indent=2) + "\n")
    return before
