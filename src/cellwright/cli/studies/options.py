"""Arguments and examples that several commands about studies share."""

from __future__ import annotations

from typing import Annotated

import typer

STUDY_HELP = "A study's name."

Place = Annotated[
    str,
    typer.Option("--store", metavar="FILE|URL", help="Where studies are kept."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

SEARCH = (
    "a study to look at, with a random search at the same cost",
    "cellwright search studies-laptop --trials 3 --baseline --name first",
)
"""The first example of a command that needs a study."""
