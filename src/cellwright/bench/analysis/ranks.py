"""How early the ranking of architectures is that of the end (Figure 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cellwright.bench.analysis.finding import Finding
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.errors import BenchError
from cellwright.bench.statistics import correlations, positions

EPOCHS = (5, 10, 25, 50)
"""The epochs of the paper's four panels."""


def ranks(benchmark: Benchmark, epochs: Sequence[int] | None = None) -> Finding:
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

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, len(panels) + 1)
        places = positions(final)
        for axis, epoch in zip(axes, panels, strict=False):
            axis.scatter(positions(valid[:, epoch - 1]), places, s=4)
            axis.set_title(f"Spearman {rows[epoch - 1][1]:.3f}")
            axis.set_xlabel(f"validation rank, epoch {epoch}")
            axis.set_aspect("equal")
        axes[0].set_ylabel(f"test rank, epoch {last}")
        for column, name in ((1, "Spearman"), (2, "Kendall")):
            axes[-1].plot([row[0] for row in rows], [row[column] for row in rows], label=name)
        axes[-1].set_xlabel("epoch of validation")
        axes[-1].set_ylabel("rank correlation")
        axes[-1].legend()

    title = "Ranking by validation at an epoch against the final test ranking (Figure 5)"
    size = (3.0 * (len(panels) + 1), 3.2)
    return Finding(
        "ranks", title, numbers, ("epoch", "spearman", "kendall"), tuple(rows), size, draw
    )


def _panels(last: int) -> tuple[int, ...]:
    return tuple(sorted({max(1, round(epoch * last / EPOCHS[-1])) for epoch in EPOCHS}))
