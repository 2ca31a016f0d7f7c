"""The report of a comparison: one page of HTML, pictures, and tables as CSV."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

from cellwright.base.files import write_whole
from cellwright.bench.compare.entries import Entry
from cellwright.bench.compare.folder import REPORT, report_title
from cellwright.bench.compare.preparing import Table
from cellwright.bench.compare.scheduling import Comparison
from cellwright.bench.compare.summary import (
    PARTS,
    Line,
    Summary,
    curves_csv,
    regrets_csv,
    summary_csv,
    tests_csv,
)
from cellwright.report import drawing
from cellwright.report.methods import pictures
from cellwright.report.methods.table import paper_table
from cellwright.report.page import Page
from cellwright.report.tables import write_table
from cellwright.tasks.metric import Metric

SIGNIFICANT = 0.05


def write_report(
    comparison: Comparison,
    summary: Summary,
    folder: Path,
    *,
    command: str = "",
    pictures: bool = True,
    pdf: float | None = None,
) -> list[Path]:
    """Write report, tables and pictures into the folder; the files, the report first.

    Args:
        comparison: what was run.
        summary: its figures.
        folder: where; it is there.
        command: that made it, for the reader.
        pictures: whether to draw; needs matplotlib.
        pdf: the width in inches of pictures as PDF, which are drawn as well then.
    """
    drawn = _pictures(summary, "svg") if pictures else {}
    page = _page(comparison, summary, drawn, command)
    tables: dict[str, Callable[[], str]] = {
        "summary.csv": lambda: summary_csv(summary),
        "curves.csv": lambda: curves_csv(summary),
        "regrets.csv": lambda: regrets_csv(comparison, summary),
        "tests.csv": lambda: tests_csv(summary),
    }
    files = [folder / REPORT]
    page.write(files[0])
    for name, table in tables.items():
        write_whole(folder / name, table().encode())
        files.append(folder / name)
    for kind in ("md", "tex"):
        files.append(folder / f"summary.{kind}")
        write_table(paper_table(comparison, summary), files[-1])
    on_paper = {} if pdf is None else _pictures(summary, "pdf", pdf)
    for kind, found in (("svg", drawn), ("pdf", on_paper)):
        for name, data in found.items():
            write_whole(folder / f"{name}.{kind}", data)
            files.append(folder / f"{name}.{kind}")
    return files


def _pictures(summary: Summary, kind: str, width: float | None = None) -> dict[str, bytes]:
    drawn = {
        "regret": (pictures.draw_regrets(summary), pictures.REGRETS, {}),
        "methods": (
            pictures.draw_panels(summary), pictures.panels_shape(summary), {"font.size": 9}
        ),
        "finals": (
            pictures.draw_finals(summary), pictures.finals_shape(summary), {"font.size": 9}
        ),
    }  # fmt: skip
    return {
        name: drawing.picture(draw, kind, shape, style, width)
        for name, (draw, shape, style) in drawn.items()
    }


def _page(comparison: Comparison, summary: Summary, drawn: dict[str, bytes], command: str) -> Page:
    table, seeds = comparison.table, len(comparison.seeds)
    hours = comparison.seconds / 3600
    page = Page(
        report_title(table.benchmark),
        f"{_count(len(summary.lines), 'method')}, {_count(seeds, 'seed')} each, "
        f"{hours:,.4g} simulated hours, {table.cells:,} cells. {_lead(summary)}",
    )
    for label, why in {**comparison.left_out, **comparison.failed}.items():
        page.note(f"{label} is left out. {why[:1].upper()}{why[1:].rstrip('.')}.")
    page.section("Result")
    _result(page, comparison, summary)
    page.section("Regret against simulated time")
    if drawn:
        page.figure(
            drawn["regret"],
            "Mean regret over seeds, with the 95% interval of the mean (Figure 10 of NAS-Bench-"
            "NLP). A line begins where all seeds have a result.",
            "Mean regret of each method against simulated time, with intervals",
        )
        page.figure(
            drawn["methods"],
            "Each method by itself: every seed (thin), their mean (thick), and the means of the "
            "others (grey).",
            "For each method, the regret of every seed against simulated time",
        )
    page.section("Final regrets")
    if drawn:
        page.figure(
            drawn["finals"],
            "Left: the share of seeds whose final regret is at most so large (Figure 12). Right: "
            "a dot for each seed, the box from the first to the third quartile, the line in it the "
            "median.",
            "Distribution of final regrets of each method",
        )
    if len(summary.lines) > 1:
        page.section("Tests")
        _tests(page, summary)
    page.section("How it was measured")
    _how(page, comparison)
    if command:
        page.code(command)
    return page


def _lead(summary: Summary) -> str:
    first, *others = summary.lines
    if not others:
        return f"{first.label} ends with a mean regret of {first.mean:.4f}."
    pairs = {frozenset((t.first, t.second)): t for t in summary.tests}
    alike = [
        line.label
        for line in others
        if not pairs[frozenset((first.label, line.label))].adjusted < SIGNIFICANT
    ]
    text = f"{first.label} ends with the lowest mean regret, {first.mean:.4f}"
    if alike:
        listed = ", ".join(alike[:-1]) + (" and " if len(alike) > 1 else "") + alike[-1]
        return f"{text}; from it {listed} cannot be told apart with these seeds."
    return f"{text}, and differs from every other method (p < {SIGNIFICANT})."


def _result(page: Page, comparison: Comparison, summary: Summary) -> None:
    parts = [f"at {part:.0%}" for part in PARTS]
    page.table(
        ("method", "mean regret", "95% interval", "median", *parts, "best found"),
        [
            (
                line.label, _loss(line.mean), _interval(line.low, line.high), _loss(line.median),
                *(_loss(value) for value in line.earlier), f"{line.best:.0%}",
            )
            for line in summary.lines
        ],
        numeric=range(1, 5 + len(PARTS)),
        highlight=0,
        caption=(
            f"Regret in {summary.metric.loss_name} at the end of the budget, and the mean regret "
            "at parts of it. Best found: the share of seeds that end with the best that the table "
            "has to offer."
        ),
    )  # fmt: skip
    page.table(
        ("method", "simulated hours", "trials", "cells", "real seconds", "searches ended"),
        [
            (
                line.label, f"{line.hours:,.1f}", f"{line.trials:,.1f}", f"{line.cells:,.1f}",
                f"{line.real_seconds:,.2f}", _ended(line),
            )
            for line in summary.lines
        ],
        numeric=range(1, 5),
        caption=(
            "What a search did, in the mean. Cells are different ones. A search ends when its "
            "budget is spent, when the method has finished (asks for nothing more), or when it is "
            "idle: when it asks only for what it has trained already."
        ),
    )  # fmt: skip
    left = comparison.table.everything[1]
    if left > 0:
        page.note(
            f"The regret cannot fall below {left:.4f} here: that is what remains when every cell "
            "has been trained, since the model with the lowest validation loss is not the one with "
            "the lowest test loss, or that one is a run which the searches do not see."
        )
    idle = [line.label for line in summary.lines if line.ended.get("idle")]
    if idle:
        page.note(
            f"{', '.join(idle)}: some searches were idle and ended before their budget was spent. "
            "Their last regret counts until the end."
        )


def _tests(page: Page, summary: Summary) -> None:
    page.text(
        "Wilcoxon's signed-rank test of the final regrets, two-sided, paired over seeds, with "
        f"Holm's correction for all {_count(len(summary.tests), 'pair')}. In the table is the mean "
        "difference of the row's regret minus the column's: below zero the row is better."
    )
    seeds = len(next(iter(summary.finals.values())))
    if len(summary.tests) * 2.0 ** (1 - seeds) >= SIGNIFICANT:
        page.note(f"With {_count(seeds, 'seed')} this test can hardly ever find a difference.")
    labels = summary.labels
    known = {(t.first, t.second): t for t in summary.tests}

    def cell(row: str, column: str) -> str:
        if row == column:
            return "·"
        pair = known.get((row, column))
        sign = 1.0 if pair is not None else -1.0
        pair = pair or known[column, row]
        return f"{sign * pair.difference:+.3f}{_stars(pair.adjusted)}"

    page.table(
        ("", *labels),
        [(row, *(cell(row, column) for column in labels)) for row in labels],
        numeric=range(1, len(labels) + 1),
        caption=(
            "Corrected p: * below 0.05, ** below 0.01, *** below 0.001. tests.csv has p, intervals "
            "of the differences, and how many seeds each method wins."
        ),
    )


def _how(page: Page, comparison: Comparison) -> None:
    table = comparison.table
    spent, _ = table.everything
    page.bullets(
        [
            "Regret at time t is the test loss of the best model so far minus the lowest test loss "
            f"of the table, {_lowest(table)}. The best model is the architecture and epoch "
            "of the lowest validation loss among all trials that had ended at t.",
            _losses(table.benchmark.metric),
            f"The methods choose among {_count(table.cells, 'cell')}; training them all takes "
            f"{spent / 3600:,.1f} simulated hours. Trials run one after the other; going on from a "
            "checkpoint costs the difference only, and what is trained already costs nothing.",
            "Each cell has its first run, as in the paper."
            if table.single_run
            else "A trial's seed chooses among the runs of its cell.",
            "Intervals are of the mean, by Student's t, without the part below 0, where no mean "
            "regret can be. Seeds are "
            f"{comparison.seeds[0]} to {comparison.seeds[-1]}.",
        ]
    )
    page.table(
        ("method", "is", "features", "settings"),
        [
            (one.label, _method(one), one.features or "none", _settings(one))
            for one in comparison.entries
        ],
        caption="The methods and their settings; those not listed are the method's defaults.",
    )


def _ended(line: Line) -> str:
    words = {"budget": "budget spent", "finished": "method finished", "idle": "idle"}
    return ", ".join(f"{words.get(why, why)}: {number}" for why, number in line.ended.items())


def _lowest(table: Table) -> str:
    metric = table.benchmark.metric
    if metric.loss_name == metric.name:
        return f"{table.lowest_test:.4f}"
    return f"{table.lowest_test:.4f}, {metric.name} {metric.shown(table.lowest_test)}"


def _losses(metric: Metric) -> str:
    """What the losses of a table are."""
    unit = f" in {metric.unit}" if metric.unit else ""
    direction = f"; of {metric.name} itself, the higher is the better" * metric.higher_is_better
    return f"Losses are {metric.loss_name}{unit}: the lower, the better{direction}."


def _method(one: Entry) -> str:
    """The method; of one of the user's own, which content of its file it was."""
    return one.title if one.sha256 is None else f"{one.title}, sha256 {one.sha256[:12]}…"


def _settings(one: Entry) -> str:
    return ", ".join(f"{name}={json.dumps(value)}" for name, value in one.settings.items())


def _loss(value: float) -> str:
    return f"{value:.4f}" if math.isfinite(value) else "–"


def _interval(low: float, high: float) -> str:
    return f"{low:.4f} to {high:.4f}" if math.isfinite(low) else "–"


def _stars(p: float) -> str:
    return "*" * sum(p < level for level in (SIGNIFICANT, 0.01, 0.001))


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
