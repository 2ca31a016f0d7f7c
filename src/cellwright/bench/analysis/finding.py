"""`Finding`: the result of an analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Finding:
    """What an analysis found. Those that have a picture say in further fields what it shows.

    Args:
        name: of its files.
        title: one line for people.
        numbers: the figures that sum it up, by name.
        heading: the columns of its table.
        rows: the rows.
    """

    name: str
    title: str
    numbers: Mapping[str, float]
    heading: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
