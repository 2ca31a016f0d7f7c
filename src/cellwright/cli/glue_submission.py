"""`cellwright glue-submission`: what runs say of GLUE's test files, as GLUE takes it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellwright.cli.help import examples
from cellwright.cli.output import printable, say, stderr, stdout
from cellwright.cli.runs.options import RUN_HELP, Runs
from cellwright.cli.tables import Column, Listing
from cellwright.cli.work_bar import work_bar

EXAMPLES = examples(
    ("a run of one of GLUE's tasks", "cellwright train gru --data cola --name cola"),
    ("its predictions", "cellwright glue-submission cola -o submission.zip"),
)


def run(
    names: Annotated[list[str], typer.Argument(metavar="RUN", help=RUN_HELP)],
    out: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The zip file.")
    ] = Path("submission.zip"),
    runs: Runs = Path("runs"),
) -> None:
    """Predict GLUE's test files with runs, and write a submission to GLUE.

    Each run has learned one of GLUE's tasks by its name: cola, sst-2, mrpc, qqp,
    sts-b, mnli, qnli, rte or wnli. That of mnli predicts both of its test files
    and the diagnostic set (AX). The zip file has a table for each, with GLUE's
    names and words for labels. What has no run, or whose test file is not on
    this machine, is left out and named.
    """
    from cellwright.runs.glue_submission import write_glue_submission

    with work_bar() as tell:
        found = write_glue_submission(names, out, folder=runs, progress=tell)
    listing = Listing(Column("file"), Column("predictions", right=True), Column("run"))
    for called, rows in found.rows.items():
        listing.add(f"{called}.tsv", f"{rows:,}", str(found.runs[called]))
    stdout().print(listing)
    if found.missing:
        say("a whole submission has eleven files; this one is without:", "yellow", stderr())
        for called, why in found.missing.items():
            say(f"  {called}.tsv: {why}", "", stderr())
    stdout().print(printable(str(out)), soft_wrap=True)
