"""The comparison at the end of a study, in a table and in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cellwright.cli.figures import duration
from cellwright.cli.output import count
from cellwright.cli.tables import Column, Listing

if TYPE_CHECKING:
    from cellwright.base.statistics import Difference, Spread
    from cellwright.search.studies.final import Finalist, FinalResult
    from cellwright.tasks.metric import Metric


def final_table(result: FinalResult) -> Listing:
    """Every cell with its values over the seeds, the best by validation first."""
    metric = result.metric
    table = Listing(
        Column("cell", style="cyan"),
        Column("parameters", 3, right=True),
        Column("valid", right=True),
        Column("test", 1, right=True),
        Column("seeds", 2, right=True),
        title=f"from fresh seeds, {metric.name}: mean ± standard deviation",
    )
    for row in result.rows:
        table.add(
            row.label,
            "–" if row.parameters is None else f"{row.parameters:,}",
            _written(row.valid, metric),
            _written(row.test, metric),
            "0" if row.valid is None else str(len(row.valid.values)),
            style="bold" if row is result.winner else "",
        )
    return table


def margin_lines(result: FinalResult) -> Iterator[str]:
    """Whether what was found is better than the known cells, and what that was found out with."""
    winner = result.winner
    if winner is None:
        yield "none of the cells that were found could be trained again"
        return
    for label, margin in result.margins.items():
        yield _said(winner, label, margin, result.metric)
    ledger = result.ledger
    yield (
        f"this comparison: {count(ledger.trials, 'training')}, {count(ledger.epochs, 'epoch')}, "
        f"{duration(ledger.wall)}"
    )


def _said(winner: Finalist, label: str, margin: Difference, metric: Metric) -> str:
    better = (margin.value > 0) == metric.higher_is_better
    which = f"{'test' if winner.test else 'validation'} {metric.name}"
    amount = metric.written(abs(margin.value))
    if margin.finding == "unknown":
        return f"{winner.label} beside {label}: a single seed has no spread to judge {which} by"
    if margin.finding == "not distinguishable":
        return (
            f"{winner.label} is not to be told from {label}: {which} "
            f"{'better' if better else 'worse'} by {amount} ± {metric.written(margin.margin or 0)}"
        )
    how = "seems" if margin.finding.startswith("seems") else "is"
    sure = "" if margin.margin is None else f" ± {metric.written(margin.margin)} (95 %)"
    return (
        f"{winner.label} {how} {'better' if better else 'worse'} than {label}: {which} by "
        f"{amount}{sure}"
    )


def _written(values: Spread | None, metric: Metric) -> str:
    if values is None:
        return "–"
    mean = metric.written(values.mean)
    if values.deviation is None:
        return mean
    return f"{mean} ± {metric.written(values.deviation)}"
