"""`cellwright runs show`: what a run is, its curve, and what can be done with it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellwright.cli.figures import direction, duration, jsonable, memory, metric_document
from cellwright.cli.files import TableFile, check_table
from cellwright.cli.help import examples
from cellwright.cli.output import count, emit_json, printable, stdout
from cellwright.cli.runs.options import RUN_HELP, TRAIN, Json, Runs, command, evaluate_command
from cellwright.cli.tables import Column, Listing, Whole, print_facts

if TYPE_CHECKING:
    from cellwright.runs.folder import RunFolder
    from cellwright.tasks.metric import Metric
    from cellwright.training.results import EpochRecord, Result

EXAMPLES = examples(
    TRAIN,
    ("its settings, curve and result", "cellwright runs show gru"),
    ("the same by its folder, for programs", "cellwright runs show runs/gru --json"),
    ("its curve as a table for a paper", "cellwright runs show gru -o curve.tex"),
    ("its recipe, to use again", "cat runs/gru/recipe.toml"),
)

MOST_ROWS = 15
"""Of a longer curve some epochs are shown."""

BAR = 24
"""The width of the longest bar."""


def run(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    runs: Runs = Path("runs"),
    output: TableFile = None,
    as_json: Json = False,
) -> None:
    """Show a run: cell, data, settings, its curve, and how to go on.

    The curve is a table with a bar for the metric on validation data, on a
    logarithmic scale for one that grows. Of a long curve some epochs are shown,
    the best and the last among them. Into a file goes the whole curve.

    In JSON, curve and result have losses, of which the lower is better; value
    and test_value are what those of the best epoch are shown as.
    """
    from cellwright.runs.curves import curve_of
    from cellwright.runs.folder import RunFolder

    if output is not None:
        check_table(output)
    folder = RunFolder.open(run, runs)
    curve, result = curve_of(folder), folder.result()
    if as_json:
        emit_json(jsonable(_document(folder, curve, result)))
        return
    if output is not None:
        from cellwright.report.run_tables import curve_table
        from cellwright.report.tables import write_table

        write_table(curve_table(folder.path.name, curve, folder.info.metric), output)
        stdout().print(printable(str(output)), soft_wrap=True)
        return
    console = stdout()
    print_facts(_facts(folder, curve, result))
    if curve:
        console.print()
        console.print(_chart(curve, folder.info.metric, ascii_only=console.options.ascii_only))
    console.print()
    for line in _next(folder, curve):
        console.print(printable(line), soft_wrap=True)


def _document(
    folder: RunFolder, curve: Sequence[EpochRecord], result: Result | None
) -> dict[str, Any]:
    from cellwright.training.results import best_of

    best, metric = best_of(tuple(curve)), folder.info.metric
    return {
        "path": str(folder.path),
        "state": folder.state,
        **folder.info.model_dump(mode="json"),
        "metric": metric_document(metric),
        "value": best and metric.value(best.valid),
        "test_value": best and metric.value(best.test),
        "curve": [asdict(record) for record in curve],
        "result": None if result is None else asdict(result),
    }


def _facts(
    folder: RunFolder, curve: Sequence[EpochRecord], result: Result | None
) -> list[tuple[str, str]]:
    from cellwright.tasks.registry import is_built_in
    from cellwright.training.results import best_of

    info = folder.info
    first, *counts = info.data.description.splitlines()
    state: str = folder.state
    if result is not None and result.status != "ok":
        state += f" in epoch {len(result.curve) + 1}: {result.status}"
    facts = [
        ("run", Whole(folder.path)),
        ("state", f"{state}, {len(curve):,} of {info.recipe.training.epochs:,} epochs"),
        ("cell", f"{info.cell.name or 'without a name'}, id {info.cell.id}"),
        *([] if is_built_in(info.recipe.task.kind) else [("task", info.recipe.task.kind)]),
        ("data", first),
        *(("", line) for line in counts),
        ("recipe", f"{info.recipe.name}: {info.recipe.description}".rstrip(": ")),
        ("model", _settings(info.recipe.model)),
        ("training", _settings(info.recipe.training)),
        ("seed", f"{info.seed}, {count(info.threads, 'thread')}"),
        ("begun", f"{info.created:%Y-%m-%d %H:%M:%S}"),
        ("versions", ", ".join(f"{name} {what}" for name, what in info.versions.items())),
    ]
    best = best_of(tuple(curve))
    if best is not None:
        metric = info.metric
        figures = f"valid {metric.shown(best.valid)}, test {metric.shown(best.test)}"
        facts.append((metric.name, f"{figures} (epoch {best.epoch:,})"))
    if result is not None:
        facts.append(("parameters", f"{result.parameters:,}"))
    if curve:
        facts.append(("time", duration(curve[-1].seconds)))
        facts.append(("memory", f"{memory(max(record.peak_memory for record in curve))} at most"))
    return facts


def _settings(settings: Any) -> str:
    """Settings in a line."""
    values = settings.model_dump().items()
    return ", ".join(f"{name} {'none' if v is None else v}" for name, v in values)


def _chart(curve: Sequence[EpochRecord], metric: Metric, ascii_only: bool) -> Listing:
    train = "train" if metric.is_learned_from else "train loss"
    table = Listing(
        Column("epoch", right=True),
        Column(train, 3, right=True),
        Column("valid", right=True),
        Column("test", 2, right=True),
        Column("rate", 5, right=True),
        Column("time", 4, right=True),
        Column("", 1),
        Column(""),
        title=direction(metric),
    )
    losses = [record.valid for record in curve if math.isfinite(record.valid)]
    best = min(losses, default=math.nan)
    for record in _some(curve):
        table.add(
            f"{record.epoch:,}",
            metric.train_shown(record.train),
            *map(metric.shown, (record.valid, record.test)),
            f"{record.learning_rate:.3g}",
            duration(record.seconds),
            _bar(record.valid, losses, metric, "#" if ascii_only else "━"),
            "best" if record.valid == best else "averaged" if record.averaged else "",
        )
    return table


def _some(curve: Sequence[EpochRecord]) -> list[EpochRecord]:
    """Evenly spread epochs of a long curve; the first, the best and the last are among them."""
    if len(curve) <= MOST_ROWS:
        return list(curve)
    places = {round(i * (len(curve) - 1) / (MOST_ROWS - 1)) for i in range(MOST_ROWS)}
    finite = [place for place, record in enumerate(curve) if math.isfinite(record.valid)]
    places |= {min(finite, key=lambda place: curve[place].valid)} if finite else set()
    return [curve[place] for place in sorted(places)]


def _bar(loss: float, losses: Sequence[float], metric: Metric, mark: str) -> str:
    """A bar that is full for the highest value of the metric and short for the lowest.

    The loss of a metric that grows is its logarithm already.

    >>> from cellwright.tasks.metric import LOSS
    >>> [_bar(loss, [4.0, 5.0, 6.0], LOSS, "#") for loss in (6.0, 5.0, 4.0)]
    ['########################', '#############', '##']
    """
    if not math.isfinite(loss):
        return ""
    low, high = min(losses), max(losses)
    part = (loss - low) / (high - low) if high > low else 1.0
    if metric.higher_is_better and high > low:
        part = 1 - part
    return mark * round(2 + part * (BAR - 2))


def _next(folder: RunFolder, curve: Sequence[EpochRecord]) -> list[str]:
    lines = []
    if folder.state in ("stopped", "killed"):
        lines.append(f"go on:    {command('train --resume', folder.path)}")
    if curve:
        lines.append(f"evaluate: {evaluate_command(folder)}")
        lines.append(f"plot:     {command('runs plot', folder.path)}")
    return lines
