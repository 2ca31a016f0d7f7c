"""The figures of a comparison for programs: `results.json`, `table.csv`, `runs.csv`."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from cellwright.base.files import write_whole
from cellwright.base.json_values import dumps
from cellwright.base.statistics import Spread
from cellwright.compare.plan import Plan
from cellwright.compare.results import EndedRun, Standing

FORMAT = "cellwright-comparison-results/2"


def write_figures(plan: Plan, standings: Sequence[Standing]) -> None:
    """Write all figures into the comparison's folder."""
    text = dumps(as_json(plan, standings), indent=2)
    write_whole(plan.folder / "results.json", text.encode("utf-8", "backslashreplace") + b"\n")
    named = {"metric": plan.metric.name}
    cells = [{**_table_row(one), **named} for one in standings]
    write_whole(plan.folder / "table.csv", csv_text(cells))
    runs = [{**_run_row(plan, one, run), **named} for one in standings for run in one.runs]
    write_whole(plan.folder / "runs.csv", csv_text(runs))


def as_json(plan: Plan, standings: Sequence[Standing]) -> dict[str, Any]:
    """All figures as JSON values; `valid` and `test` are the metric's values, and their losses are
    beside them."""
    return {
        "format": FORMAT,
        "recipe": plan.recipe.model_dump(),
        "metric": {
            **plan.metric.model_dump(),
            "higher_is_better": plan.metric.higher_is_better,
        },
        "data": plan.text,
        "seeds": list(plan.seeds),
        "threads": plan.threads,
        "cells": [
            {
                "label": one.label,
                "id": one.contender.cell.id,
                "source": one.contender.source,
                "parameters": one.parameters,
                **({} if (width := one.contender.width) is None else {"width": width}),
                "valid": spread_values(one.valid),
                "test": spread_values(one.test),
                "seconds": one.seconds,
                "peak_memory": one.peak_memory,
                "diverged_seeds": list(one.diverged),
                "failed_seeds": [failure.seed for failure in one.failed],
                "missing_seeds": list(one.missing),
                "failures": [
                    {"seed": failure.seed, "ending": failure.ending, "why": failure.why}
                    for failure in one.failed
                ],
                "runs": [
                    {**_run_row(plan, one, run), "curve": [asdict(r) for r in run.result.curve]}
                    for run in one.runs
                ],
            }
            for one in standings
        ],
    }


def spread_columns(name: str, spread: Spread | None) -> dict[str, float | None]:
    """The columns of a mean and its spread."""
    return {
        f"{name}_mean": None if spread is None else spread.mean,
        f"{name}_deviation": None if spread is None else spread.deviation,
    }


def spread_values(spread: Spread | None) -> dict[str, Any] | None:
    """A mean, its spread and the values that they are of, as JSON has them."""
    return None if spread is None else {**asdict(spread), "values": list(spread.values)}


def _table_row(one: Standing) -> dict[str, Any]:
    return {
        "label": one.label,
        "id": one.contender.cell.id,
        "parameters": one.parameters,
        **spread_columns("valid", one.valid),
        **spread_columns("test", one.test),
        "seconds": one.seconds,
        "peak_memory": one.peak_memory,
        "seeds": len(one.runs),
        "diverged": len(one.diverged),
        "failed": len(one.failed),
    }


def _run_row(plan: Plan, one: Standing, run: EndedRun) -> dict[str, Any]:
    result = run.result
    return {
        "label": one.label,
        "id": one.contender.cell.id,
        "seed": run.seed,
        "status": result.status,
        "parameters": result.parameters,
        "best_epoch": result.best_epoch,
        "epochs": len(result.curve),
        "valid": run.valid,
        "test": run.test,
        "valid_loss": result.valid,
        "test_loss": result.test,
        "seconds": result.seconds,
        "peak_memory": result.peak_memory,
        "folder": str(run.folder.path.relative_to(plan.folder)),
    }


def csv_text(rows: Iterable[dict[str, Any]]) -> bytes:
    """A table as CSV: numbers in full; nothing where there is none."""
    table = list(rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]) if table else [], lineterminator="\n")
    writer.writeheader()
    for row in table:
        writer.writerow({key: _cell(value) for key, value in row.items()})
    return text.getvalue().encode("utf-8", "backslashreplace")


def _cell(value: Any) -> Any:
    return "" if isinstance(value, float) and not math.isfinite(value) else value
