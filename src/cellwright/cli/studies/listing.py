"""`cellwright studies list`: all studies of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellwright.cli.figures import arrow, duration, jsonable, metric_document
from cellwright.cli.help import examples
from cellwright.cli.output import emit_json, printable, stderr, stdout
from cellwright.cli.studies.options import SEARCH, Json, Place
from cellwright.cli.studies.tables import value_of
from cellwright.cli.tables import Column, Listing, name_column

if TYPE_CHECKING:
    from cellwright.trials.store import Overview

EXAMPLES = examples(
    SEARCH,
    ("the studies in studies.db", "cellwright studies list"),
    ("those of another store", "cellwright studies list --store studies.db"),
    ("for programs", "cellwright studies list --json"),
)


def run(store: Place = "studies.db", as_json: Json = False) -> None:
    """List studies: how far they are, what they cost, and their best value.

    The best is on validation data, in the study's own metric; an arrow says
    whether higher or lower is better. A study that is not complete goes on with
    the command that began it.

    In JSON, best is the loss, of which the lower is better, and shown is what
    the metric makes of it.
    """
    from cellwright.trials.store import open_store, overviews

    with open_store(store, only_read=True) as opened:
        damaged: list[str] = []
        found = overviews(opened, damaged)
        title = opened.title
    if as_json:
        emit_json(jsonable([_row(each) for each in found]))
    else:
        _print(found, title)
    for why in damaged:
        stderr().print(printable(f"left out: {why}"), style="yellow", soft_wrap=True)


def _print(found: list[Overview], title: str) -> None:
    if not found:
        stdout().print(printable(f"no studies in {title}"), style="dim", soft_wrap=True)
        return
    table = Listing(
        name_column("study"),
        Column("method", 4, short="end"),
        Column("trials", 3, right=True),
        Column("failed", 6, right=True),
        Column("best", 1, right=True),
        Column("metric", 5),
        Column("trial time", 7, right=True),
        Column("state", 2),
    )
    for each in found:
        row = _row(each)
        metric, wanted = each.study.metric, row["target"]
        table.add(
            row["name"],
            row["method"],
            f"{row['trials']:,}" + ("" if wanted is None else f" of {wanted:,}"),
            f"{row['failed']:,}",
            value_of(row["best"], metric),
            arrow(metric),
            duration(row["seconds"]),
            row["state"],
        )
    stdout().print(table)


def _row(each: Overview) -> dict[str, Any]:
    best, metric = None if each.best is None else each.best.value, each.study.metric
    return {
        "name": each.study.name,
        "method": str(each.study.search.get("method", "?")),
        "space": each.study.search.get("space", {}).get("name"),
        "trials": each.ended,
        "target": each.study.target,
        "failed": each.states["failed"],
        "metric": metric_document(metric),
        "best": best,
        "shown": None if best is None else metric.value(best),
        "seconds": each.seconds,
        "state": each.state,
        "created": each.study.created_at,
    }
