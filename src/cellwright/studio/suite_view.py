"""A comparison over a suite: cells against tasks, with the averages once all is trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cellwright.base.errors import UserError
from cellwright.studio.collection import read_table, reports, together
from cellwright.studio.comparison_view import read_comparison, standings
from cellwright.studio.rows import Document, Row, as_number, metric_words
from cellwright.tasks.metric import Metric

Runs = Callable[[str], Mapping[str, Row]]
"""The rows of a comparison's trainings by their names, from the comparison's id."""


def suite_row(path: Path, inside: Sequence[Row]) -> Row:
    """How a comparison over a suite of tasks stands."""
    tasks, row = _tasks(path), together(inside)
    results, missing = _results(path, tasks, inside)
    wanted = max(1, len(tasks) - len(missing))
    waiting = wanted - len(inside)
    return {
        **row,
        "state": row["state"] if row["state"] == "running" else "finished" if results else "open",
        **_best_average(results, inside),
        "method": f"{len(tasks):,} tasks",
        "done": sum(each["state"] == "finished" for each in inside),
        "total": wanted,
        "unit": "tasks",
        "part": row["part"] * len(inside) / wanted,
        # How long tasks take that have not begun, nobody knows: they differ much.
        "left": None if waiting else row["left"],
        "note": f"{len(missing):,} without data" if missing else "",
    }


def suite_detail(path: Path, inside: Sequence[Row], runs: Runs) -> Document:
    """The cells on each task: how they score, or, until all is trained, how they do so far."""
    values, rows = read_table(path / "suite.json"), {row["name"]: row for row in inside}
    labels, tasks = _tasks(path), []
    results, missing = _results(path, labels, inside)
    for label in labels:
        row = rows.get(label)
        on_task: Document = {"label": label, "id": None, "state": "waiting", "figures": "",
                             "cells": [], "why": missing.get(label)}  # fmt: skip
        if row is not None:
            on_task |= {"id": row["id"], "state": row["state"], "why": row.get("error")}
            on_task |= _scores(results, label, row) or _so_far(path / label, runs(row["id"]))
        tasks.append(on_task)
    cells = [str(cell["label"]) for cell in _cells(results)]
    for on_task in tasks:
        cells += [each["label"] for each in on_task["cells"] if each["label"] not in cells]
    return {
        "facts": [["suite", str(values.get("title", ""))],
                  ["tasks", ", ".join(labels)]],
        "tasks": tasks,
        "cells": cells,
        "averages": _averages(results, inside),
        "files": reports(path),
        "next": [],
    }  # fmt: skip


def _tasks(path: Path) -> list[str]:
    return [str(label) for label in read_table(path / "suite.json").get("tasks") or []]


def _so_far(path: Path, runs: Mapping[str, Row]) -> Document:
    """What is compared on a task, from the trainings that there are."""
    try:
        plan = read_comparison(path)
    except UserError as error:
        return {"why": str(error)}
    found = standings(plan, runs, [])
    return {
        "figures": plan.metric.name,
        "cells": [
            {"label": one["label"], "shown": one["valid_shown"], "spread": one["spread"],
             "best": place == 0 and one["valid"] is not None}
            for place, one in enumerate(found)
        ],
    }  # fmt: skip


# -- results.json, which is there when all has been trained --------------------------------------


def _results(
    path: Path, tasks: Sequence[str], inside: Sequence[Row]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The results, if all tasks have ended; and why others were left out, by their labels.

    A command that goes on with more cells or tasks leaves the results of before until it is done.
    """
    try:
        results = read_table(path / "results.json")
    except UserError:
        return {}, {}
    begun = {row["name"] for row in inside}
    missing = {n: why for n, why in _table(results, "missing").items() if n not in begun}
    ended = all(row["state"] == "finished" for row in inside)
    is_whole = bool(inside) and ended and all(n in begun or n in missing for n in tasks)
    return results if is_whole else {}, missing


def _table(values: Any, name: str) -> Mapping[str, Any]:
    found = values.get(name) if isinstance(values, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _cells(results: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The cells, those of the best averages first."""
    found = results.get("cells")
    listed = found if isinstance(found, list) else []
    return [cell for cell in listed if isinstance(cell, Mapping) and "label" in cell]


def _metric(name: str, rows: Sequence[Row]) -> Metric:
    """How scores are shown: as the tasks' metrics are, and shares as percentages
    (`compare/suites/figures.py`)."""
    found = {row["metric"]["form"] for row in rows if row["metric"] is not None}
    forms = {"percent" if form in ("complement", "percent") else form for form in found}
    return Metric.model_validate(
        {"name": name, "form": forms.pop() if len(forms) == 1 else "plain"}
    )


def _spread(values: Mapping[str, Any], metric: Metric) -> Document:
    mean, deviation = as_number(values.get("mean")), as_number(values.get("deviation"))
    return {
        "value": mean,
        "shown": None if mean is None else metric.written(mean),
        "spread": None if deviation is None else metric.written(deviation),
    }


def _scores(results: Mapping[str, Any], label: str, row: Row) -> Document | None:
    """The scores on a task, by which it counts."""
    listed = results.get("tasks")
    about = next((each for each in (listed if isinstance(listed, list) else [])
                  if isinstance(each, Mapping) and each.get("label") == label), None)  # fmt: skip
    if about is None:
        return None
    names, metric = about.get("figures"), _metric("score", [row])
    cells = []
    for cell in _cells(results):
        score = _table(_table(_table(cell, "tasks"), label), "valid")
        cells.append({"label": str(cell["label"]), **_spread(score, metric)})
    values = [each["value"] for each in cells if each["value"] is not None]
    best = (max if metric.higher_is_better else min)(values, default=None)
    words = [str(name) for name in names] if isinstance(names, list) else []
    return {
        "figures": " and ".join(words),
        "cells": [{**each, "best": best is not None and each["value"] == best} for each in cells],
    }


def _averages(results: Mapping[str, Any], rows: Sequence[Row]) -> Document | None:
    over = as_number(results.get("average_over"))
    if not over:
        return None
    metric = _metric("average", rows)
    cells = [
        {"label": str(cell["label"]), **_spread(_table(_table(cell, "average"), "valid"), metric)}
        for cell in _cells(results)
    ]
    return {"over": int(over), "cells": cells, "metric": metric_words(metric)}


def _best_average(results: Mapping[str, Any], rows: Sequence[Row]) -> Row:
    found = _averages(results, rows)
    if found is None or not found["cells"] or found["cells"][0]["value"] is None:
        return {}
    best = found["cells"][0]
    return {"cell": best["label"], "metric": found["metric"], "value": best["value"],
            "shown": best["shown"]}  # fmt: skip
