"""`cellwright bench export`: a benchmark as CSV, cells or logs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellwright.base.errors import did_you_mean
from cellwright.cli.bench.options import SYNTHETIC, File
from cellwright.cli.help import examples
from cellwright.cli.output import emit, printable, stdout

FOR_PAPERS = ("md", "tex")

EXAMPLES = examples(
    SYNTHETIC,
    ("a line for each architecture", "cellwright bench export my.bench architectures"),
    (
        "the five best, as a table for a paper",
        "cellwright bench export my.bench architectures --top 5 -o best.tex",
    ),
    ("every epoch, to standard output", "cellwright bench export my.bench curves -o -"),
    ("logs that can be imported again", "cellwright bench export my.bench logs -o l.zip"),
)


def run(
    file: File,
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="architectures, runs or curves (CSV); cells (JSON); logs (zip of JSON).",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Default: WHAT.csv and so on; - prints. Architectures also as .md or .tex.",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="In .md and .tex: the N best, best first."),
    ] = None,
) -> None:
    """Write a benchmark, or a part of it, in a form that other programs read.

    Numbers keep all their digits: logs come back from 'bench import' as they
    were. A cell that is no NAS-Bench-NLP recipe is written as cellwright JSON.
    Architectures in a .md (Markdown) or .tex (LaTeX) file are a table for a
    paper, with rounded numbers and the best in bold.
    """
    from cellwright.base.files import write_named
    from cellwright.bench import load
    from cellwright.bench.export import EXPORTS
    from cellwright.cli.output import encoded

    if what not in EXPORTS:
        hint = did_you_mean(what, EXPORTS) or f"; there are {', '.join(EXPORTS)}"
        raise typer.BadParameter(f"unknown part {what!r}{hint}")
    ending, write = EXPORTS[what]
    kind = output.suffix.lower().removeprefix(".") if output is not None else ""
    if kind in FOR_PAPERS:
        _write_for_people(file, what, output, top)
        return
    if top is not None:
        raise typer.BadParameter("--top is for architectures in a .md or .tex file")
    written = write(load(file))
    if output == Path("-"):
        if isinstance(written, bytes):
            raise typer.BadParameter(f"{what} are a zip file, which is not printed; give a file")
        emit(written)
        return
    target = output or Path(what + ending)
    write_named(target, written if isinstance(written, bytes) else encoded(written))
    stdout().print(printable(str(target)), soft_wrap=True)


def _write_for_people(file: Path, what: str, output: Path | None, top: int | None) -> None:
    from cellwright.bench import load
    from cellwright.report.bench_tables import architectures_table
    from cellwright.report.tables import write_table

    assert output is not None
    if what != "architectures":
        raise typer.BadParameter(f"{output}: of {what} there is no such table; architectures have")
    write_table(architectures_table(load(file), top), output)
    stdout().print(printable(str(output)), soft_wrap=True)
