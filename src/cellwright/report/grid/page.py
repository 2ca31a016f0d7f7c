"""The report of a grid: a page, and every table as CSV, Markdown and LaTeX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cellwright.base.files import write_whole
from cellwright.base.json_values import dumps
from cellwright.base.statistics import Spread
from cellwright.grids.results import GridFigures, StageResult
from cellwright.report.grid.tables import (
    BETTER,
    WORSE,
    cost_table,
    result_rows,
    result_table,
    searched_table,
    settings_table,
    stage_words,
)
from cellwright.report.page import Page
from cellwright.report.tables import Table, shown_rows, write_table

PAGE, RESULTS = "index.html", "results.json"


def write_grid_report(found: GridFigures, folder: Path, command: str = "") -> Path:
    """Write everything that has come out so far into the folder; the report's path.

    Args:
        found: the results.
        folder: of the grid.
        command: what made it, for those who want to make it again.
    """
    tables = {
        "results": result_table(found),
        "costs": cost_table(found),
        "settings": settings_table(found),
        "trials": searched_table(found),
    }
    for name, table in tables.items():
        for kind in ("csv", "md", "tex"):
            write_table(table, folder / f"{name}.{kind}")
    write_whole(folder / RESULTS, dumps(_document(found), indent=2).encode() + b"\n")
    done, total = len(found.results), len(found.recipe.stages)
    page = Page(
        found.recipe.description or found.recipe.name,
        "All stages have ended." if done == total else f"{done} of {total} stages have ended.",
    )
    page.section("Results")
    if found.placed:
        header, rows = result_rows(found)
        words = "Means and sample standard deviations, at the epoch that validated best."
        if found.recipe.baseline:
            base = ", ".join(found.recipe.baseline.values())
            words += (
                f" {BETTER} and {WORSE}: better or worse than {base} on the test data beyond the "
                "spread over seeds (95 %)."
            )
        numeric = range(len(found.headings), len(header))
        page.table(header, rows, numeric=numeric, caption=words)
    else:
        page.text("Nothing that stands in the table has been trained yet.")
    more = {"What it cost": "costs", "Best trials": "trials", "The best settings": "settings"}
    for heading, name in more.items():
        if tables[name].rows:
            page.section(heading)
            _add(page, tables[name])
    page.section("Stages")
    page.bullets(stage_words(found))
    links = [
        (f"{name}: {words}", str(path.relative_to(folder)))
        for name in found.results
        for words, pattern in _more(f"{folder.name}-{name}", name)
        for path in sorted(folder.glob(pattern))
    ]
    page.links(links)
    failures = [f"{name}: {why}" for name, one in found.results.items() for why in one.failures]
    for failure in failures[:10]:
        page.note(failure)
    if command:
        page.section("How it was made")
        page.code(command)
    page.write(folder / PAGE)
    return folder / PAGE


def _more(study: str, stage: str) -> list[tuple[str, str]]:
    """What else there may be of a stage: what it says, and where."""
    return [
        ("the metric against each setting", f"studies/{study}/slices.svg"),
        ("all settings side by side", f"studies/{study}/parallel.svg"),
        ("how the search settled", f"searches/{stage}/seed-*/evolution.svg"),
        ("the cells that were trained", f"trained/{stage}/index.html"),
        ("the trainings", f"trained/{stage}/trial-*/index.html"),
    ]


def _add(page: Page, table: Table) -> None:
    header = [column.title for column in table.columns]
    numeric = [place for place, column in enumerate(table.columns) if column.right]
    page.table(header, shown_rows(table), numeric=numeric, caption=table.caption)


def _document(found: GridFigures) -> dict[str, Any]:
    return {
        "format": "cellwright-grid-results/1",
        "recipe": found.recipe.model_dump(),
        "stages": {name: _stage(found, one) for name, one in found.results.items()},
    }


def _stage(found: GridFigures, one: StageResult) -> dict[str, Any]:
    costs = found.costs(one)
    return {
        "kind": one.stage.kind,
        "cells": [{"name": cell.name, "id": cell.id} for cell in one.cells],
        "trials": one.trials,
        "seconds": one.seconds,
        "settings": dict(one.settings),
        "best": one.best,
        "random": one.random,
        "metric": None if one.metric is None else one.metric.name,
        "cell": None if one.cell is None else one.cell.id,
        "valid": _values(one.valid),
        "test": _values(one.test),
        "parameters": one.parameters,
        "search_seconds": costs.search,
        "tuning_seconds": costs.tuning,
        "training_seconds": costs.training,
        "failures": list(one.failures),
    }


def _values(spread: Spread | None) -> dict[str, Any] | None:
    if spread is None:
        return None
    return {"mean": spread.mean, "deviation": spread.deviation, "values": list(spread.values)}
