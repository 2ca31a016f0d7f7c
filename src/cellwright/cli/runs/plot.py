"""`cellwright runs plot`: the curves of runs as a picture."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import typer

from cellwright.cli.files import PaperSize, PictureFile, check_picture
from cellwright.cli.help import examples
from cellwright.cli.output import say, stderr, stdout
from cellwright.cli.runs.options import RUN_HELP, SECOND, TRAIN, Runs

EXAMPLES = examples(
    TRAIN,
    ("into curves.svg", "cellwright runs plot gru"),
    ("against time, as PNG", "cellwright runs plot gru --against time -o gru.png"),
    ("a PDF for a column of a paper", "cellwright runs plot gru -o gru.pdf --size column"),
    SECOND,
    ("both in one picture", "cellwright runs plot gru rnn -o both.svg"),
)


class Against(str, Enum):
    """What the curves are drawn against."""

    EPOCH = "epoch"
    TIME = "time"


def run(
    names: Annotated[list[str], typer.Argument(metavar="RUN", help=RUN_HELP)],
    output: PictureFile = Path("curves.svg"),
    against: Annotated[
        Against, typer.Option(help="Epochs, or the time that training took.")
    ] = Against.EPOCH,
    title: Annotated[str, typer.Option(metavar="TEXT", help="Above the picture.")] = "",
    size: PaperSize = None,
    runs: Runs = Path("runs"),
) -> None:
    """Draw the metric of runs on validation and training data; print the file's name.

    The best epoch of each run is marked. The axis of a metric that grows
    is logarithmic where values are far apart. Where training minimises another loss than the
    metric's, as for accuracies, that loss has an axis of its own. Runs of
    different metrics need a picture each. Needs matplotlib: pip install
    'cellwright\\[plots]'.
    """
    from cellwright.report.paper import paper_width
    from cellwright.report.run_plots import Curve, draw_curves
    from cellwright.runs.curves import curve_of
    from cellwright.runs.folder import RunFolder

    check_picture(output)
    width = paper_width(size)
    folders = [RunFolder.open(name, runs) for name in names]
    short = [folder.path.absolute().name for folder in folders]
    labels = short if len(set(short)) == len(short) else [str(f.path) for f in folders]
    curves = [
        Curve(label, curve_of(folder), folder.info.metric)
        for label, folder in zip(labels, folders, strict=True)
    ]
    over: Literal["time", "epoch"] = "time" if against is Against.TIME else "epoch"
    draw_curves(curves, output, against=over, title=title, width=width)
    for curve in curves:
        if not curve.records:
            note = f"{curve.label}: left out, since no epoch has ended yet"
            say(note, "yellow", stderr())
    stdout().print(str(output), soft_wrap=True)
