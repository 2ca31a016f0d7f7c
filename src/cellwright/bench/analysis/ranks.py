"""How early the ranking of architectures is that of the end (Figure 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cellwright.bench.analysis.finding import Finding
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.columns import Integers
from cellwright.bench.errors import BenchError
from cellwright.bench.statistics import correlations, positions

EPOCHS = (5, 10, 25, 50)
"""The epochs of the paper's four panels."""


@dataclass(frozen=True, eq=False)
class Ranks(Finding):
    """How runs rank early and at the end.

    Args:
        early: the places by validation of all runs, by epoch.
        final: the places by the test loss of the end.
        last: the last epoch.
    """

    early: Mapping[int, Integers]
    final: Integers
    last: int


def ranks(benchmark: Benchmark, epochs: Sequence[int] | None = None) -> Ranks:
    """The rank correlation of the validation loss at each epoch with the test loss of the end.

    Over all runs that ended well and have all epochs, as in the paper.

    Args:
        benchmark: the table.
        epochs: those that have a panel in the figure; by default the paper's, scaled to the
            table's number of epochs.
    """
    last = benchmark.most_epochs
    complete = benchmark.has_status("ok") & (np.diff(benchmark.first_epoch) == last)
    valid, test = benchmark.curves("valid")[complete], benchmark.curves("test")[complete]
    kept = np.isfinite(test[:, -1]) if last else np.zeros(len(test), bool)
    if kept.sum() < 3:
        raise BenchError(f"{benchmark.title!r} has fewer than three complete runs to rank")
    valid, final = valid[kept], test[kept][:, -1]
    panels = tuple(epochs) if epochs is not None else _panels(last)
    for epoch in panels:
        if not 1 <= epoch <= last:
            raise BenchError(
                f"the runs of {benchmark.title!r} have epochs 1 to {last}, not {epoch}"
            )
    rows = []
    for epoch in range(1, last + 1):
        found = correlations(valid[:, epoch - 1], final)
        rows.append((epoch, found["spearman"], found["kendall"]))
    numbers = {"runs": float(len(final))}
    numbers |= {f"spearman at epoch {epoch}": rows[epoch - 1][1] for epoch in panels}
    title = "Ranking by validation at an epoch against the final test ranking (Figure 5)"
    early = {epoch: positions(valid[:, epoch - 1]) for epoch in panels}
    heading = ("epoch", "spearman", "kendall")
    return Ranks("ranks", title, numbers, heading, tuple(rows), early, positions(final), last)


def _panels(last: int) -> tuple[int, ...]:
    return tuple(sorted({max(1, round(epoch * last / EPOCHS[-1])) for epoch in EPOCHS}))
