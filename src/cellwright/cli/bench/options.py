"""Arguments and a figure that several `bench` commands share."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A benchmark, as 'bench import' makes it.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

SYNTHETIC = ("a made-up benchmark", "cellwright bench import --synthetic 30 -o my.bench")
"""The first example of a command that needs a benchmark."""


def hours(seconds: float) -> str:
    """A time for people.

    >>> hours(5400.0), hours(90.0), hours(float("nan"))
    ('1.50 h', '90 s', '–')
    """
    if not math.isfinite(seconds):
        return "–"
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 3600:,.2f} h"
