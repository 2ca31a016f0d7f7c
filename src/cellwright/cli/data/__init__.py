"""`cellwright data …`: which data is there, how to get or make one. One command, one file."""

from __future__ import annotations

import typer

from cellwright.cli.data import getting, listing, making
from cellwright.cli.help import Command, Group, examples

app = typer.Typer(
    cls=Group,
    help="See which texts and sentences with tags or labels are there, get them, or make a corpus "
    "of your own texts.",
    epilog=examples(
        ("the corpora that have a name", "cellwright data list"),
        ("one that is on every machine", "cellwright data get builtin"),
        ("as text, and any folder with such text", "cellwright data get builtin --to corpora"),
        ("", "cellwright data list corpora/builtin"),
        ("a corpus of your own texts", "cellwright data make corpora -o mine --tokens spaces"),
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
)
app.command("list", cls=Command, epilog=listing.EXAMPLES)(listing.run)
app.command("get", cls=Command, epilog=getting.EXAMPLES)(getting.run)
app.command("make", cls=Command, epilog=making.EXAMPLES)(making.run)
