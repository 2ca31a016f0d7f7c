"""The spaces by name."""

from __future__ import annotations

import dataclasses
from typing import Any

from cellwright.cell.errors import did_you_mean, shown
from cellwright.spaces.darts import Darts, IDarts
from cellwright.spaces.enas import Enas
from cellwright.spaces.ess import Ess
from cellwright.spaces.fenas import Fenas
from cellwright.spaces.nas_bench_nlp import NasBenchNlp
from cellwright.spaces.space import Space, SpaceError

SPACES: dict[str, type[Space]] = {
    kind.name: kind for kind in (Enas, Darts, IDarts, Ess, Fenas, NasBenchNlp)
}
"""Every space that is made from settings alone. A `Pool` is made from cells."""


def space(name: str, **settings: Any) -> Space:
    """The space of that name, with the paper's settings where none are given.

    >>> space("enas", nodes=6).size()
    491520
    """
    if not isinstance(name, str) or name not in SPACES:
        hint = did_you_mean(name, SPACES) if isinstance(name, str) else ""
        raise SpaceError(
            f"there is no space {shown(name)}{hint or '; spaces are ' + ', '.join(SPACES)}"
        )
    kind = SPACES[name]
    assert dataclasses.is_dataclass(kind)
    known = [field.name for field in dataclasses.fields(kind)]
    for setting in settings:
        if setting not in known:
            hint = did_you_mean(setting, known) or f"; it has {', '.join(known)}"
            raise SpaceError(f"space {name!r} has no setting {setting!r}{hint}")
    return kind(**settings)
