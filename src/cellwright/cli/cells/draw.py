"""`cellwright cells draw`: pictures of cells."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from cellwright.base.names import file_stem
from cellwright.cli import sources
from cellwright.cli.cells.options import Cells, From, Simplify, known_format
from cellwright.cli.files import check_picture
from cellwright.cli.help import examples
from cellwright.cli.output import stdout

EXAMPLES = examples(
    ("into gru.svg", "cellwright cells draw gru"),
    ("a PNG, by the ending of the file name", "cellwright cells draw darts-v1 -o darts.png"),
    ("a PDF for a paper", "cellwright cells draw gru -o gru.pdf"),
    ("several cells into a folder", "cellwright cells draw lstm gru enas -o pictures/"),
    ("a cell from standard input", "cellwright cells show rnn --json | cellwright cells draw -"),
)


class Picture(str, Enum):
    """The kinds of picture."""

    SVG = "svg"
    PDF = "pdf"
    PNG = "png"


def run(
    cells: Cells,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="PATH", help="A file or folder. Default: the cell's name."
        ),
    ] = None,
    format: Annotated[
        Picture | None, typer.Option("--format", help="What to draw. Default: by --output, or SVG.")
    ] = None,
    simplify: Simplify = False,
    legend: Annotated[bool, typer.Option(help="Draw the legend.")] = True,
    from_: From = None,
) -> None:
    """Draw cells into SVG, PDF or PNG files, and print the files' names.

    PDF, for papers, needs matplotlib: pip install 'cellwright\\[plots]'.
    """
    loaded = sources.load(cells, known_format(from_))
    for entry, path in _targets(loaded, output, format):
        cell = entry.cell.simplified() if simplify else entry.cell
        cell.draw(path, legend=legend)
        stdout().print(str(path), soft_wrap=True)


def _targets(
    loaded: list[sources.Loaded], output: str | None, format: Picture | None
) -> list[tuple[sources.Loaded, Path]]:
    """Which cell goes into which file."""
    path = Path(output or ".")
    if output is not None and path.suffix and not output.endswith("/") and not path.is_dir():
        return [(_only(loaded), _picture(path, format))]
    path.mkdir(parents=True, exist_ok=True)
    kind = (format or Picture.SVG).value
    taken: set[str] = set()
    targets = []
    for entry in loaded:
        stem = _free(file_stem(entry.cell.name, entry.cell.id), entry.cell.id, taken)
        targets.append((entry, path / f"{stem}.{kind}"))
    return targets


def _only(loaded: list[sources.Loaded]) -> sources.Loaded:
    if len(loaded) != 1:
        raise typer.BadParameter(
            f"{len(loaded)} cells do not fit into one picture; give a folder, as in -o pictures/"
        )
    return loaded[0]


def _picture(path: Path, format: Picture | None) -> Path:
    check_picture(path)
    if format is not None and path.suffix.lower() != f".{format.value}":
        raise typer.BadParameter(f"--format {format.value} does not fit the file name {path}")
    return path


def _free(stem: str, id: str, taken: set[str]) -> str:
    """A stem that no other cell of this command has, in file systems that ignore case too."""
    name, number = stem, 1
    while name.lower() in taken:
        name = f"{stem}-{id}" if number == 1 else f"{stem}-{id}-{number}"
        number += 1
    taken.add(name.lower())
    return name
