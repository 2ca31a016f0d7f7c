"""`cellwright runs list`: all runs of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from cellwright.base.errors import FileError
from cellwright.cli.figures import arrow, duration, jsonable, metric_document
from cellwright.cli.help import examples
from cellwright.cli.output import emit_json, say, stderr, stdout
from cellwright.cli.runs.options import TRAIN, Json
from cellwright.cli.tables import Column, Listing, name_column

if TYPE_CHECKING:
    from cellwright.runs.folder import RunFolder
    from cellwright.tasks.metric import Metric

EXAMPLES = examples(
    TRAIN,
    ("the runs in the folder runs", "cellwright runs list"),
    ("those of another folder", "cellwright runs list runs"),
    ("for programs", "cellwright runs list --json"),
)

STYLES = {"finished": "green", "running": "cyan", "diverged": "red"}
"""Colours of states; those that can be resumed are yellow."""


def run(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the runs are.")] = Path(
        "runs"
    ),
    as_json: Json = False,
) -> None:
    """List runs: their state, how far they are, and their best epoch.

    Valid and test are those of the epoch that validated best, in the run's own
    metric; an arrow says whether higher or lower is better. A run that is
    stopped or killed goes on with 'cellwright train --resume RUN'.

    In JSON, valid and test are losses, of which the lower is better; value and
    test_value are what they are shown as.
    """
    from cellwright.runs.errors import RunError
    from cellwright.runs.listing import list_runs

    if not folder.is_dir():
        raise RunError(
            f"{folder}: no such folder; 'cellwright train' makes runs in the folder runs"
        )
    found = list_runs(folder)
    skipped = dict(found.skipped)
    rows: list[dict[str, Any]] = []
    metrics: list[Metric] = []
    for entry in found.runs:
        try:
            rows.append(_row(entry))
            metrics.append(entry.info.metric)
        except FileError as error:
            skipped[entry.path] = str(error)
    if as_json:
        emit_json(jsonable(rows))
    else:
        _print(rows, metrics, folder)
    for why in skipped.values():
        say(f"left out: {why}", "yellow", stderr())


def _row(entry: RunFolder) -> dict[str, Any]:
    from cellwright.runs.curves import curve_of
    from cellwright.training.results import best_of

    info, curve = entry.info, curve_of(entry)
    best, metric = best_of(curve), info.metric
    return {
        "name": entry.path.name,
        "path": str(entry.path),
        "state": entry.state,
        "cell": info.cell.name or info.cell.id,
        "data": info.data.name,
        "recipe": info.recipe.name,
        "seed": info.seed,
        "epochs": len(curve),
        "epochs_in_all": info.recipe.training.epochs,
        "best_epoch": best and best.epoch,
        "metric": metric_document(metric),
        "valid": best and best.valid,
        "test": best and best.test,
        "value": best and metric.value(best.valid),
        "test_value": best and metric.value(best.test),
        "seconds": curve[-1].seconds if curve else None,
        "created": info.created.isoformat(),
    }


def _print(rows: list[dict[str, Any]], metrics: list[Metric], folder: Path) -> None:
    if not rows:
        say(f"no runs in {folder}", "dim")
        return
    table = Listing(
        name_column("name"),
        Column("state", 1),
        Column("cell", 5, short="end"),
        Column("data", 6, short="middle"),
        Column("seed", 8, right=True),
        Column("epochs", 4, right=True),
        Column("valid", 2, right=True),
        Column("test", 7, right=True),
        Column("metric", 3),
        Column("time", 9, right=True),
    )
    for row, metric in zip(rows, metrics, strict=True):
        figures = ["–" if row[n] is None else metric.shown(row[n]) for n in ("valid", "test")]
        table.add(
            row["name"],
            Text(row["state"], style=STYLES.get(row["state"], "yellow")),
            row["cell"],
            Path(row["data"]).name,
            str(row["seed"]),
            f"{row['epochs']:,} of {row['epochs_in_all']:,}",
            *figures,
            arrow(metric),
            "–" if row["seconds"] is None else duration(row["seconds"]),
        )
    stdout().print(table)
