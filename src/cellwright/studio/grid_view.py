"""A grid of stages: what each has made, how long it took, and how long the rest will take."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cellwright.base.amounts import duration
from cellwright.base.errors import UserError
from cellwright.studio.collection import read_table, reports, together
from cellwright.studio.rows import Document, Row, as_number


def _stages(values: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    recipe = values.get("recipe")
    stages = recipe.get("stages") if isinstance(recipe, Mapping) else None
    if not isinstance(stages, Mapping):
        return {}
    return {str(n): stage for n, stage in stages.items() if isinstance(stage, Mapping)}


def grid_row(path: Path, inside: Sequence[Row]) -> Row:
    """How a grid stands."""
    values = read_table(path / "grid.json")
    stages, done = _stages(values), values.get("done") or []
    row = together(inside)
    count = sum(name in done for name in stages)
    over = bool(stages) and count == len(stages)
    running = row["state"] == "running" and not over
    return {
        **row,
        "state": "finished" if over else "running" if running else "open",
        "method": f"{len(stages):,} stages",
        "done": count,
        "total": len(stages),
        "unit": "stages",
        "part": count / len(stages) if stages else 0.0,
        "left": _time_left(path) if running else None,
        "seconds": math.fsum(_wall(values).values()) or row["seconds"],
    }


def _wall(values: Mapping[str, Any]) -> dict[str, float]:
    wall = values.get("wall")
    found = {} if not isinstance(wall, Mapping) else {n: as_number(s) for n, s in wall.items()}
    return {name: seconds for name, seconds in found.items() if seconds is not None}


def _time_left(path: Path) -> float | None:
    """As `cellwright grid` says it before each stage, less what the present one has taken since."""
    from cellwright.grids.folder import FILE, read_grid
    from cellwright.grids.recipes import trials_of
    from cellwright.grids.time_left import time_left

    try:
        grid = read_grid(path)
        # The file is written when a stage has ended, and when the grid is gone on with.
        since = max(0.0, time.time() - (path / FILE).stat().st_mtime)
    except (UserError, OSError):
        return None
    wall, done, stages = grid.wall, grid.done, grid.recipe.stages
    present = next((name for name in stages if name not in done), None)
    if present is not None:
        wall[present] = wall.get(present, 0.0) + since
    return time_left(grid.recipe, wall, {n: trials_of(s) for n, s in stages.items()}, done)


def grid_detail(path: Path, inside: Sequence[Row]) -> Document:
    """The stages of a grid, with what each has."""
    values = read_table(path / "grid.json")
    done, wall = values.get("done") or [], _wall(values)
    stages = []
    for name, stage in _stages(values).items():
        mine = [row for row in inside if _is_of_stage(path, name, row)]
        running = any(row["state"] == "running" for row in mine)
        state = "finished" if name in done else "running" if running else "waiting"
        stages.append({
            "name": name,
            "kind": str(stage.get("kind", "")),
            "recipe": str(stage.get("recipe", "") or ""),
            "state": state,
            "time": duration(wall[name]) if wall.get(name, 0.0) >= 0.05 else "",
            "inside": [row["id"] for row in mine],
        })  # fmt: skip
    recipe = values.get("recipe")
    about = recipe.get("description", "") if isinstance(recipe, Mapping) else ""
    seeds = recipe.get("seeds", "?") if isinstance(recipe, Mapping) else "?"
    return {
        "facts": [["grid", str(about)], ["seeds", str(seeds)],
                  ["store", str(values.get("store", ""))]],
        "stages": stages,
        "files": reports(path),
        "next": [],
    }  # fmt: skip


def _is_of_stage(path: Path, stage: str, row: Row) -> bool:
    parts = row["id"].split("/")
    return row["name"] in (stage, f"{path.name}-{stage}") or stage in parts[-2:]
