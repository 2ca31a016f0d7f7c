"""`cellwright data …`: which corpora are there, and how to get them. One command, one file."""

from __future__ import annotations

from typing import Any

import typer

from cellwright.cli.data import getting, listing
from cellwright.cli.help import Command, Group, examples


class DataGroup(Group):
    """The commands about data, whose errors are reported as those of the system are."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except ValueError as error:
            from cellwright.data import DataError

            if not isinstance(error, DataError):
                raise
            raise OSError(str(error)) from None


app = typer.Typer(
    cls=DataGroup,
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
