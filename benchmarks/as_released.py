"""Cells trained as NAS-Bench-NLP describes it and as its released code does, beside its own logs.

    python benchmarks/as_released.py released.bench frozen.bench trained.bench -o pictures

The three are benchmarks of the same cells: the imported logs, and two of `cellwright bench build
--architectures released.bench`, with `model.recurrent` frozen and trained. What counts is the test
loss after the last epoch, the mean over the runs that ended well. Tables come as Markdown; with
-o, a scatter plot of each of the two against the logs. Needs `cellwright[metrics,plots]`.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cellwright.bench import Benchmark, load
from cellwright.bench.building import baselines
from cellwright.bench.statistics import correlations, intervals, positions
from cellwright.bench.summary import of_architectures, of_runs
from cellwright.cell import Cell
from cellwright.report import drawing
from cellwright.report.paper import Shape

BASELINES = dict(zip(("RNN", "LSTM", "GRU"), (cell.id for cell in baselines()), strict=True))
MARKERS = {"RNN": "X", "LSTM": "^", "GRU": "s"}
SAMPLES = 2000


@dataclass(frozen=True)
class Table:
    """A benchmark by graphs: final test losses, and how many runs there are and ended well."""

    name: str
    losses: dict[str, float]
    ok: dict[str, int]
    runs: dict[str, int]
    by_seed: tuple[dict[str, float], ...]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("released", "frozen", "trained"):
        parser.add_argument(name, type=Path)
    parser.add_argument("-o", "--output", type=Path, help="a folder for pictures")
    options = parser.parse_args()
    benchmark = load(options.frozen)
    frozen, trained = table("frozen", benchmark), table("trained", load(options.trained))
    released = table("released", load(options.released))
    print(*correlation_rows(released, frozen, trained), sep="\n", end="\n\n")
    print(*standing_rows(released, frozen, trained), sep="\n", end="\n\n")
    print(*gain_rows(benchmark, frozen, trained), sep="\n")
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        for own in (frozen, trained):
            draw = partial(scatter, released, own)
            picture = drawing.picture(draw, "svg", Shape(4.5, 4.2), {"font.size": 9})
            (options.output / f"nas-bench-nlp-{own.name}.svg").write_bytes(picture)


def table(name: str, benchmark: Benchmark) -> Table:
    """What is looked at of a benchmark."""
    cells, runs = of_architectures(benchmark), of_runs(benchmark)
    losses, ok, count = {}, {}, {}
    seeds: tuple[dict[str, float], ...] = ({}, {})
    for graph, numbers in benchmark.by_graph.items():
        found = cells.final_test[numbers]
        if np.isfinite(found).any():
            losses[graph] = float(np.nanmean(found))
        ok[graph], count[graph] = int(cells.ok[numbers].sum()), int(cells.runs[numbers].sum())
        first = benchmark.first_run[numbers[0]]
        for seed in range(min(2, int(cells.runs[numbers[0]]))):
            seeds[seed][graph] = float(runs.final_test[first + seed])
    return Table(name, losses, ok, count, seeds)


def correlation_rows(released: Table, frozen: Table, trained: Table) -> list[str]:
    """How far the orders agree, with intervals, and which of the two is nearer to the logs."""
    pairs = [
        ("frozen, released logs", frozen.losses, released.losses),
        ("trained, released logs", trained.losses, released.losses),
        ("frozen, trained", frozen.losses, trained.losses),
        ("frozen, seeds 0 and 1", *frozen.by_seed),
        ("trained, seeds 0 and 1", *trained.by_seed),
    ]
    rows = ["| what | cells | Spearman | Kendall |", "|---|---:|---:|---:|"]
    for what, one, other in pairs:
        a, b = both(one, other)
        middle, ends = correlations(a, b), intervals(a, b, samples=SAMPLES)
        shown = [
            f"{middle[kind]:.2f} ({ends[kind][0]:.2f} to {ends[kind][1]:.2f})"
            for kind in ("spearman", "kendall")
        ]
        rows.append(f"| {what} | {len(a)} | {' | '.join(shown)} |")
    a, b, c = both(frozen.losses, trained.losses, released.losses)
    drawn = np.random.default_rng(0).integers(len(a), size=(SAMPLES, len(a)))
    shown = []
    for kind in ("spearman", "kendall"):
        nearer = [
            correlations(a[rows_], c[rows_])[kind] - correlations(b[rows_], c[rows_])[kind]
            for rows_ in drawn
        ]
        low, high = np.nanquantile(nearer, (0.025, 0.975))
        middle_ = correlations(a, c)[kind] - correlations(b, c)[kind]
        shown.append(f"{middle_:+.2f} ({low:+.2f} to {high:+.2f})")
    rows.append(f"| first less second, same cells | {len(a)} | {' | '.join(shown)} |")
    return rows


def both(*tables: dict[str, float]) -> list[Any]:
    """The losses of the graphs that all have."""
    shared = [
        graph
        for graph in tables[0]
        if all(np.isfinite(found.get(graph, np.nan)) for found in tables)
    ]
    return [np.array([found[graph] for graph in shared]) for found in tables]


def standing_rows(released: Table, frozen: Table, trained: Table) -> list[str]:
    """What diverged, and where RNN, LSTM and GRU stand."""
    rows = [
        "| | runs | diverged | cells with a loss | RNN | LSTM | GRU | best | median |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for own in (released, frozen, trained):
        there = [graph for graph in frozen.runs if graph in own.runs]
        runs, ok = (sum(found[graph] for graph in there) for found in (own.runs, own.ok))
        fine = [graph for graph in there if graph in own.losses]
        losses = np.array([own.losses[graph] for graph in fine])
        places = dict(zip(fine, (positions(losses) + 1).tolist(), strict=True))
        stand = [
            f"{places[graph]} ({own.losses[graph]:.2f})"
            if graph in places
            else "diverged"
            if graph in there
            else "–"
            for graph in BASELINES.values()
        ]
        ends = f"{losses.min():.2f} | {np.median(losses):.2f}"
        name = f"{own.name} logs" if own is released else own.name
        told = f"{runs} | {runs - ok} | {len(fine)} | {' | '.join(stand)} | {ends}"
        rows.append(f"| {name} | {told} |")
    return rows


def gain_rows(benchmark: Benchmark, frozen: Table, trained: Table) -> list[str]:
    """Which cells gain most, and least, from trained recurrence."""
    gains = {
        graph: loss - trained.losses[graph]
        for graph, loss in frozen.losses.items()
        if graph in trained.losses
    }
    order = sorted(gains, key=lambda graph: -gains[graph])
    rows = [
        "| cell | matrices of x | recurrent matrices | states | frozen | trained | gain |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for graph in (*order[:8], None, *order[-5:]):
        if graph is None:
            rows.append("| … | | | | | | |")
            continue
        number = benchmark.by_graph[graph][0]
        x, recurrent, states = matrices(benchmark.cell(number))
        a, b = frozen.losses[graph], trained.losses[graph]
        told = f"{benchmark.names[number]} | {x} | {recurrent} | {states}"
        rows.append(f"| {told} | {a:.3f} | {b:.3f} | {gains[graph]:+.3f} |")
    values = np.array(list(gains.values()))
    better = f"{int((values > 0).sum())} of {len(values)} cells are better trained"
    rows += ["", f"{better}; gain: mean {values.mean():+.3f}, median {np.median(values):+.3f} nats"]
    counts = np.array([matrices(benchmark.cell(benchmark.by_graph[g][0]))[1] for g in gains])
    found = correlations(counts.astype(float), values)["spearman"]
    rows.append(f"Spearman of the gain with the number of recurrent matrices: {found:+.2f}")
    return rows


def matrices(cell: Cell) -> tuple[int, int, int]:
    """How many matrices read x, how many read anything else, and how many states there are."""
    inputs = [name for node in cell.nodes if node.op == "linear" for name in node.inputs]
    x = sum(name == "x" for name in inputs)
    return x, len(inputs) - x, len(cell.states)


def scatter(released: Table, own: Table, figure: Any) -> None:
    """The losses of one setting against those of the logs."""
    axis = figure.subplots()
    shared = [graph for graph in own.losses if graph in released.losses]
    names = {graph: name for name, graph in BASELINES.items()}
    plain = [graph for graph in shared if graph not in names]
    axis.scatter([released.losses[g] for g in plain], [own.losses[g] for g in plain], s=12)
    for graph, name in names.items():
        if graph in shared:
            at = (released.losses[graph], own.losses[graph])
            axis.scatter(*at, s=36, marker=MARKERS[name], label=name)
    axis.set_xlabel("test log perplexity, released logs")
    axis.set_ylabel(f"test log perplexity, recurrent matrices {own.name}")
    axis.legend()


if __name__ == "__main__":
    main()
