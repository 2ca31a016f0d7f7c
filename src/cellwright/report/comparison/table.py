"""The table of a comparison for notes and papers: `table.md` and `table.tex`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cellwright.base.amounts import duration
from cellwright.base.statistics import Spread
from cellwright.compare.plan import Plan
from cellwright.compare.results import Standing
from cellwright.report.tables import Column, Measured, Table, best_rows


def paper_table(plan: Plan, standings: Sequence[Standing]) -> Table:
    """The cells, the best first and in bold, with what a paper says of them."""
    metric = plan.metric
    columns = [
        Column("cell", "cell", right=False),
        Column("parameters", "parameters", "{:,}".format),
        Column("valid", "valid", metric.written, measured=True),
        Column("test", "test", metric.written, measured=True),
        Column("time", "seconds", duration),
    ]
    rows: list[list[object]] = [
        [one.label, one.parameters, _measured(one.valid), _measured(one.test), one.seconds]
        for one in standings
    ]
    if any(one.diverged for one in standings):
        columns.append(Column("diverged", "diverged"))
        for one, row in zip(standings, rows, strict=True):
            row.append(len(one.diverged))
    means = [None if one.valid is None else one.valid.mean for one in standings]
    best = best_rows(means, metric.higher_is_better) if len(standings) > 1 else set()
    return Table(columns, rows, _caption(plan), "tab:comparison", best)


def _measured(spread: Spread | None) -> Measured | None:
    return None if spread is None else Measured(spread.mean, spread.deviation)


def _caption(plan: Plan) -> str:
    metric, seeds = plan.metric, len(plan.seeds)
    data = Path(plan.recipe.task.data).name
    how = "from one seed" if seeds == 1 else f"mean ± sample standard deviation over {seeds} seeds"
    return (
        f"{metric.name[:1].upper()}{metric.name[1:]} ({metric.better_word} is better) of cells on "
        f"{data}, trained by the recipe {plan.recipe.name}: {how}, at the epoch that validated "
        "best."
    )
