"""`cellwright studies export`: a study as a table."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from cellwright.base.endings import PARQUET
from cellwright.base.names import file_stem
from cellwright.cli.files import check_table
from cellwright.cli.help import examples
from cellwright.cli.output import stdout
from cellwright.cli.studies.options import SEARCH, STUDY_HELP, Place

EXAMPLES = examples(
    SEARCH,
    ("a row for each trial, into first-trials.csv", "cellwright studies export first"),
    (
        "the ten best, as a table for a paper",
        "cellwright studies export first --top 10 -o best.tex",
    ),
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
            help="A .csv or .parquet file, or of trials .md or .tex. Default: STUDY-TABLE.csv.",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="In .md and .tex: the N best trials, best first."),
    ] = None,
    store: Place = "studies.db",
) -> None:
    """Write a study's trials, curves, cells or attempts as a table; print its name.

    Times are seconds since 1970. Values and curves are losses: what the study
    minimises, also where higher is better for its metric. Parquet needs
    pyarrow: pip install 'cellwright\\[parquet]'.

    Markdown (.md) and LaTeX (.tex) are for people: they have what a paper says
    of trials, with the metric's values and the best in bold.
    """  # fmt: skip
    from cellwright.trials.store import export_study, find_study, open_store

    path = output
    if path is None:
        path = Path(f"{file_stem(name, 'study')}-{table.value}.csv")
    for_papers = ("md", "tex") if table is What.TRIALS else ()
    kind = check_table(path, ("csv", PARQUET, *for_papers))
    if top is not None and kind not in for_papers:
        raise typer.BadParameter("--top is for trials in a .md or .tex file")
    if kind in for_papers:
        _write_for_people(store, name, path, top)
        return
    with open_store(store, only_read=True) as opened:
        export_study(opened, find_study(opened, name), path, table.value)
    stdout().print(str(path), soft_wrap=True)


def _write_for_people(store: str, name: str, path: Path, top: int | None) -> None:
    from cellwright.report.study_tables import trials_table
    from cellwright.report.tables import write_table
    from cellwright.trials.store import best_trials, find_study, list_trials, open_store

    with open_store(store, only_read=True) as opened:
        study = find_study(opened, name)
        found = list_trials(opened, study) if top is None else best_trials(opened, study, top)
    write_table(trials_table(study, found), path)
    stdout().print(str(path), soft_wrap=True)
