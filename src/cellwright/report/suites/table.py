"""Cells × tasks: the table of a suite for people, and for papers (FENAS, Tables 2 and 3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cellwright.base.amounts import duration
from cellwright.base.statistics import Spread
from cellwright.compare.suites.figures import Part, SuiteFigures, TaskFigures
from cellwright.report.tables import NONE, Column, Measured, Table, best_rows
from cellwright.tasks.metric import Metric

AVERAGE, PARAMETERS, TIME = "average", "parameters", "time"

PART_WORDS: dict[Part, str] = {"valid": "validation", "test": "test"}


def written(metric: Metric, value: float) -> str:
    """A score as people read it: of percentages one digit, so that many tasks have room.

    >>> written(Metric(name="accuracy", form="percent"), 86.52)
    '86.5'
    """
    return f"{value:.1f}" if metric.form == "percent" else metric.written(value)


def spread_text(spread: Spread | None, metric: Metric) -> str:
    """A mean and its spread over the seeds."""
    if spread is None:
        return NONE
    mean = written(metric, spread.mean)
    deviation = spread.deviation
    return mean if deviation is None else f"{mean} ± {written(metric, deviation)}"


def suite_table(found: SuiteFigures, part: Part) -> tuple[list[str], list[list[str]]]:
    """The table of a part as words, the best cell first; all columns but the first are figures."""
    header = ["cell", *(one.task.label for one in found.tasks)]
    if found.metric is not None:
        header.append(AVERAGE)
    rows = []
    for label in found.cells:
        row = [label, *(spread_text(one.score(label, part), one.metric) for one in found.tasks)]
        if found.metric is not None:
            row.append(spread_text(found.average(label, part), found.metric))
        row += [parameters_text(found.parameters(label)), duration(found.seconds(label))]
        rows.append(row)
    return [*header, PARAMETERS, TIME], rows


def parameters_text(found: tuple[int, int] | None) -> str:
    """How many parameters models have, from the smallest to the largest.

    >>> parameters_text((51_200, 51_200)), parameters_text((980, 12_345_678))
    ('51k', '980 to 12.3M')
    """
    if found is None:
        return NONE
    few, many = map(_rounded, found)
    return few if few == many else f"{few} to {many}"


def _rounded(number: int) -> str:
    if number < 1000:
        return str(number)
    return f"{number / 1e6:,.1f}M" if number >= 999_500 else f"{number / 1e3:,.0f}k"


def each_figure(found: SuiteFigures, part: Part) -> tuple[list[str], list[list[str]]] | None:
    """The tasks that count by several figures, with each of these; None if there are none."""
    several = [one for one in found.tasks if len(one.names) > 1]
    if not several:
        return None
    header = ["cell", *(f"{one.task.label}: {' / '.join(one.names)}" for one in several)]
    return header, [[label, *(_each(one, label, part) for one in several)] for label in found.cells]


def _each(one: TaskFigures, label: str, part: Part) -> str:
    found = (one.figure(label, part, name) for name in one.names)
    return " / ".join(spread_text(spread, one.metric) for spread in found)


MOST_SPREADS = 4
"""With more tasks than this a paper's table has their means alone, since a page has no room for the
spreads; that of the average stays."""


def paper_table(found: SuiteFigures, part: Part) -> Table:
    """The table of a part for a paper, the best average in bold."""
    spreads = len(found.tasks) <= MOST_SPREADS
    columns = [Column("cell", "cell", right=False)]
    for one in found.tasks:
        name = one.task.label
        columns.append(Column(name, name, partial(written, one.metric), measured=spreads))
    best: set[int] = set()
    metric = found.metric
    if metric is not None:
        shown: Callable[[float], str] = partial(written, metric)
        columns.append(Column(AVERAGE, AVERAGE, shown, measured=True))
        means = [found.average(label, part) for label in found.cells]
        values = [None if mean is None else mean.mean for mean in means]
        best = best_rows(values, metric.higher_is_better) if len(values) > 1 else set()
    rows = [
        [
            label,
            *(_measured(one.score(label, part), spreads) for one in found.tasks),
            *([] if metric is None else [_measured(found.average(label, part))]),
            found.parameters(label),
        ]
        for label in found.cells
    ]
    columns.append(Column(PARAMETERS, PARAMETERS, parameters_text))
    said = caption(found, part)
    if not spreads and metric is not None:
        said += " The spread is that of the averages."
    return Table(columns, rows, said, f"tab:suite-{part}", best)


def _measured(spread: Spread | None, spreads: bool = True) -> Measured | float | None:
    if spread is None:
        return None
    return Measured(spread.mean, spread.deviation) if spreads else spread.mean


def caption(found: SuiteFigures, part: Part | None = None) -> str:
    """What the figures are, of one part or of both."""
    several = [one for one in found.tasks if len(one.names) > 1]
    counted = "; ".join(
        f"{' and '.join(names)} of {', '.join(labels)}"
        for names, labels in _by_names(found).items()
    )
    mean = "; of several figures their mean" if several else ""
    where = "" if part is None else f", {PART_WORDS[part]} data"
    seeds = max(len(one.plan.seeds) for one in found.tasks)
    how = "from one seed" if seeds == 1 else f"mean ± sample standard deviation over {seeds} seeds"
    return (
        f"{found.suite.title or found.suite.name}{where}: {counted}{mean}; "
        f"{how}, at the epoch that validated best."
    )


def _by_names(found: SuiteFigures) -> dict[tuple[str, ...], list[str]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for one in found.tasks:
        groups.setdefault(one.names, []).append(one.task.label)
    return groups
