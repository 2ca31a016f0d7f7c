"""`cellwright runs …`: what has been trained, and how it went. One command, one file."""

from __future__ import annotations

import typer

from cellwright.cli.help import Command, Group, examples
from cellwright.cli.runs import listing, plot, show
from cellwright.cli.runs.options import TRAIN

app = typer.Typer(
    cls=Group,
    help="List, show and plot training runs.",
    epilog=examples(
        TRAIN,
        ("all runs in the folder runs", "cellwright runs list"),
        ("one of them, with its curve", "cellwright runs show gru"),
        ("its curve as a picture", "cellwright runs plot gru -o curves.svg"),
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
)
app.command("list", cls=Command, epilog=listing.EXAMPLES)(listing.run)
app.command("show", cls=Command, epilog=show.EXAMPLES)(show.run)
app.command("plot", cls=Command, epilog=plot.EXAMPLES)(plot.run)
