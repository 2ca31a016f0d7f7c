"""`Finding`: the result of an analysis, and how it becomes files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.base.files import write_whole
from cellwright.bench.errors import BenchError
from cellwright.bench.export import to_csv
from cellwright.report import drawing


@dataclass(frozen=True)
class Finding:
    """What an analysis found.

    Args:
        name: of its files.
        title: one line for people.
        numbers: the figures that sum it up, by name.
        heading: the columns of its table.
        rows: the rows.
        size: of the picture, in inches.
        draw: draws the picture on an empty matplotlib figure.
    """

    name: str
    title: str
    numbers: Mapping[str, float]
    heading: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    size: tuple[float, float]
    draw: Callable[[Any], None]


def write(
    finding: Finding, folder: str | Path, figures: Iterable[str] = ("svg", "png")
) -> list[Path]:
    """Write a finding's table (CSV) and figures into a folder, which is made; the files.

    Args:
        finding: what was found.
        folder: where.
        figures: the formats of the picture; none for the table alone.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BenchError(f"{folder}: {(error.strerror or str(error)).lower()}") from None
    contents = {"csv": to_csv(finding.heading, finding.rows).encode()}
    contents |= {kind: picture(finding, kind) for kind in figures}
    files = []
    for kind, data in contents.items():
        path = folder / f"{finding.name}.{kind}"
        write_whole(path, data)
        files.append(path)
    return files


def picture(finding: Finding, kind: str) -> bytes:
    """The finding's figure as an SVG or PNG file; the same bytes for the same finding."""
    return drawing.picture(finding.draw, kind, finding.size, {"font.size": 9})
