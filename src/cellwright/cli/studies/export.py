"""`cellwright studies export`: a study as a table."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from cellwright.base.names import file_stem
from cellwright.cli.help import examples
from cellwright.cli.output import stdout
from cellwright.cli.studies.options import SEARCH, STUDY_HELP, Place

EXAMPLES = examples(
    SEARCH,
    ("a row for each trial, into first-trials.csv", "cellwright studies export first"),
    ("a row for each epoch", "cellwright studies export first --table curves -o curves.csv"),
    ("the cells, as JSON in a column", "cellwright studies export first --table cells"),
)


class What(str, Enum):
    """The tables of a study."""

    TRIALS = "trials"
    CURVES = "curves"
    CELLS = "cells"
    ATTEMPTS = "attempts"


def run(
    name: Annotated[str, typer.Argument(metavar="STUDY", help=STUDY_HELP)],
    table: Annotated[What, typer.Option(help="Which table.")] = What.TRIALS,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A .csv or .parquet file. Default: STUDY-TABLE.csv.",
        ),
    ] = None,
    store: Place = "studies.db",
) -> None:
    """Write a study's trials, curves, cells or attempts as a table; print its name.

    Times are seconds since 1970. Values and curves are losses: what the study
    minimises, also where higher is better for its metric. Parquet needs
    pyarrow: pip install 'cellwright\\[parquet]'.
    """  # fmt: skip
    from cellwright.trials.store import export_study, find_study, open_store

    path = output
    if path is None:
        path = Path(f"{file_stem(name, 'study')}-{table.value}.csv")
    with open_store(store, only_read=True) as opened:
        export_study(opened, find_study(opened, name), path, table.value)
    stdout().print(str(path), soft_wrap=True)
