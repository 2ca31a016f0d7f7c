"""Tables of runs: one for each run, and the curve of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cellwright.base.amounts import duration
from cellwright.report.tables import Column, Said, Table, best_rows
from cellwright.tasks.metric import Metric
from cellwright.training.results import EpochRecord, best_of


def runs_table(rows: Sequence[Mapping[str, Any]], metrics: Sequence[Metric]) -> Table:
    """A row for each run. The best is in bold where all have the same metric and data.

    Args:
        rows: as `cellwright runs list --json` has them.
        metrics: of each run.
    """
    columns = [
        Column("run", "name", right=False),
        Column("cell", "cell", right=False),
        Column("data", "data", lambda name: Path(name).name, right=False),
        Column("seed", "seed"),
        Column("epochs", "epochs", "{:,}".format),
        Column("valid", "valid"),
        Column("test", "test"),
        Column("time", "seconds", duration),
        Column("metric", "metric", right=False),
        Column("state", "state", right=False),
    ]
    found = [
        (
            row["name"], row["cell"], row["data"], row["seed"], row["epochs"],
            _said(row["value"], metric), _said(row["test_value"], metric), row["seconds"],
            metric.name, row["state"],
        )
        for row, metric in zip(rows, metrics, strict=True)
    ]  # fmt: skip
    comparable = len({(m.name, row["data"]) for row, m in zip(rows, metrics, strict=True)}) == 1
    best: set[int] = set()
    if comparable and len(found) > 1:
        best = best_rows([row["value"] for row in rows], metrics[0].higher_is_better)
    names = sorted({metric.name for metric in metrics})
    caption = f"Runs: {', '.join(names)} at the epoch that validated best."
    return Table(columns, found, caption, "tab:runs", best)


def curve_table(name: str, curve: Sequence[EpochRecord], metric: Metric) -> Table:
    """A row for each epoch of a run, the best in bold."""
    values = [metric.value(record.valid) for record in curve]
    train = "train" if metric.is_learned_from else "train loss"
    as_trained = metric.value if metric.is_learned_from else float
    columns = [
        Column("epoch", "epoch", "{:,}".format),
        Column(train, "train", metric.written if metric.is_learned_from else "{:.4f}".format),
        Column("valid", "valid", metric.written),
        Column("test", "test", metric.written),
        Column("learning rate", "learning_rate", "{:.3g}".format),
        Column("time", "seconds", duration),
    ]
    rows = [
        (
            record.epoch, as_trained(record.train), value, metric.value(record.test),
            record.learning_rate, record.seconds,
        )
        for record, value in zip(curve, values, strict=True)
    ]  # fmt: skip
    chosen = best_of(tuple(curve))
    best = {place for place, record in enumerate(curve) if record is chosen}
    caption = f"{metric.name[:1].upper()}{metric.name[1:]} of {name} after each epoch."
    return Table(columns, rows, caption, "tab:curve", best)


def _said(value: float | None, metric: Metric) -> Said | None:
    return None if value is None else Said(value, metric.written(value))
