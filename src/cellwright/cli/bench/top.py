"""`cellwright bench top`: the best architectures of a benchmark."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cellwright.base.errors import did_you_mean
from cellwright.cli.bench.options import SYNTHETIC, File, Json, hours
from cellwright.cli.figures import arrow, jsonable, loss, metric_document
from cellwright.cli.help import examples
from cellwright.cli.output import emit_json, say, stdout
from cellwright.cli.tables import Column, Listing, name_column

ORDERS = ("valid", "test", "lowest_test", "seconds", "parameters")

_SHOWN_AS = {"lowest_test": "lowest-test", "seconds": "time"}

EXAMPLES = examples(
    SYNTHETIC,
    ("the ten best by validation", "cellwright bench top my.bench"),
    ("the three fastest", "cellwright bench top my.bench -n 3 --by seconds"),
    ("for programs", "cellwright bench top my.bench --json"),
)


def run(
    file: File,
    number: Annotated[
        int, typer.Option("--number", "-n", metavar="N", min=1, help="How many to show.")
    ] = 10,
    by: Annotated[
        str, typer.Option(metavar="ORDER", help=f"What to order by: {', '.join(ORDERS)}.")
    ] = "valid",
    as_json: Json = False,
) -> None:
    """List the best architectures of a benchmark.

    Figures are means over an architecture's runs that ended well. Valid is the
    lowest validation loss, test the test loss of that epoch, followed by what
    the metric makes of it, and lowest_test the lowest test loss of any epoch,
    as the paper's figures show it. In JSON, value and test_value are what the
    metric makes of valid and test.
    """
    import numpy as np

    from cellwright.bench import load
    from cellwright.bench.summary import of_architectures

    if by not in ORDERS:
        hint = did_you_mean(by, ORDERS) or f"; the orders are {', '.join(ORDERS)}"
        raise typer.BadParameter(f"unknown order {by!r}{hint}")
    benchmark = load(file)
    metric = benchmark.metric
    figures = of_architectures(benchmark)
    keys = np.asarray(getattr(figures, by), np.float64)
    keys = np.where(figures.ok > 0, keys, np.nan)
    order = [int(place) for place in np.argsort(keys, kind="stable") if np.isfinite(keys[place])]
    rows: list[dict[str, Any]] = [
        {
            "name": benchmark.names[place],
            "graph": benchmark.graphs[place],
            "runs": int(figures.runs[place]),
            "ok": int(figures.ok[place]),
            "parameters": int(figures.parameters[place]),
            **{
                name: float(getattr(figures, name)[place])
                for name in ("valid", "spread", "test", "lowest_test", "seconds")
            },
            "metric": metric_document(metric),
            "value": metric.value(float(figures.valid[place])),
            "test_value": metric.value(float(figures.test[place])),
        }
        for place in order[:number]
    ]
    if as_json:
        emit_json(jsonable(rows))
        return
    columns = {
        "runs": 7, "parameters": 3, "valid": 1, "test": 4, arrow(metric): 2, "lowest-test": 6,
        "time": 5,
    }  # fmt: skip
    if by in columns or by in _SHOWN_AS:
        columns[_SHOWN_AS.get(by, by)] = 0  # what they are ordered by
    table = Listing(
        name_column("name"),
        Column("id", 8, style="dim"),
        *(Column(name, goes, right=True) for name, goes in columns.items()),
    )
    for row in rows:
        spread = "" if np.isnan(row["spread"]) else f" ± {row['spread']:.4f}"
        runs = str(row["ok"]) if row["ok"] == row["runs"] else f"{row['ok']} of {row['runs']}"
        table.add(
            row["name"],
            row["graph"],
            runs,
            f"{row['parameters']:,}",
            loss(row["valid"]) + spread,
            loss(row["test"]),
            metric.shown(row["test"]),
            loss(row["lowest_test"]),
            hours(row["seconds"]),
        )
    stdout().print(table)
    note = f"losses are {metric.loss_name}: the lower, the better" if rows else "no run ended well"
    say(note, "dim")
