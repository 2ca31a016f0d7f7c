"""Arguments and figures that several `bench` commands share."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A benchmark, as 'bench import' makes it.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

SYNTHETIC = ("a made-up benchmark", "cellwright bench import --synthetic 60")
"""The first example of a command that needs a benchmark."""


def jsonable(value: Any) -> Any:
    """The value with null for what JSON does not have, NaN and infinities."""
    if isinstance(value, dict):
        return {key: jsonable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def loss(value: float) -> str:
    """A loss for people.

    >>> loss(4.63924), loss(float("nan"))
    ('4.6392', '–')
    """
    return f"{value:.4f}" if math.isfinite(value) else "–"


def perplexity(value: float) -> str:
    """The perplexity of a loss, for people.

    >>> perplexity(4.63924), perplexity(700.0), perplexity(float("nan"))
    ('103.5', '1e+304', '–')
    """
    if not math.isfinite(value) or value > 709:
        return "–"
    found = math.exp(value)
    return f"{found:.1f}" if found < 1e6 else f"{found:.0g}"


def hours(seconds: float) -> str:
    """A time for people.

    >>> hours(5400.0), hours(90.0), hours(float("nan"))
    ('1.50 h', '90 s', '–')
    """
    if not math.isfinite(seconds):
        return "–"
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 3600:,.2f} h"
