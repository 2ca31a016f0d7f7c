"""`cellwright bench export`: a benchmark as CSV, cells or logs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellwright.base.errors import did_you_mean
from cellwright.cli.bench.options import SYNTHETIC, File
from cellwright.cli.help import examples
from cellwright.cli.output import emit, printable, stdout

EXAMPLES = examples(
    SYNTHETIC,
    ("a line for each architecture", "cellwright bench export my.bench architectures"),
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
            "--output", "-o", metavar="FILE", help="Default: WHAT.csv and so on; - prints."
        ),
    ] = None,
) -> None:
    """Write a benchmark, or a part of it, in a form that other programs read.

    Numbers keep all their digits: logs come back from 'bench import' as they
    were. A cell that is no NAS-Bench-NLP recipe is written as cellwright JSON.
    """
    from cellwright.base.files import write_named
    from cellwright.bench import load
    from cellwright.bench.export import EXPORTS
    from cellwright.cli.output import encoded

    if what not in EXPORTS:
        hint = did_you_mean(what, EXPORTS) or f"; there are {', '.join(EXPORTS)}"
        raise typer.BadParameter(f"unknown part {what!r}{hint}")
    ending, write = EXPORTS[what]
    written = write(load(file))
    if output == Path("-"):
        if isinstance(written, bytes):
            raise typer.BadParameter(f"{what} are a zip file, which is not printed; give a file")
        emit(written)
        return
    target = output or Path(what + ending)
    write_named(target, written if isinstance(written, bytes) else encoded(written))
    stdout().print(printable(str(target)), soft_wrap=True)
