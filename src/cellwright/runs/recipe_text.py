"""Recipes written as TOML, with a word of explanation for every setting."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

NONE = "none"
"""How a recipe says that a setting has no value."""


class _Extra(BaseModel):
    model_config = ConfigDict(extra="allow")


def recipe_to_toml(recipe: BaseModel) -> str:
    """A recipe as a file that `load_recipe` reads as the same recipe; every setting is in it."""
    return "\n".join(_lines(recipe)) + "\n"


def _lines(settings: BaseModel, at: str = "") -> Iterator[str]:
    tables: list[tuple[str, BaseModel]] = []
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            tables.append((name, value))
        else:
            comment = f"  # {field.description}" if field.description else ""
            yield f"{name} = {as_toml(value)}{comment}"
    for name, value in (settings.model_extra or {}).items():  # of a plug-in that nobody asked
        if isinstance(value, dict):
            tables.append((name, _Extra.model_validate(value)))
        else:
            yield f"{name} = {as_toml(value)}"
    for name, table in tables:
        yield ""
        yield f"[{at}{name}]"
        yield from _lines(table, f"{at}{name}.")


def as_toml(value: Any) -> str:
    """A value as recipes write it.

    >>> as_toml([1, True, None, {"kind": "table", "width": 5}])
    '[1, true, "none", {kind = "table", width = 5}]'
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, BaseModel):
        value = dict(value)
    if isinstance(value, Mapping):
        inside = (f"{_key(str(name))} = {as_toml(each)}" for name, each in value.items())
        return f"{{{', '.join(inside)}}}"
    return _text(NONE if value is None else str(value))


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else _text(name)


def _text(text: str) -> str:
    # JSON's escapes are TOML's, but for one character that TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
