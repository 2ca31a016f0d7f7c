"""A finding as files: a table, and a picture in one or two formats."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

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
    contents = {"csv": to_csv(finding.heading, finding.rows).encode()}
    contents |= {kind: picture(finding, kind) for kind in figures}
    if pdf is not None:
        contents["pdf"] = picture(finding, "pdf", pdf)
    files = [folder / f"{finding.name}.{kind}" for kind in ("md", "tex")]
    for path in files:
        write_table(finding_table(finding), path)
    for kind, data in contents.items():
        path = folder / f"{finding.name}.{kind}"
        write_whole(path, data)
        files.append(path)
    return files
