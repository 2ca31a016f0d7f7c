"""`cellwright studies …`: what was searched for, and what came of it. One command, one file."""

from __future__ import annotations

import typer

from cellwright.cli.help import Command, Group, examples
from cellwright.cli.studies import export, listing, plot, show
from cellwright.cli.studies.options import SEARCH

app = typer.Typer(
    cls=Group,
    help="List, show, plot and export studies: searches that train cell by cell.",
    epilog=examples(
        SEARCH,
        ("all studies of a store", "cellwright studies list"),
        ("one of them, its best trials and its cost", "cellwright studies show first"),
        ("how it went, as a picture", "cellwright studies plot first -o first.svg"),
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
)
app.command("list", cls=Command, epilog=listing.EXAMPLES)(listing.run)
app.command("show", cls=Command, epilog=show.EXAMPLES)(show.run)
app.command("plot", cls=Command, epilog=plot.EXAMPLES)(plot.run)
app.command("export", cls=Command, epilog=export.EXAMPLES)(export.run)
