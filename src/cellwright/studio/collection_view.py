"""What holds other work: grids of stages, suites of tasks; and how search methods compare."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cellwright.base.amounts import duration
from cellwright.base.errors import refused
from cellwright.base.json_values import loads
from cellwright.base.regular_files import read_regular
from cellwright.runs.errors import RunError
from cellwright.studio.rows import Document, Row

MOST_COURSES = 5_000


def read_table(path: Path) -> dict[str, Any]:
    """A JSON file that is a table.

    Raises:
        RunError: it is something else.
    """
    try:
        values = loads(read_regular(path))
    except OSError as error:
        raise refused("read", path, error) from None
    except ValueError as error:
        raise RunError(f"{path} is damaged: {error}") from None
    if not isinstance(values, dict):
        raise RunError(f"{path} is damaged: it is no table")
    return values


def _together(inside: Sequence[Row]) -> Row:
    """What a collection says of itself by what is in it."""
    running = any(row["state"] == "running" for row in inside)
    over = bool(inside) and all(row["state"] in ("finished", "diverged") for row in inside)
    parts = [row.get("part") or 0.0 for row in inside]
    lefts = [row["left"] for row in inside if row.get("left") is not None]
    return {
        "state": "running" if running else "finished" if over else "open",
        "cell": None,
        "metric": None,
        "value": None,
        "shown": None,
        "part": math.fsum(parts) / len(parts) if parts else 0.0,
        "left": max(lefts, default=None),
        "seconds": math.fsum(row.get("seconds") or 0.0 for row in inside),
        "created": min((r["created"] for r in inside if r.get("created")), default=None),
        "failed": sum(row.get("failed") or 0 for row in inside),
    }


# -- grids -------------------------------------------------------------------------------------


def _stages(values: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    recipe = values.get("recipe")
    stages = recipe.get("stages") if isinstance(recipe, Mapping) else None
    if not isinstance(stages, Mapping):
        return {}
    return {str(n): stage for n, stage in stages.items() if isinstance(stage, Mapping)}


def grid_row(path: Path, inside: Sequence[Row]) -> Row:
    """How a grid stands."""
    values = read_table(path / "grid.json")
    stages, done, wall = _stages(values), values.get("done") or [], values.get("wall") or {}
    row = _together(inside)
    count = sum(name in done for name in stages)
    over = bool(stages) and count == len(stages)
    left = None
    if row["state"] == "running" and isinstance(wall, dict):
        spent = [float(wall[name]) for name in done if isinstance(wall.get(name), int | float)]
        timed = [seconds for seconds in spent if seconds > 0]
        if timed:
            left = (len(stages) - count) * math.fsum(timed) / len(timed)
    return {
        **row,
        "state": "finished" if over else row["state"] if row["state"] == "running" else "open",
        "method": f"{len(stages):,} stages",
        "done": count,
        "total": len(stages),
        "unit": "stages",
        "part": count / len(stages) if stages else 0.0,
        "left": left,
    }


def grid_detail(path: Path, inside: Sequence[Row]) -> Document:
    """The stages of a grid, with what each has."""
    values = read_table(path / "grid.json")
    done, wall = values.get("done") or [], values.get("wall") or {}
    stages = []
    for name, stage in _stages(values).items():
        mine = [row for row in inside if _is_of_stage(path, name, row)]
        running = any(row["state"] == "running" for row in mine)
        state = "finished" if name in done else "running" if running else "waiting"
        seconds = wall.get(name) if isinstance(wall, dict) else None
        stages.append({
            "name": name,
            "kind": str(stage.get("kind", "")),
            "recipe": str(stage.get("recipe", "") or ""),
            "state": state,
            "time": duration(seconds) if isinstance(seconds, int | float) else "",
            "inside": [row["id"] for row in mine],
        })  # fmt: skip
    recipe = values.get("recipe")
    about = recipe.get("description", "") if isinstance(recipe, Mapping) else ""
    seeds = recipe.get("seeds", "?") if isinstance(recipe, Mapping) else "?"
    return {
        "facts": [["grid", str(about)], ["seeds", str(seeds)],
                  ["store", str(values.get("store", ""))]],
        "stages": stages,
        "files": _reports(path),
        "next": [],
    }  # fmt: skip


def _is_of_stage(path: Path, stage: str, row: Row) -> bool:
    parts = row["id"].split("/")
    return row["name"] in (stage, f"{path.name}-{stage}") or stage in parts[-2:]


# -- suites ------------------------------------------------------------------------------------


def suite_row(path: Path, inside: Sequence[Row]) -> Row:
    """How a comparison over a suite of tasks stands."""
    tasks = read_table(path / "suite.json").get("tasks") or []
    ended = sum(row["state"] == "finished" for row in inside)
    return {
        **_together(inside),
        "method": f"{len(tasks):,} tasks",
        "done": ended,
        "total": len(tasks),
        "unit": "tasks",
    }


def suite_detail(path: Path, inside: Sequence[Row]) -> Document:
    """The tasks of a suite."""
    values = read_table(path / "suite.json")
    return {
        "facts": [["suite", str(values.get("title", ""))],
                  ["tasks", ", ".join(map(str, values.get("tasks") or []))]],
        "inside": [row["id"] for row in inside],
        "files": _reports(path),
        "next": [],
    }  # fmt: skip


def _reports(path: Path) -> list[str]:
    wanted = ("index.html", "report.html", "results.json", "table.csv", "summary.csv")
    return [name for name in wanted if (path / name).is_file()]


# -- search methods on a benchmark -------------------------------------------------------------


def methods_row(path: Path) -> Row:
    """How a comparison of search methods stands: how many searches it has kept."""
    title = str(read_table(path / "methods.json").get("title", ""))
    files = _courses(path)
    times = [file.stat().st_mtime for file in files]
    return {
        "state": "finished" if (path / "report.html").is_file() else "open",
        "cell": None,
        "data": title,
        "method": f"{len({file.parent.name for file in files}):,} methods",
        "metric": None,
        "value": None,
        "shown": None,
        "done": len(files),
        "total": None,
        "unit": "searches",
        "part": None,
        "left": None,
        "seconds": None,
        "created": min(times, default=None),
    }


def methods_detail(path: Path) -> Document:
    """The course of each search: the lowest loss on the validation data over simulated time."""
    methods: dict[str, list[Document]] = {}
    for file in _courses(path):
        try:
            values = json.loads(read_regular(file))
            steps = values["steps"]
            course = {
                "seed": file.stem,
                "hours": [float(step["seconds"]) / 3600 for step in steps],
                "valid": [float(step["valid"]) for step in steps],
                "trials": int(values["trials"]),
                "cells": int(values["cells"]),
                "end": float(values["seconds"]) / 3600,
            }
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue  # one that is being written, or of another version
        methods.setdefault(file.parent.name.rpartition("-")[0], []).append(course)
    return {
        "facts": [["benchmark", str(read_table(path / "methods.json").get("title", ""))]],
        "methods": [{"name": name, "courses": found} for name, found in methods.items()],
        "files": _reports(path),
        "next": [],
    }


def _courses(path: Path) -> list[Path]:
    return sorted((path / "runs").glob("*/*.json"))[:MOST_COURSES]
