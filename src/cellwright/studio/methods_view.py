"""Search methods on a benchmark, in simulated time."""

from __future__ import annotations

import json
from pathlib import Path

from cellwright.base.regular_files import read_regular
from cellwright.studio.collection import read_table, reports
from cellwright.studio.rows import Document, Row

MOST_COURSES = 5_000


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
        "files": reports(path),
        "next": [],
    }


def _courses(path: Path) -> list[Path]:
    return sorted((path / "runs").glob("*/*.json"))[:MOST_COURSES]
