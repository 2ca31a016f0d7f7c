"""The spaces by name."""

from __future__ import annotations

from typing import Any

from cellwright.spaces.darts import Darts, IDarts
from cellwright.spaces.enas import Enas
from cellwright.spaces.ess import Ess
from cellwright.spaces.fenas import Fenas
from cellwright.spaces.nas_bench_nlp import NasBenchNlp
from cellwright.spaces.settings import check_names, find
from cellwright.spaces.space import Space

SPACES: dict[str, type[Space]] = {
    kind.name: kind for kind in (Enas, Darts, IDarts, Ess, Fenas, NasBenchNlp)
}
"""Every space that is made from settings alone. A `Pool` is made from cells."""


def space(name: str, /, **settings: Any) -> Space:
    """The space of that name, with the paper's settings where none are given.

    >>> space("enas", nodes=6).size()
    491520
    """
    kind = find(SPACES, "space", name)
    check_names(f"space {name!r}", kind, settings)
    return kind(**settings)
