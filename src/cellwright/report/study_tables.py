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
        Column("cell", "cell_id", lambda found: found[:8], right=False),
        Column("epochs", "fidelity", "{:,}".format),
        Column("valid", "valid", metric.written),
        Column("test", "test", metric.written),
        Column("parameters", "parameters", "{:,}".format),
        Column("time", "seconds", duration),
    ]
    values = [None if t.value is None else metric.value(t.value) for t in trials]
    tests = [t.measures.get("test") for t in trials]
    rows: list[list[object]] = [
        [
            trial.number, trial.cell_id, trial.fidelity, value,
            metric.value(test) if isinstance(test, float) else None,
            trial.parameters, trial.seconds,
        ]
        for trial, value, test in zip(trials, values, tests, strict=True)
    ]  # fmt: skip
    if any(trial.status != "ok" for trial in trials):
        columns.append(Column("ended", "status", right=False))
        for trial, row in zip(trials, rows, strict=True):
            row.append(trial.status or trial.state)
    how = study.search.get("method", "a method")
    caption = f"Trials of {study.name} by {how}: {metric.name}, {metric.better_word} is better."
    best = best_rows(values, metric.higher_is_better) if len(rows) > 1 else set()
    return Table(columns, rows, caption, "tab:trials", best)
