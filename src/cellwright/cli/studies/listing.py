"""`cellwright studies list`: all studies of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from cellwright.cli.figures import duration, jsonable
from cellwright.cli.help import examples
from cellwright.cli.output import emit_json, printable, stdout
from cellwright.cli.studies.options import SEARCH, Json, Place
from cellwright.cli.studies.tables import NONE, value_of

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

    Values are validation perplexities where a study trained language models. A
    study that is not complete goes on with the command that began it.
    """
    from cellwright.trials.store import open_store, overviews

    with open_store(store, create=False) as opened:
        found = overviews(opened)
        title = opened.title
    if as_json:
        emit_json(jsonable([_row(each) for each in found]))
        return
    if not found:
        stdout().print(printable(f"no studies in {title}"), style="dim", soft_wrap=True)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("study", style="cyan", overflow="fold")
    table.add_column("method", overflow="fold")
    for name in ("trials", "failed", "best", "trial time"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("state", no_wrap=True)
    for each in found:
        row = _row(each)
        nats = each.study.metric.axis_grows
        wanted = row["target"]
        table.add_row(
            printable(row["name"]),
            printable(row["method"]),
            f"{row['trials']:,}" + ("" if wanted is None else f" of {wanted:,}"),
            f"{row['failed']:,}",
            NONE if row["best"] is None else value_of(row["best"], nats),
            duration(row["seconds"]),
            row["state"],
        )
    stdout().print(table)


def _row(each: Overview) -> dict[str, Any]:
    return {
        "name": each.study.name,
        "method": str(each.study.search.get("method", "?")),
        "space": each.study.search.get("space", {}).get("name"),
        "trials": each.ended,
        "target": each.study.target,
        "failed": each.states["failed"],
        "best": None if each.best is None else each.best.value,
        "seconds": each.seconds,
        "state": state_of(each),
        "created": each.study.created_at,
    }


def state_of(each: Overview) -> str:
    """Whether somebody works on a study, or it is complete, or waits to be gone on with."""
    if each.drivers:
        return "running"
    target = each.study.target
    enough = each.exhausted or (target is not None and each.ended >= target)
    return "complete" if enough and each.ended == each.trials else "open"
