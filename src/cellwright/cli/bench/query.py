"""`cellwright bench query`: what a benchmark knows of one architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellwright.cli import sources
from cellwright.cli.bench.options import SYNTHETIC, File, Json, hours
from cellwright.cli.figures import arrow, jsonable, loss, metric_document
from cellwright.cli.help import examples
from cellwright.cli.output import emit_json, printable, say, stdout
from cellwright.cli.tables import Column, Listing, name_column

if TYPE_CHECKING:
    from cellwright.bench import Benchmark, Run
    from cellwright.cell import Cell
    from cellwright.tasks.metric import Metric

EXAMPLES = examples(
    SYNTHETIC,
    ("by name", "cellwright bench query my.bench nbnlp-gru"),
    ("a cell from a file, after 10 epochs", "cellwright cells show nbnlp-lstm --json > lstm.json"),
    ("", "cellwright bench query my.bench lstm.json --epoch 10"),
    ("with its curves, for programs", "cellwright bench query my.bench nbnlp-gru --json"),
)


def run(
    file: File,
    cell: Annotated[
        str,
        typer.Argument(
            metavar="CELL",
            help="A name or label in the benchmark, an id, a name from the zoo, or a file.",
        ),
    ],
    epoch: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Show this epoch. Default: the best by validation."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what is recorded of an architecture: each run with its losses and time.

    A cell is found by its graph, whatever its nodes are called. The listings of
    the benchmark that are the same graph are all shown. Losses are followed by
    what the metric makes of the one on test data. In JSON, values are what it
    makes of those on validation and test data.
    """
    from cellwright.bench import load

    benchmark = load(file)
    found = [_facts(benchmark, number, epoch) for number in _find(benchmark, cell)]
    if as_json:
        emit_json(jsonable(found))
        return
    for number, facts in enumerate(found):
        if number:
            stdout().print()
        _print(facts, benchmark.metric, epoch)


def _find(benchmark: Benchmark, text: str) -> list[int]:
    """The architectures that a name stands for, or that are the cell in a file."""
    from cellwright.bench import UnknownArchitectureError

    if text in benchmark.by_graph:
        return benchmark.by_graph[text]
    try:
        return [benchmark.find(text)]
    except UnknownArchitectureError as unknown:
        cells = _read(text)
        if cells is None:
            raise unknown from None
    return [n for cell in cells for n in benchmark.by_graph[benchmark.graphs[benchmark.find(cell)]]]


def _read(text: str) -> list[Cell] | None:
    """The cells of a zoo name, a file or standard input; None where there is no such thing."""
    from pathlib import Path

    from cellwright.cell.zoo import zoo

    try:
        there = text == "-" or text in zoo or Path(text).exists()
    except (OSError, ValueError):
        there = False
    return [entry.cell for entry in sources.load([text])] if there else None


def _facts(benchmark: Benchmark, number: int, epoch: int | None) -> dict[str, Any]:
    architecture = benchmark.architecture(number)
    same = benchmark.by_graph[benchmark.graphs[number]]
    return {
        "name": architecture.name,
        "graph": benchmark.graphs[number],
        "same_graph": [benchmark.names[other] for other in same if other != number],
        "metric": metric_document(benchmark.metric),
        "runs": [_run(run, benchmark.metric, epoch) for run in architecture.runs],
    }


def _run(run: Run, metric: Metric, epoch: int | None) -> dict[str, Any]:
    shown = run.best_epoch if epoch is None else epoch
    there = 0 < shown <= run.epochs
    losses = {
        name: float(getattr(run, name)[shown - 1]) if there else float("nan")
        for name in ("train", "valid", "test")
    }
    return {
        "seed": run.seed,
        "label": run.label,
        "status": run.status,
        "message": run.message,
        "parameters": run.parameters,
        "epochs": run.epochs,
        "epoch": shown if there else None,
        "seconds": float(run.seconds[:shown].sum()) if there else run.total_seconds,
        "losses": losses,
        "values": {name: metric.value(losses[name]) for name in ("valid", "test")},
        "curves": {
            name: getattr(run, name).tolist() for name in ("train", "valid", "test", "seconds")
        },
        "settings": dict(run.settings),
    }


def _print(facts: dict[str, Any], metric: Metric, epoch: int | None) -> None:
    console = stdout()
    console.print(printable(f"{facts['name']} ({facts['graph']})"), style="bold cyan")
    if facts["same_graph"]:
        console.print(printable(f"the same graph as {', '.join(facts['same_graph'])}"))
    if not facts["runs"]:
        console.print("it has no runs")
        return
    table = Listing(
        Column("seed", 1, right=True),
        name_column("label"),
        Column("parameters", 6, right=True),
        Column("epochs", 9, right=True),
        Column("epoch", 8, right=True),
        Column("train", 7, right=True),
        Column("valid", 2, right=True),
        Column("test", 4, right=True),
        Column(arrow(metric), right=True),
        Column("time", 5, right=True),
        Column("status", 3, short="fold"),
    )
    for row in facts["runs"]:
        losses = row["losses"]
        table.add(
            str(row["seed"]),
            row["label"],
            f"{row['parameters']:,}",
            str(row["epochs"]),
            "–" if row["epoch"] is None else str(row["epoch"]),
            *(loss(losses[name]) for name in ("train", "valid", "test")),
            metric.shown(losses["test"]),
            hours(row["seconds"]),
            _status(row),
        )
    console.print(table)
    shown = "the epoch that validated best" if epoch is None else f"epoch {epoch}"
    note = f"losses ({metric.loss_name}), test {metric.name} and time up to {shown}"
    say(note, "dim")


def _status(row: dict[str, Any]) -> str:
    plain = row["message"].lower() in ("", row["status"])
    return row["status"] if plain else f"{row['status']}: {row['message']}"
