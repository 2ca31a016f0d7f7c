"""Tables of a benchmark for notes and papers: its architectures, and what an analysis found."""

from __future__ import annotations

import math

import numpy as np

from cellwright.base.amounts import duration
from cellwright.bench import Benchmark
from cellwright.bench.analysis import Finding
from cellwright.bench.summary import of_architectures
from cellwright.report.tables import Column, Measured, Table, best_rows


def architectures_table(benchmark: Benchmark, most: int | None = None) -> Table:
    """A row for each architecture; with `most`, the best by validation, the best first."""
    figures, metric = of_architectures(benchmark), benchmark.metric
    places = list(range(len(benchmark)))
    if most is not None:
        known = np.where(figures.ok > 0, figures.valid, np.nan)
        places = [p for p in np.argsort(known, kind="stable").tolist() if np.isfinite(known[p])]
        places = places[:most]
    several = any(figures.ok[p] != 1 for p in places)
    columns = [
        Column("architecture", "name", right=False),
        *([Column("runs", "runs")] if several else []),
        Column("parameters", "parameters", "{:,}".format),
        Column("valid", "valid", "{:.4f}".format, measured=True),
        Column("test", "test", "{:.4f}".format),
        Column(metric.name, "test_value", metric.written),
        Column("time", "seconds", duration),
    ]
    rows = [
        (
            benchmark.names[p], *([int(figures.ok[p])] if several else []),
            int(figures.parameters[p]),
            Measured(float(figures.valid[p]), float(figures.spread[p])), float(figures.test[p]),
            metric.value(float(figures.test[p])), float(figures.seconds[p]),
        )
        for p in places
    ]  # fmt: skip
    best = best_rows([float(figures.valid[p]) for p in places]) if len(rows) > 1 else set()
    caption = (
        f"Architectures of {benchmark.title}: valid and test are {metric.loss_name}, the lower the "
        f"better, in the mean of their runs; {metric.name} is that of the test."
    )
    return Table(columns, rows, caption, "tab:architectures", best)


def finding_table(finding: Finding) -> Table:
    """The figures that sum up an analysis."""

    def shown(value: float) -> str:
        return f"{value:,.0f}" if value.is_integer() else f"{value:.3f}"

    columns = [Column("figure", "figure", right=False), Column("value", "value", shown)]
    rows = [(name, None if math.isnan(v) else float(v)) for name, v in finding.numbers.items()]
    return Table(columns, rows, finding.title, f"tab:{finding.name}")
