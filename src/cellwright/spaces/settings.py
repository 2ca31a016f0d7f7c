"""Checking the settings of spaces, so that a mistake is named where it is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cellwright.cell.errors import did_you_mean, shown
from cellwright.cell.listings._graph import MOST_NODES
from cellwright.spaces.space import SpaceError


def check_count(
    space: str, setting: str, value: Any, least: int = 1, most: int = MOST_NODES
) -> int:
    """`value`, if it is a whole number from `least` to `most`."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise SpaceError(
            f"space {space!r}: {setting} must be a whole number from {least} to {most}, "
            f"not {shown(value)}"
        )
    return value


def check_words(space: str, setting: str, value: Any, known: Sequence[str]) -> tuple[str, ...]:
    """`value` as a tuple, if it is a list of some of the `known` words, none of them twice."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise SpaceError(f"space {space!r}: {setting} must be a list of words, not {shown(value)}")
    words = tuple(value)
    if not words:
        raise SpaceError(f"space {space!r}: {setting} is empty; known are {', '.join(known)}")
    for word in words:
        if word not in known:
            hint = did_you_mean(word, known) if isinstance(word, str) else ""
            raise SpaceError(
                f"space {space!r}: {setting} has no {shown(word)}"
                f"{hint or '; known are ' + ', '.join(known)}"
            )
    if len(set(words)) < len(words):
        raise SpaceError(f"space {space!r}: {setting} names {shown(words)}, a word twice")
    return words


def check_word(space: str, setting: str, value: Any, known: Sequence[str]) -> str:
    """`value`, if it is one of the `known` words."""
    return check_words(space, setting, [value], known)[0]


def check_flag(space: str, setting: str, value: Any) -> bool:
    """`value`, if it is true or false."""
    if not isinstance(value, bool):
        raise SpaceError(f"space {space!r}: {setting} must be true or false, not {shown(value)}")
    return value
