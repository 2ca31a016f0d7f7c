"""`cellwright cells …`: look at cells, draw, convert and check them. One command, one file."""

from __future__ import annotations

import typer

from cellwright.cli.cells import check, convert, draw, listing, show
from cellwright.cli.help import Command, Group, examples

app = typer.Typer(
    cls=Group,
    help="Look at cells, draw, convert and check them.",
    epilog=examples(
        ("the zoo, as a table", "cellwright cells list"),
        ("one cell, as text", "cellwright cells show darts-v1"),
        (
            "a file, and its picture",
            "cellwright cells convert gru --to cellwright -o g.json",
        ),
        ("", "cellwright cells draw g.json -o gru.png"),
        ("'-' is standard input", "cellwright cells show lstm --json | cellwright cells check -"),
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
)
app.command("list", cls=Command, epilog=listing.EXAMPLES)(listing.run)
app.command("show", cls=Command, epilog=show.EXAMPLES)(show.run)
app.command("draw", cls=Command, epilog=draw.EXAMPLES)(draw.run)
app.command("convert", cls=Command, epilog=convert.EXAMPLES)(convert.run)
app.command("check", cls=Command, epilog=check.EXAMPLES)(check.run)
