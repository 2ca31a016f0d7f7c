"""Parameters, training time and perplexity of the architectures (Figure 4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellwright.bench.analysis.finding import Finding
from cellwright.bench.benchmark import Benchmark
from cellwright.bench.errors import BenchError
from cellwright.bench.statistics import correlations, positions
from cellwright.bench.summary import of_architectures
from cellwright.cell.zoo import zoo
from cellwright.report.drawing import COLOURS, time_unit

BASELINES = {"RNN": "nbnlp-rnn", "LSTM": "nbnlp-lstm", "GRU": "nbnlp-gru"}
"""The three architectures that the paper adds by hand and marks in its figures."""

_MARKERS = {"RNN": "X", "LSTM": "^", "GRU": "o"}
_MOST_LINEAR = 30
"""Architectures in one bar of the histogram up to which its axis is not logarithmic."""
_MOST_LOSS = 690.0
"""Beyond it a perplexity is too large for a number."""


def measures(benchmark: Benchmark) -> Finding:
    """How parameters, wall time and the best test perplexity go together, and its distribution.

    As in the paper: architectures that diverged are left out, and an architecture's perplexity is
    the lowest on the test set of all epochs. Of several runs the mean is taken.
    """
    figures = of_architectures(benchmark)
    kept = np.flatnonzero(np.isfinite(figures.lowest_test) & (figures.lowest_test < _MOST_LOSS))
    if not len(kept):
        raise BenchError(f"{benchmark.title!r} has no run that ended well with a test loss")
    loss, seconds = figures.lowest_test[kept], figures.seconds[kept]
    parameters = figures.parameters[kept].astype(np.float64)
    perplexity = np.exp(loss)
    marked = _baselines(benchmark, kept)
    ranks = positions(loss) + 1
    pairs = {
        "parameters, perplexity": (parameters, perplexity),
        "time, perplexity": (seconds, perplexity),
        "parameters, time": (parameters, seconds),
    }
    numbers = {
        "architectures": float(len(kept)),
        **{
            f"{kind} of {name}": value
            for name, pair in pairs.items()
            for kind, value in correlations(*pair).items()
            if kind != "kendall"
        },
        **{f"rank of {name}": float(ranks[place]) for name, place in marked.items()},
    }

    unit, unit_name = time_unit(float(seconds.max()))
    many, many_name = (1e6, "millions") if parameters.max() >= 1e6 else (1e3, "thousands")
    times, sizes = seconds / unit, parameters / many

    def draw(figure: Any) -> None:
        scatter, histogram = figure.subplots(1, 2)
        high = float(np.quantile(perplexity, 0.95))
        points = scatter.scatter(times, sizes, c=perplexity, s=14, cmap="viridis_r", vmax=high)
        for name, place in marked.items():
            scatter.scatter(
                times[place], sizes[place], s=110, c=COLOURS[1], marker=_MARKERS[name],
                edgecolor="black", linewidth=0.6, label=name,
            )  # fmt: skip
        scatter.set_xlabel(f"wall time, {unit_name}")
        scatter.set_ylabel(f"parameters, {many_name}")
        figure.colorbar(points, ax=scatter, label="test perplexity", extend="max")
        counts, _, _ = histogram.hist(
            np.minimum(perplexity, high * 1.05), bins=40, color=COLOURS[0], alpha=0.8
        )
        if counts.max() > _MOST_LINEAR:
            histogram.set_yscale("log")
            histogram.set_ylim(bottom=0.5)
        else:
            histogram.yaxis.get_major_locator().set_params(integer=True)
        for number, (name, place) in enumerate(marked.items(), 1):
            value = perplexity[place]
            histogram.axvline(value, color=f"C{number}", linestyle="--", label=name)
        histogram.set_xlabel("best test perplexity (the last bar has all above)")
        histogram.set_ylabel("architectures")
        if marked:
            scatter.legend()
            histogram.legend()

    names = ("name", "graph", "parameters", "seconds", "test_loss", "test_perplexity", "rank")
    rows = zip(
        [benchmark.names[n] for n in kept], [benchmark.graphs[n] for n in kept],
        figures.parameters[kept].tolist(), seconds.tolist(), loss.tolist(), perplexity.tolist(),
        ranks.tolist(), strict=True,
    )  # fmt: skip
    title = "Parameters, time and test perplexity (Figure 4)"
    return Finding("measures", title, numbers, names, tuple(rows), (10, 4), draw)


def _baselines(benchmark: Benchmark, kept: Any) -> dict[str, int]:
    """Where the three baselines stand among the architectures that are kept."""
    places = {int(number): place for place, number in enumerate(kept)}
    found = {}
    for name, own in BASELINES.items():
        for number in benchmark.by_graph.get(zoo[own].id, []):
            if number in places:
                found[name] = places[number]
                break
    return found
