"""The report of a comparison: one HTML file that needs nothing else, pictures, and the figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from cellwright.base.amounts import duration, memory
from cellwright.base.files import write_whole
from cellwright.base.statistics import difference
from cellwright.cell.draw import save, svg
from cellwright.compare.export import write_figures
from cellwright.compare.plan import Plan
from cellwright.compare.results import Standing
from cellwright.report.comparison.curves import curves
from cellwright.report.comparison.table import paper_table
from cellwright.report.comparison.words import (
    HOW_COMPARED,
    against,
    mean_text,
    outcome,
    remarks,
    value_text,
)
from cellwright.report.drawing import PlotError
from cellwright.report.page import Page
from cellwright.report.tables import write_table
from cellwright.runs.recipe_text import recipe_to_toml

PAGE, CURVES = "index.html", "curves.svg"

Section = tuple[str, Callable[[Page], None]]
"""A heading, and what writes what is below it."""


def write_report(
    plan: Plan,
    standings: Sequence[Standing],
    command: str = "",
    pdf: float | None = None,
    sections: Sequence[Section] = (),
) -> Path:
    """Write everything that came out into the comparison's folder; the report's path.

    Args:
        plan: the comparison.
        standings: its cells' figures, best first.
        command: what made it, for those who want to make it again.
        pdf: the width in inches of the curves as PDF; they and the cells are drawn as PDF then.
        sections: what else the report has, behind the table.

    Raises:
        PlotError: PDF is wanted, and matplotlib is missing.
    """
    write_figures(plan, standings)
    for kind in ("md", "tex"):
        write_table(paper_table(plan, standings), plan.folder / f"table.{kind}")
    if pdf is not None:
        _write_pdf(plan, standings, pdf)
    count = len(plan.contenders)
    page = Page(
        f"{count} cells compared" if count > 1 else f"{plan.contenders[0].label} trained",
        f"Each cell was trained by the recipe {plan.recipe.name} on {_data(plan)} with "
        f"{len(plan.seeds)} {'seed' if len(plan.seeds) == 1 else 'seeds'}.",
    )
    page.section("Outcome")
    page.text(outcome(plan, standings))
    add_table(page, plan, standings)
    for remark in remarks(plan, standings):
        page.note(remark)
    for heading, add in sections:
        page.section(heading)
        add(page)
    page.section("Curves")
    add_curves(page, plan, standings, plan.folder / CURVES)
    page.section("Every training")
    add_runs(page, plan, standings)
    page.section("The cells")
    add_cells(page, plan, standings)
    page.section("How it was made")
    page.code(plan.text)
    if command:
        page.code(command)
    page.text("The recipe in full:")
    page.code(recipe_to_toml(plan.recipe).strip())
    page.write(plan.folder / PAGE)
    return plan.folder / PAGE


def _write_pdf(plan: Plan, standings: Sequence[Standing], width: float) -> None:
    """The pictures of the report for a paper."""
    drawn = curves(plan, standings, "pdf", width)
    if drawn is not None:
        write_whole((plan.folder / CURVES).with_suffix(".pdf"), drawn)
    for one in standings:
        save(one.contender.cell, plan.cell_path(one.label, "pdf"))


def _data(plan: Plan) -> str:
    return Path(plan.recipe.task.data).name


# -- parts, for other reports too ----------------------------------------------------------------


def add_table(page: Page, plan: Plan, standings: Sequence[Standing]) -> None:
    """The table of all cells."""
    header, rows = table(plan, standings)
    highlight = 0 if len(standings) > 1 else ()
    said = f"{caption(plan)} {HOW_COMPARED}"
    page.table(header, rows, numeric=NUMERIC, highlight=highlight, caption=said)


def caption(plan: Plan) -> str:
    """What the columns of figures are."""
    metric = plan.metric
    threads = "one thread" if plan.threads == 1 else f"{plan.threads} threads"
    return (
        f"Valid and test are the {metric.name} ({metric.better_word} is better) of the epoch that "
        "validated best: mean ± sample standard deviation over the seeds. Time is the mean of a "
        f"training on {threads}, with others beside it; memory is the most that any of them held."
    )


NUMERIC = frozenset({1, 2, 3, 5, 6, 7, 8})
WORDS = "against the first"
"""The column that has a sentence."""


def table(plan: Plan, standings: Sequence[Standing]) -> tuple[list[str], list[list[str]]]:
    """The table of all cells as words; the columns `NUMERIC` stand to the right. One for failures
    is there if there are any."""
    header = ["cell", "parameters", "valid", "test", WORDS, "time", "memory", "diverged"]
    first = standings[0].valid if standings else None
    rows = []
    for place, one in enumerate(standings):
        words = ""
        if place and first is not None and one.valid is not None:
            words = against(difference(one.valid, first), plan.metric)
        rows.append([
            one.label,
            "–" if one.parameters is None else f"{one.parameters:,}",
            mean_text(one.valid, plan.metric),
            mean_text(one.test, plan.metric),
            words,
            "–" if one.seconds is None else duration(one.seconds),
            "–" if one.peak_memory is None else memory(one.peak_memory),
            f"{len(one.diverged)} of {len(one.runs)}" if one.diverged else "none",
        ])  # fmt: skip
    if any(one.failed for one in standings):
        header.append("failed")
        for one, row in zip(standings, rows, strict=True):
            row.append(f"{len(one.failed)} of {len(plan.seeds)}" if one.failed else "none")
    return header, rows


def add_runs(page: Page, plan: Plan, standings: Sequence[Standing]) -> None:
    """The figures of every training, cell by cell."""
    rows: list[list[str | int]] = []
    for one in standings:
        for run in one.runs:
            result = run.result
            rows.append([
                one.label,
                run.seed,
                value_text(run.valid, plan.metric),
                value_text(run.test, plan.metric),
                f"{result.best_epoch or '–'} of {len(result.curve)}",
                duration(result.seconds),
                memory(result.peak_memory),
                "finished" if result.status == "ok" else f"diverged: {result.status}",
            ])  # fmt: skip
    header = ["cell", "seed", "valid", "test", "best epoch", "time", "memory", "ended"]
    page.table(header, rows, numeric=range(1, 7))


def add_curves(
    page: Page, plan: Plan, standings: Sequence[Standing], path: Path | None = None
) -> None:
    """The curves; also into a file, if one is named."""
    try:
        picture = curves(plan, standings)
    except PlotError as error:  # a report without curves is better than none
        page.note(f"There is no picture of the curves: {error}.")
        return
    if picture is None:
        page.text("No epoch has ended.")
        return
    if path is not None:
        write_whole(path, picture)
    name = plan.metric.name
    page.figure(
        picture,
        f"The {name} of the validation data after each epoch: thick lines are means over the "
        "seeds, thin lines the seeds.",
        alt=f"curves of the validation {name} against epochs, one for each cell",
    )


def add_cells(page: Page, plan: Plan, standings: Sequence[Standing]) -> None:
    """Pictures of the cells; they go into the comparison's folder as well."""
    for one in standings:
        cell = one.contender.cell
        save(cell, plan.cell_path(one.label, "svg"))
        source = one.contender.source
        behind = f" {source[0].upper()}{source[1:]}." if source else ""
        page.figure(
            svg.render(cell),
            f"{one.label}: {len(cell.nodes)} nodes, id {cell.id}.{behind}",
            alt=f"the graph of the cell {one.label}",
        )
