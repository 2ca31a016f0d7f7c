"""`cellwright data …`: which corpora are there, and how to get them. One command, one file."""

from __future__ import annotations

import typer

from cellwright.cli.data import getting, listing
from cellwright.cli.help import Command, Group, examples

app = typer.Typer(
    cls=Group,
    help="See which text corpora are there, and get them.",
    epilog=examples(
        ("the corpora that have a name", "cellwright data list"),
        ("one that is on every machine", "cellwright data get builtin"),
        ("as text, and any folder with such text", "cellwright data get builtin --to corpora"),
        ("", "cellwright data list corpora/builtin"),
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
)
app.command("list", cls=Command, epilog=listing.EXAMPLES)(listing.run)
app.command("get", cls=Command, epilog=getting.EXAMPLES)(getting.run)
