"""`cellwright studies plot`: how studies went, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellwright.cli.files import PaperSize, PictureFile, check_picture
from cellwright.cli.help import examples
from cellwright.cli.output import stdout
from cellwright.cli.studies.options import SEARCH, STUDY_HELP, Place

EXAMPLES = examples(
    SEARCH,
    (
        "the study and the random search beside it, into studies.svg",
        "cellwright studies plot first",
    ),
    ("as PNG, with a title", "cellwright studies plot first -o first.png --title Evolution"),
    ("a PDF for a page of a paper", "cellwright studies plot first -o first.pdf --size page"),
    ("any studies side by side", "cellwright studies plot first first-random -o both.svg"),
)


def run(
    names: Annotated[list[str], typer.Argument(metavar="STUDY", help=STUDY_HELP)],
    output: PictureFile = Path("studies.svg"),
    title: Annotated[str, typer.Option(metavar="TEXT", help="Above the picture.")] = "",
    size: PaperSize = None,
    store: Place = "studies.db",
) -> None:
    """Draw the best value against trials and against time; print the file's name.

    Each trial that has a value is a dot, the best so far a line. Trials that are
    far worse than most are out of the picture. The random search at the same
    cost, where a study has one, is drawn beside it. Studies of different
    metrics need a picture each. Needs matplotlib: pip install
    'cellwright\\[plots]'.
    """
    from cellwright.report.paper import paper_width
    from cellwright.report.study_plots import draw_studies, read_series
    from cellwright.search.studies.baseline import SUFFIX
    from cellwright.trials.store import find_study, has_study, open_store

    check_picture(output)
    width = paper_width(size)
    with open_store(store, only_read=True) as opened:
        wanted = list(dict.fromkeys(names))
        for name in names:
            if name + SUFFIX not in wanted and has_study(opened, name + SUFFIX):
                wanted.insert(wanted.index(name) + 1, name + SUFFIX)
        studies = [find_study(opened, name) for name in wanted]
        series = [read_series(opened, study, study.name) for study in studies]
    draw_studies(series, output, title=title, width=width)
    stdout().print(str(output), soft_wrap=True)
