"""`cellwright runs list`: all runs of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from cellwright.base.errors import FileError
from cellwright.cli.figures import arrow, duration, jsonable, metric_document
from cellwright.cli.files import TableFile, check_table
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
    ("a table for a paper", "cellwright runs list -o runs.tex"),
)

COLUMNS = (
    "cell", "data", "recipe", "seed", "epochs", "epochs_in_all", "best_epoch", "metric", "valid",
    "test", "value", "test_value", "seconds", "created",
)  # fmt: skip
"""What is not known of a damaged run."""

STYLES = {"finished": "green", "running": "cyan", "diverged": "red", "damaged": "red"}
"""Colours of states; those that can be resumed are yellow."""


def run(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the runs are.")] = Path(
        "runs"
    ),
    output: TableFile = None,
    as_json: Json = False,
) -> None:
    """List runs: their state, how far they are, and their best epoch.

    Valid and test are those of the epoch that validated best, in the run's own
    metric; an arrow says whether higher or lower is better. A run that is
    stopped or killed goes on with 'cellwright train --resume RUN'. Of one that
    is damaged nothing else is known; what is wrong with it is said below.

    In JSON, valid and test are losses, of which the lower is better; value and
    test_value are what they are shown as.
    """
    from cellwright.runs.errors import RunError
    from cellwright.runs.listing import list_runs

    if output is not None:
        check_table(output)
    if not folder.is_dir():
        raise RunError(
            f"{folder}: no such folder; 'cellwright train' makes runs in the folder runs"
        )
    found = list_runs(folder)
    damaged = dict(found.damaged)
    rows: list[dict[str, Any]] = []
    metrics: list[Metric] = []
    for entry in found.runs:
        try:
            rows.append(_row(entry))
            metrics.append(entry.info.metric)
        except FileError as error:
            damaged[entry.path] = str(error)
    lost = [_damaged_row(path, why) for path, why in damaged.items()]
    if as_json:
        emit_json(jsonable([*rows, *lost]))
    elif output is not None:
        from cellwright.report.run_tables import runs_table
        from cellwright.report.tables import write_table

        write_table(runs_table(rows, metrics), output)
        say(str(output))
    else:
        _print([*rows, *lost], [*metrics, *[None] * len(lost)], folder)
    for kind, told in (("damaged", damaged), ("left out", found.skipped)):
        for why in told.values():
            line = why.splitlines()[0]
            say(f"{kind}: {line}", "yellow", stderr())


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


def _damaged_row(path: Path, why: str) -> dict[str, Any]:
    """A run of which nothing is known but its name."""
    known = {"name": path.name, "path": str(path), "state": "damaged", "error": why}
    return {**dict.fromkeys(COLUMNS), **known}


def _print(rows: list[dict[str, Any]], metrics: list[Metric | None], folder: Path) -> None:
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
        state = Text(row["state"], style=STYLES.get(row["state"], "yellow"))
        if metric is None:
            table.add(row["name"], state, *["–"] * 8)
            continue
        figures = ["–" if row[n] is None else metric.shown(row[n]) for n in ("valid", "test")]
        table.add(
            row["name"],
            state,
            row["cell"],
            Path(row["data"]).name,
            str(row["seed"]),
            f"{row['epochs']:,} of {row['epochs_in_all']:,}",
            *figures,
            arrow(metric),
            "–" if row["seconds"] is None else duration(row["seconds"]),
        )
    stdout().print(table)
