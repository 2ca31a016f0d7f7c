"""The spaces: those that come with cellwright by name, others by file or module."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from cellwright.base.errors import shown
from cellwright.base.plugins import HOW_NAMED, Place, Source, as_place, at_line, described, load
from cellwright.spaces.any_cell import AnyCell
from cellwright.spaces.darts import Darts, IDarts
from cellwright.spaces.enas import Enas
from cellwright.spaces.ess import Ess
from cellwright.spaces.fenas import Fenas
from cellwright.spaces.nas_bench_nlp import NasBenchNlp
from cellwright.spaces.settings import SettingError, check_names, find
from cellwright.spaces.space import Space

SPACES: dict[str, type[Space]] = {
    kind.name: kind for kind in (Enas, Darts, IDarts, Ess, Fenas, NasBenchNlp, AnyCell)
}
"""Every space that is made from settings alone. A `Pool` is made from cells."""


def space(name: str, /, **settings: Any) -> Space:
    """The space of that name, with the paper's settings where none are given.

    A subclass of `Space` of the user's own is named by its place, `file.py:Class` or
    `module:Class`, which runs that file or module.

    >>> space("enas", nodes=6).size()
    491520
    """
    place = None if name in SPACES else as_place(name)
    if place is not None:
        return _own_space(place, settings)
    try:
        kind = find(SPACES, "space", name)
    except SettingError as error:
        raise SettingError(f"{error} ({HOW_NAMED})") from None
    check_names(f"space {name!r}", kind, settings)
    return kind(**settings)


def _own_space(place: Place, settings: dict[str, Any]) -> Space:
    """A space of the user's own."""
    found, source = load(place)
    if not (isinstance(found, type) and issubclass(found, Space)):
        raise SettingError(f"{source} is {shown(found)}, and should be a subclass of Space")
    lacks = ", ".join(sorted(getattr(found, "__abstractmethods__", ())))
    if lacks:
        raise SettingError(f"{source} lacks {lacks}, which every subclass of Space has")
    if not dataclasses.is_dataclass(found) and found.settings is Space.settings:
        raise SettingError(f"{source} should be a dataclass, or have settings() of its own")
    kind = _named(found, source)
    if dataclasses.is_dataclass(found):
        check_names(f"space {source.label!r}", kind, settings)
    try:
        return kind(**settings)
    except Exception as error:
        why = f"{described(error)}{at_line(error, source.file)}"
        raise SettingError(f"{source} cannot be made: {why}") from error


@functools.lru_cache(maxsize=64)
def _named(found: type[Space], source: Source) -> type[Space]:
    """The same class, called by its place."""
    kind: type[Space] = type(found.__name__, (found,), {"name": source.label, "source": source})
    return kind
