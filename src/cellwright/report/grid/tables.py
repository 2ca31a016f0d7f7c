"""The tables of a grid: results, costs and settings (ENAS-pairs, Tables 1, 2, 4 and 5)."""

from __future__ import annotations

from typing import Any

from cellwright.base.amounts import duration
from cellwright.base.statistics import Finding, Spread
from cellwright.grids.recipes import SearchStage, TrainStage, TuneStage
from cellwright.grids.results import GridFigures, Row, StageResult
from cellwright.report.tables import NONE, Column, Measured, Table
from cellwright.tasks.metric import Metric

BETTER, WORSE = "▲", "▼"
"""Behind a value that is better or worse than the baseline beyond the spread over seeds."""


def mark(finding: Finding | None, metric: Metric | None) -> str:
    """What stands behind a value: whether its test values differ from the baseline's for sure."""
    if finding not in ("lower", "higher") or metric is None:
        return ""
    return BETTER if (finding == "higher") == metric.higher_is_better else WORSE


def spread_words(spread: Spread | None, metric: Metric | None) -> str:
    """A mean and its deviation as people read them."""
    if spread is None or metric is None:
        return NONE
    mean = metric.written(spread.mean)
    deviation = spread.deviation
    return mean if deviation is None else f"{mean} ± {metric.written(deviation)}"


def result_rows(found: GridFigures) -> tuple[list[str], list[list[str]]]:
    """Rows × columns as words: means over seeds on both parts."""
    header = [*found.headings]
    for column in found.columns:
        header += [f"{column} valid", f"{column} test"]
    rows = []
    for row in found.rows:
        words = [dict(row).get(name, "") for name in found.headings]
        for column in found.columns:
            one = found.at(row, column)
            words += [NONE, NONE] if one is None else _values(found, row, column, one)
        rows.append(words)
    return header, rows


def _values(found: GridFigures, row: Row, column: str, one: StageResult) -> list[str]:
    sign = mark(found.against_baseline(row, column), one.metric)
    test = f"{spread_words(one.test, one.metric)} {sign}".rstrip()
    return [spread_words(one.valid, one.metric), test]


def result_table(found: GridFigures) -> Table:
    """The same with numbers, for files."""
    columns = [Column(name, name, right=False) for name in found.headings]
    for column in found.columns:
        metric = next(
            (one.metric for _, where, one in found.placed if where == column and one.metric), None
        )
        shown = str if metric is None else metric.written
        columns += [
            Column(f"{column} {part}", f"{column} {part}", shown, measured=True)
            for part in ("valid", "test")
        ]
        columns.append(Column(f"{column} against", f"{column} against the baseline", right=False))
    rows: list[list[Any]] = []
    for row in found.rows:
        values: list[Any] = [dict(row).get(name, "") for name in found.headings]
        for column in found.columns:
            one = found.at(row, column)
            if one is None:
                values += [None, None, None]
            else:
                values += [_measured(one.valid), _measured(one.test)]
                values.append(found.against_baseline(row, column))
        rows.append(values)
    return Table(columns, rows, _caption(found), "tab:grid")


def cost_table(found: GridFigures) -> Table:
    """What every result cost: trials, and hours of search, tuning and training."""
    columns = [
        Column("stage", "stage", right=False),
        *(Column(name, name, right=False) for name in [*found.headings, "column"]),
        Column("trials", "trials", "{:,}".format),
        Column("search, hours", "search_hours", _hours),
        Column("tuning, hours", "tuning_hours", _hours),
        Column("training, hours", "training_hours", _hours),
        Column("seconds a trial", "seconds_a_trial", "{:.1f}".format),
        Column("parameters", "parameters", "{:,}".format),
    ]
    rows: list[list[Any]] = []
    for row, column, one in found.placed:
        costs = found.costs(one)
        tuned = isinstance(one.stage, TuneStage) and one.trials
        rows.append(
            [
                one.name,
                *(dict(row).get(name, "") for name in found.headings),
                column,
                one.trials or None,
                costs.search / 3600,
                costs.tuning / 3600,
                costs.training / 3600,
                one.seconds / one.trials if tuned else None,
                one.parameters,
            ]
        )
    return Table(columns, rows, "What each row cost, with what it stands on.", "tab:costs")


def settings_table(found: GridFigures) -> Table:
    """The best settings of every stage that tuned."""
    tuned = [one for one in found.results.values() if isinstance(one.stage, TuneStage)]
    names = list(dict.fromkeys(name for one in tuned for name in one.settings))
    columns = [
        Column("stage", "stage", right=False),
        Column("cell", "cell", right=False),
        Column("best trial", "best", "{:.4g}".format),
        *(Column(name.partition(".")[2] or name, name, _setting) for name in names),
    ]
    rows = [
        [
            one.name,
            one.cells[0].name or one.cells[0].id,
            one.best,
            *(one.settings.get(name) for name in names),
        ]
        for one in tuned
    ]
    return Table(columns, rows, "The best settings that were found.", "tab:settings")


def searched_table(found: GridFigures) -> Table:
    """The best trial of each study; that of a random search at the same cost, where one was run."""
    ones = [one for one in found.results.values() if one.best is not None and one.metric]
    columns = [
        Column("stage", "stage", right=False),
        Column("metric", "metric", right=False),
        Column("trials", "trials", "{:,}".format),
        Column("time", "seconds", duration),
        Column("best trial", "best", "{:.4g}".format),
    ]
    rows: list[list[Any]] = [
        [one.name, one.metric.name if one.metric else "", one.trials, one.seconds, one.best]
        for one in ones
    ]
    if any(one.random is not None for one in ones):
        columns.append(Column("random search, same cost", "random", "{:.4g}".format))
        rows = [[*row, one.random] for row, one in zip(rows, ones, strict=True)]
    return Table(columns, rows, "Best trials on the validation data.", "tab:trials")


def stage_words(found: GridFigures) -> list[str]:
    """What each stage has given, in a line."""
    lines = []
    for name, one in found.results.items():
        stage = one.stage
        if isinstance(stage, TuneStage):
            what = f"{one.trials:,} trials in {duration(one.seconds)}"
        elif isinstance(stage, SearchStage):
            what = f"{_cells(len(one.cells))} found in {duration(one.seconds)}"
        elif isinstance(stage, TrainStage):
            what = f"{_cells(len(one.cells))} trained in {duration(one.training)}"
        else:
            what = f"{_cells(len(one.cells))} drawn: {stage.cells}"
        lines.append(f"{name} ({stage.kind}): {what}")
    return lines


def _cells(many: int) -> str:
    return "1 cell" if many == 1 else f"{many:,} cells"


def _caption(found: GridFigures) -> str:
    seeds = found.recipe.seeds
    how = "one seed" if seeds == 1 else f"mean and sample standard deviation over {seeds} seeds"
    return f"{found.recipe.description or found.recipe.name}: {how}."


def _measured(spread: Spread | None) -> Measured | None:
    return None if spread is None else Measured(spread.mean, spread.deviation)


def _hours(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def _setting(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    text = str(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
