"""What folders that hold other work share: a table of JSON, and how all in it stands together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cellwright.base.errors import refused
from cellwright.base.json_values import loads
from cellwright.base.regular_files import read_regular
from cellwright.runs.errors import RunError
from cellwright.studio.rows import Row


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


def together(inside: Sequence[Row]) -> Row:
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


def reports(path: Path) -> list[str]:
    """What somebody may want to take away, by name."""
    wanted = ("index.html", "report.html", "results.json", "table.csv", "summary.csv")
    return [name for name in wanted if (path / name).is_file()]
