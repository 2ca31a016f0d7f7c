"""Comparisons of cells: the cells in order, with the trainings of each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cellwright.base.errors import refused
from cellwright.base.locks import is_held
from cellwright.base.regular_files import read_regular
from cellwright.base.statistics import Spread
from cellwright.compare.plan_values import PlanValues, plan_values
from cellwright.runs.errors import RunError
from cellwright.studio.rows import Document, Row, flat, metric_words, spoken

ENDED = ("finished", "diverged")


def read_comparison(path: Path) -> PlanValues:
    """What is compared.

    Raises:
        RunError: the file is damaged.
    """
    file = path / "comparison.json"
    try:
        return plan_values(read_regular(file))
    except OSError as error:
        raise refused("read", file, error) from None
    except ValueError as error:
        raise RunError(f"{file} is damaged, or of another version: {error}") from None


def run_name(label: str, seed: int) -> str:
    """The folder of a training in the comparison's."""
    return f"{label}-seed{seed}"


def comparison_row(path: Path, plan: PlanValues, runs: Mapping[str, Row]) -> Row:
    """How a comparison stands, by the rows of its trainings."""
    mine = _of_plan(plan, runs)
    ended = [row for row in mine if row["state"] in ENDED]
    total, held = len(plan.cells) * len(plan.seeds), is_held(path)
    failures = read_failures(path)
    if held:
        state = "running"
    elif len(ended) + len(failures) >= total:
        state = "failed" if failures and not ended else "finished"
    else:
        state = "open"
    best = next(iter(standings(plan, runs, failures)), None)
    seconds = sum(row.get("seconds") or 0.0 for row in mine)
    part = sum(row.get("part") or 0.0 for row in mine) / total
    at_once = max(1, sum(row["state"] == "running" for row in mine))
    left = None
    if held and part > 0.002:
        left = seconds * (1 - part) / part / at_once
    return {
        "state": state,
        "cell": None if best is None or best["valid"] is None else best["label"],
        "data": plan.data.description.splitlines()[0] if plan.data.description else "",
        "method": f"{len(plan.cells):,} cells, {len(plan.seeds):,} seeds",
        "metric": metric_words(plan.metric),
        "value": None if best is None else best["valid"],
        "shown": None if best is None or best["valid"] is None else best["valid_shown"],
        "done": len(ended),
        "total": total,
        "unit": "trainings",
        "part": min(1.0, part) if state != "finished" else 1.0,
        "left": left,
        "seconds": seconds,
        "created": min((row["created"] for row in mine if row["created"]), default=None),
        "failed": len(failures),
    }


def standings(
    plan: PlanValues, runs: Mapping[str, Row], failures: Sequence[Mapping[str, Any]]
) -> list[Document]:
    """Each cell's trainings so far, and their mean with its spread, the best first."""
    found = []
    for one in plan.cells:
        rows = [runs.get(run_name(one.label, seed)) for seed in plan.seeds]
        values = [r["value"] for r in rows if r is not None and r["value"] is not None]
        spread = Spread.of(values)
        found.append({
            "label": one.label,
            "source": one.source,
            "cell_id": one.id,
            "width": one.width,
            "runs": [None if row is None else row["id"] for row in rows],
            "states": ["waiting" if row is None else row["state"] for row in rows],
            "valid": None if spread is None else spread.mean,
            "valid_shown": None if spread is None else plan.metric.written(spread.mean),
            "spread": None if spread is None or spread.deviation is None else
                      plan.metric.written(spread.deviation),
            "seconds": sum(r.get("seconds") or 0.0 for r in rows if r is not None),
            "failed": [
                {"seed": each.get("seed"), "why": str(each.get("message") or each.get("ending"))}
                for each in failures if each.get("label") == one.label
            ],
        })  # fmt: skip
    sign = -1.0 if plan.metric.higher_is_better else 1.0
    return sorted(found, key=lambda one: (one["valid"] is None, sign * (one["valid"] or 0.0)))


def comparison_detail(path: Path, plan: PlanValues, runs: Mapping[str, Row]) -> Document:
    """All that the page shows of a comparison, but the curves of its trainings."""
    recipe = plan.recipe.model_dump(mode="json", exclude={"name", "description"})
    return {
        "facts": [
            ["data", plan.data.description],
            ["recipe", f"{plan.recipe.name}: {plan.recipe.description}".rstrip(": ")],
            ["cells", ", ".join(one.label for one in plan.cells)],
            ["seeds", ", ".join(map(str, plan.seeds))],
            ["threads", f"{plan.threads} of each training"],
        ],
        "settings": {name: spoken(value) for name, value in flat(recipe).items()},
        "standings": standings(plan, runs, read_failures(path)),
        "seeds": list(plan.seeds),
        "files": [
            name for name in ("index.html", "table.csv", "runs.csv", "results.json")
            if (path / name).is_file()
        ],
        "next": [],
    }  # fmt: skip


def read_failures(path: Path) -> list[Mapping[str, Any]]:
    """Trainings that came to nothing; none if the file is not there or damaged."""
    try:
        values = json.loads(read_regular(path / "failures.json"))
    except (OSError, ValueError, RecursionError):
        return []
    return [v for v in values if isinstance(v, Mapping)] if isinstance(values, list) else []


def _of_plan(plan: PlanValues, runs: Mapping[str, Row]) -> list[Row]:
    names = [run_name(one.label, seed) for one in plan.cells for seed in plan.seeds]
    return [runs[name] for name in names if name in runs]
