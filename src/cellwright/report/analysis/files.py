"""A finding as files: a table, and a picture in one or two formats."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cellwright.base.endings import TABLES
from cellwright.base.errors import refused
from cellwright.base.files import write_whole
from cellwright.bench.analysis import Finding
from cellwright.bench.export import to_csv
from cellwright.report.analysis.pictures import picture
from cellwright.report.bench_tables import finding_table
from cellwright.report.tables import write_table


def write(
    finding: Finding,
    folder: str | Path,
    figures: Iterable[str] = ("svg", "png"),
    pdf: float | None = None,
) -> list[Path]:
    """Write a finding's table (CSV), the figures that sum it up (Markdown and LaTeX) and pictures
    into a folder, which is made; the files.

    Args:
        finding: what was found.
        folder: where.
        figures: the formats of the picture; none for the table alone.
        pdf: the width in inches of a picture as PDF, which is drawn as well then.

    Raises:
        PlotError: matplotlib is missing.
        FileError: something cannot be written.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused("make", folder, error) from None
    files = [folder / f"{finding.name}.{kind}" for kind in TABLES]
    write_whole(files[0], to_csv(finding.heading, finding.rows).encode())
    for path in files[1:]:
        write_table(finding_table(finding), path)
    drawn = {kind: picture(finding, kind) for kind in figures}
    if pdf is not None:
        drawn["pdf"] = picture(finding, "pdf", pdf)
    for kind, data in drawn.items():
        files.append(folder / f"{finding.name}.{kind}")
        write_whole(files[-1], data)
    return files
