"""`cellwright cells check`: is every cell in these files valid, and does it survive its format?"""

from __future__ import annotations

from typing import Annotated

import typer

from cellwright.cli import sources
from cellwright.cli.cells.options import From, known_format
from cellwright.cli.cells.survey import Survey, survey
from cellwright.cli.errors import FAILED
from cellwright.cli.help import examples
from cellwright.cli.output import count, emit_json, printable, stdout
from cellwright.cli.work_bar import work_bar

EXAMPLES = examples(
    ("a file of cells", "cellwright cells convert rnn nbnlp-gru --to nas-bench-nlp -o cells.json"),
    ("", "cellwright cells check cells.json"),
    ("a folder, with everything below it", "cellwright cells check ."),
    ("standard input", "cellwright cells show lstm gru --json | cellwright cells check -"),
    ("for programs", "cellwright cells check lstm gru --json"),
)

_MOST_LINES = 10
"""How many repeated graphs, and cells that cannot learn, the text for people lists; `--json` has
them all."""


def run(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Files, folders, zip files, names from the zoo, or - for standard input.",
        ),
    ],
    from_: From = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check every cell in files, folders and zip files.

    Each cell is read, validated, written back in its own format and read
    again; it must come back as the same graph. The exit code is 1 if anything
    fails. Cells whose graph says that they cannot learn, whatever their
    weights, are named; they are valid all the same. From folders and zip
    files, files that end in .json, .txt or .log are read; hidden files are
    not.
    """
    format = known_format(from_)
    with sources.opened(paths) as documents, work_bar("checking") as tell:
        found = survey(documents, format, lambda done, total: tell("checking", done, total))
    if as_json:
        emit_json(found.as_json())
    else:
        _print(found)
    if found.failures:
        raise typer.Exit(FAILED)


def _print(found: Survey) -> None:
    console = stdout()
    console.print(
        f"{count(found.files, 'file')}, {count(len(found.entries), 'cell')}: "
        f"{count(found.listings, 'distinct listing')}, "
        f"{count(len(found.graphs), 'distinct graph')}"
    )
    if found.repeated:
        console.print(f"{count(len(found.repeated), 'graph')} more than once:")
        lines = []
        for id, group in found.repeated.items():
            written = len({entry.listing for entry in group})
            how = "written alike" if written == 1 else f"written in {written} ways"
            labels = ", ".join(entry.label for entry in group[:3])
            more = f", … {len(group) - 3} more" if len(group) > 3 else ""
            lines.append(f"  {id}  {len(group)} cells, {how}: {labels}{more}")
        _print_some(lines)
    if found.dead:
        console.print(f"{count(len(found.dead), 'cell')} that cannot learn:", style="yellow")
        _print_some([f"  {dead.label}: {dead.reason}" for dead in found.dead])
    if found.failures:
        console.print(f"{count(len(found.failures), 'failure')}:", style="red")
        for failure in found.failures:
            console.print(printable(f"  {failure.label}: {failure.reason}"), soft_wrap=True)
    else:
        console.print("every cell is valid and survives its format", style="green")


def _print_some(lines: list[str]) -> None:
    for line in lines[:_MOST_LINES]:
        stdout().print(printable(line), soft_wrap=True)
    if len(lines) > _MOST_LINES:
        stdout().print(f"  … and {len(lines) - _MOST_LINES} more; --json lists them all")
