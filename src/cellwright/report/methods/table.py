"""The table of a comparison of methods for notes and papers: `summary.md` and `summary.tex`."""

from __future__ import annotations

import math

from cellwright.bench.compare.scheduling import Comparison
from cellwright.bench.compare.summary import Summary
from cellwright.report.tables import Column, Measured, Table, best_rows


def paper_table(comparison: Comparison, summary: Summary) -> Table:
    """A row for each method, the lowest regret first and in bold."""
    columns = [
        Column("method", "method", right=False),
        Column("mean regret", "mean_regret", "{:.4f}".format, measured=True),
        Column("median", "median", "{:.4f}".format),
        Column("best found", "share_best", "{:.0%}".format),
        Column("trials", "trials", "{:,.1f}".format),
    ]
    rows = [
        (
            line.label,
            Measured(line.mean, _half(line.low, line.high)),
            line.median,
            line.best,
            line.trials,
        )
        for line in summary.lines
    ]
    best = best_rows([line.mean for line in summary.lines]) if len(rows) > 1 else set()
    seeds, hours = len(comparison.seeds), comparison.seconds / 3600
    caption = (
        f"Final regret in {summary.metric.loss_name} on {comparison.table.benchmark.title} after "
        f"{hours:,.4g} simulated hours: mean ± half of its 95% interval over "
        f"{seeds} {'seed' if seeds == 1 else 'seeds'}, and the share of seeds that end with the "
        "best of the table."
    )
    return Table(columns, rows, caption, "tab:methods", best)


def _half(low: float, high: float) -> float | None:
    return (high - low) / 2 if math.isfinite(high - low) else None
