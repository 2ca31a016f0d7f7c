"""The report of cells on a suite: a page that leads to that of each task, and the figures."""

from __future__ import annotations

from pathlib import Path

from cellwright.base.amounts import duration
from cellwright.compare.suites.figures import PARTS, SuiteFigures, write_suite_figures
from cellwright.report.comparison.page import PAGE as TASK_PAGE
from cellwright.report.comparison.words import outcome as task_outcome
from cellwright.report.page import Page
from cellwright.report.suites.table import (
    PART_WORDS,
    caption,
    each_figure,
    paper_table,
    suite_table,
)
from cellwright.report.suites.words import outcome, remarks
from cellwright.report.tables import write_table

PAGE = "index.html"


def write_suite_report(found: SuiteFigures, command: str = "") -> Path:
    """Write everything that came out into the folder; the report's path.

    Args:
        found: the figures.
        command: what made it, for those who want to make it again.
    """
    write_suite_figures(found)
    for part in PARTS:
        stem = "table" if part == "test" else f"table-{part}"
        for kind in ("md", "tex"):
            write_table(paper_table(found, part), found.folder / f"{stem}.{kind}")
    page = Page(
        f"{len(found.cells)} cells on {found.suite.title or found.suite.name}",
        f"Each cell was trained on {len(found.tasks)} of {len(found.suite.tasks)} tasks.",
    )
    page.section("Outcome")
    page.text(" ".join(outcome(found)))
    for remark in remarks(found):
        page.note(remark)
    for part in PARTS:
        page.section(f"On the {PART_WORDS[part]} data")
        header, rows = suite_table(found, part)
        numeric = range(1, len(header))
        marked = 0 if len(rows) > 1 and found.metric is not None else ()
        said = (
            f"{caption(found, part)} Parameters are those of the smallest and the largest model; "
            "time is that of all trainings of a cell together."
        )
        page.table(header, rows, numeric=numeric, highlight=marked, caption=said)
        more = each_figure(found, part)
        if more is not None:
            page.table(*more, numeric=range(1, len(more[0])), caption="Each figure by itself.")
    page.section("Tasks")
    page.links(task_links(found))
    page.section("How it was made")
    for one in found.tasks:
        page.text(f"{one.task.label}, by the recipe {one.plan.recipe.name}:")
        page.code(one.plan.text)
    total = sum(found.seconds(label) for label in found.cells)
    page.text(f"All trainings together took {duration(total)}.")
    if command:
        page.code(command)
    page.write(found.folder / PAGE)
    return found.folder / PAGE


def task_links(found: SuiteFigures) -> list[tuple[str, str]]:
    """What came out on each task, and where its page is."""
    return [
        (
            f"{one.task.label}: {task_outcome(one.plan, one.standings)}",
            f"{one.task.label}/{TASK_PAGE}",
        )
        for one in found.tasks
    ]
