"""Checking settings of spaces and methods, so that a mistake is named where it is made.

`owner` is what the setting belongs to, as words: `"space 'enas'"`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from cellwright.base.errors import UserError, did_you_mean, shown
from cellwright.cell.listings._graph import MOST_NODES

Kind = TypeVar("Kind")


LATER: Mapping[str, bool] = {"later": True}
"""Metadata of a field that spaces or methods of earlier versions did not have."""


def is_unsaid(field: dataclasses.Field[Any], value: Any) -> bool:
    """Whether a setting is left out where settings are written down.

    One that came `LATER` is, at its default: a study that was begun without it goes on.
    """
    return bool(field.metadata.get("later")) and value == field.default


class SettingError(UserError):
    """There is no such space, method or setting, or a setting has a value that it cannot have."""


def check_count(
    owner: str, setting: str, value: Any, least: int = 1, most: int = MOST_NODES
) -> int:
    """`value`, if it is a whole number from `least` to `most`."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise SettingError(
            f"{owner}: {setting} must be a whole number from {least} to {most}, not {shown(value)}"
        )
    return value


def check_number(owner: str, setting: str, value: Any, least: float, most: float) -> float:
    """`value`, if it is a number from `least` to `most`."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
        raise SettingError(
            f"{owner}: {setting} must be from {least:g} to {most:g}, not {shown(value)}"
        )
    return value


def check_words(owner: str, setting: str, value: Any, known: Sequence[str]) -> tuple[str, ...]:
    """`value` as a tuple, if it is a list of some of the `known` words, none of them twice."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise SettingError(f"{owner}: {setting} must be a list of words, not {shown(value)}")
    words = tuple(value)
    if not words:
        raise SettingError(f"{owner}: {setting} is empty; known are {', '.join(known)}")
    for word in words:
        if word not in known:
            hint = did_you_mean(word, known) if isinstance(word, str) else ""
            raise SettingError(
                f"{owner}: {setting} has no {shown(word)}"
                f"{hint or '; known are ' + ', '.join(known)}"
            )
    if len(set(words)) < len(words):
        raise SettingError(f"{owner}: {setting} names {shown(words)}, a word twice")
    return words


def check_word(owner: str, setting: str, value: Any, known: Sequence[str]) -> str:
    """`value`, if it is one of the `known` words."""
    return check_words(owner, setting, [value], known)[0]


def check_flag(owner: str, setting: str, value: Any) -> bool:
    """`value`, if it is true or false."""
    if not isinstance(value, bool):
        raise SettingError(f"{owner}: {setting} must be true or false, not {shown(value)}")
    return value


def find(kinds: Mapping[str, Kind], what: str, name: Any) -> Kind:
    """The space or method called `name`."""
    if not isinstance(name, str) or name not in kinds:
        hint = did_you_mean(name, kinds) if isinstance(name, str) else ""
        raise SettingError(
            f"there is no {what} {shown(name)}{hint or f'; {what}s are ' + ', '.join(kinds)}"
        )
    return kinds[name]


def check_names(
    owner: str, kind: type, settings: Mapping[str, Any], apart: Sequence[str] = ()
) -> None:
    """Raise unless the dataclass `kind` can be made with settings of these names.

    `apart` are fields of it that are said in another place, and are no settings here.
    """
    assert dataclasses.is_dataclass(kind)
    fields = [field.name for field in dataclasses.fields(kind) if field.init]
    known = [name for name in fields if name not in apart]
    for setting in settings:
        if setting not in known:
            hint = did_you_mean(setting, known) or f"; it has {', '.join(known)}"
            raise SettingError(f"{owner} has no setting {setting!r}{hint}")
