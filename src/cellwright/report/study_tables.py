"""The trials of a study as a table for notes and papers."""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.base.amounts import duration
from cellwright.report.tables import Column, Table, best_rows
from cellwright.trials.store import Study, TrialRecord


def trials_table(study: Study, trials: Sequence[TrialRecord]) -> Table:
    """What a paper says of trials: values are the metric's, the best is in bold."""
    metric = study.metric
    columns = [
        Column("trial", "number", "{:,}".format),
        Column("cell", "cell_id", right=False),
        Column("epochs", "fidelity", "{:,}".format),
        Column("valid", "valid", metric.written),
        Column("test", "test", metric.written),
        Column("parameters", "parameters", "{:,}".format),
        Column("time", "seconds", duration),
        Column("status", "status", right=False),
    ]
    values = [None if t.value is None else metric.value(t.value) for t in trials]
    tests = [t.measures.get("test") for t in trials]
    rows = [
        (
            trial.number, trial.cell_id, trial.fidelity, value,
            metric.value(test) if isinstance(test, float) else None,
            trial.parameters, trial.seconds, trial.status or trial.state,
        )
        for trial, value, test in zip(trials, values, tests, strict=True)
    ]  # fmt: skip
    how = study.search.get("method", "a method")
    caption = f"Trials of {study.name} by {how}: {metric.name}, {metric.better_word} is better."
    best = best_rows(values, metric.higher_is_better) if len(rows) > 1 else set()
    return Table(columns, rows, caption, "tab:trials", best)
