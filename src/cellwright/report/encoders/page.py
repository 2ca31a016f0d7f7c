"""The report of encoders: a page that leads to that of each task, and the figures."""

from __future__ import annotations

from pathlib import Path

from cellwright.base.amounts import duration
from cellwright.compare.encoders.figures import EncoderFigures, write_encoder_figures
from cellwright.report.encoders.tables import each_run, over_runs
from cellwright.report.encoders.words import outcome, remarks
from cellwright.report.page import Page
from cellwright.report.suites.page import PAGE, task_links
from cellwright.report.tables import Table, shown_rows, write_table


def write_encoder_report(found: EncoderFigures, command: str = "") -> Path:
    """Write everything that came out into the folder; the report's path.

    Args:
        found: the figures.
        command: what made it, for those who want to make it again.
    """
    folder = found.suite.folder
    write_encoder_figures(found)
    tables = {"table": over_runs(found), "encoders": each_run(found)}
    for stem, table in tables.items():
        for kind in ("csv", "md", "tex"):
            write_table(table, folder / f"{stem}.{kind}")
    page = Page(
        f"{len(found.encoders)} language models as encoders of sentences",
        "The models are frozen; on each task a head learns on their states.",
    )
    page.section("Outcome")
    page.text(" ".join(outcome(found)))
    for remark in remarks(found):
        page.note(remark)
    page.section("Over all models")
    _add(page, tables["table"])
    page.section("Each model")
    _add(page, tables["encoders"])
    page.section("Tasks")
    page.links(task_links(found.suite))
    page.section("How it was made")
    total = sum(found.suite.seconds(label) for label in found.labels)
    page.text(f"All trainings of heads together took {duration(total)}.")
    if command:
        page.code(command)
    page.write(folder / PAGE)
    return folder / PAGE


def _add(page: Page, table: Table) -> None:
    header = [column.title for column in table.columns]
    numeric = [place for place, column in enumerate(table.columns) if column.right]
    page.table(
        header,
        shown_rows(table),
        numeric=numeric,
        highlight=tuple(table.best),
        caption=table.caption,
    )
