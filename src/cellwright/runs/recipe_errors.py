"""What is wrong with a recipe, for people: which key, in which file, and what would be right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from cellwright.base.errors import did_you_mean, shown

MOST_ERRORS = 10

Path = tuple[str, ...]


def explain(
    error: ValidationError,
    recipe: type[BaseModel],
    tables: Mapping[str, Any],
    origins: Mapping[Path, str],
    whole: str,
) -> str:
    """One line for each thing that is wrong.

    Args:
        error: what pydantic found.
        recipe: the class of recipes.
        tables: what was checked.
        origins: where each value was said.
        whole: where something that is missing should have been said.
    """
    lines = []
    for found in error.errors(include_url=False):
        path = tuple(map(str, found["loc"]))
        if len(path) > 1 and _members(recipe, path[0]):  # pydantic says which member it took
            path = path[:1] + path[2:]
        problem = _problem(path, dict(found), recipe, tables)
        if isinstance(found["input"], dict) and found["type"] == "value_error":
            origin = _origin_of_words(path, str(found["msg"]), origins) or whole
        else:
            origin = _origin(path, origins, whole)
        lines.append(f"{origin}: {problem}")
    if len(lines) > MOST_ERRORS:
        lines[MOST_ERRORS:] = [f"and {len(lines) - MOST_ERRORS} more"]
    return "\n".join(lines)


def _origin(path: Path, origins: Mapping[Path, str], whole: str) -> str:
    for end in range(len(path), 0, -1):
        if path[:end] in origins:
            return origins[path[:end]]
    return whole


def _origin_of_words(table: Path, message: str, origins: Mapping[Path, str]) -> str:
    """Where those keys of a table were said that the message about the table names."""
    words = set(re.findall(r"\w+", message))
    said = (origin for path, origin in origins.items() if path[:-1] == table and path[-1] in words)
    return " and ".join(dict.fromkeys(said))


def _problem(
    path: Path, found: dict[str, Any], recipe: type[BaseModel], tables: Mapping[str, Any]
) -> str:
    key, value, kind = ".".join(path), shown(found["input"]), found["type"]
    if kind == "extra_forbidden":
        return _unknown(path, recipe, tables)
    if kind == "missing":
        return f"{key} is missing"
    if kind == "union_tag_not_found":
        return f"{key}.kind is missing; it should be {_either(_kinds(_members(recipe, path[0])))}"
    if kind == "union_tag_invalid":
        tag, known = str(found["ctx"]["tag"]), _kinds(_members(recipe, path[0]))
        return f"{key}.kind should be {_either(known)}, not {shown(tag)}{did_you_mean(tag, known)}"
    if kind in ("model_type", "model_attributes_type"):
        return f"{key} should be a table, written [{key}], not {value}"
    message = str(found["msg"])
    if message.startswith("Input should be "):
        optional = _is_optional(path, recipe, tables)
        allowed = message.removeprefix("Input should be ") + (' or "none"' if optional else "")
        guess = did_you_mean(str(found["input"]), _quoted(found)) if kind == "literal_error" else ""
        return f"{key} should be {allowed}, not {value}{guess}"
    message = message.removeprefix("Value error, ")
    return f"{key}: {message[:1].lower()}{message[1:]}"


def _either(words: list[str]) -> str:
    return " or ".join(", ".join(map(repr, words)).rsplit(", ", 1))


def _quoted(found: Mapping[str, Any]) -> list[str]:
    expected = str(found["ctx"]["expected"])
    return [word.strip("'") for word in expected.replace(" or ", ", ").split(", ")]


def _unknown(path: Path, recipe: type[BaseModel], tables: Mapping[str, Any]) -> str:
    *at, word = path
    key = ".".join(path)
    table = _settings(tuple(at), recipe, tables)
    own = [] if table is None else list(table.model_fields)
    nearest = did_you_mean(word, own)
    if nearest:
        near = nearest.partition("'")[2].rpartition("'")[0]
        return f"unknown key {key!r}; did you mean {'.'.join((*at, near))!r}?"
    elsewhere = [dotted for dotted in _all_keys(recipe, tables) if dotted.split(".")[-1] == word]
    if elsewhere:
        return f"unknown key {key!r}; did you mean {elsewhere[0]!r}?"
    where = f"[{'.'.join(at)}]" if at else "a recipe"
    return f"unknown key {key!r}; {where} has {', '.join(own)}"


def _members(recipe: type[BaseModel], key: str) -> list[type[BaseModel]]:
    """The classes that a table may be of, where its `kind` decides; none elsewhere."""
    field = recipe.model_fields.get(key)
    found = () if field is None else get_args(field.annotation)
    members = [m for m in found if isinstance(m, type) and issubclass(m, BaseModel)]
    return members if len(members) > 1 else []


def _kinds(members: list[type[BaseModel]]) -> list[str]:
    return [kind for m in members for kind in get_args(m.model_fields["kind"].annotation)]


def _settings(
    at: Path, recipe: type[BaseModel], tables: Mapping[str, Any]
) -> type[BaseModel] | None:
    """The class of a table's settings."""
    settings = recipe
    for key in at:
        field = settings.model_fields.get(key)
        found: Any = None if field is None else field.annotation
        if members := _members(settings, key):
            table = tables.get(key)
            said = table.get("kind", _kinds(members)[0]) if isinstance(table, dict) else None
            found = next((member for member in members if said in _kinds([member])), None)
        if not (isinstance(found, type) and issubclass(found, BaseModel)):
            return None
        settings = found
    return settings


def _all_keys(recipe: type[BaseModel], tables: Mapping[str, Any], at: Path = ()) -> Iterator[str]:
    settings = _settings(at, recipe, tables)
    for name in settings.model_fields if settings else ():
        yield ".".join((*at, name))
        yield from _all_keys(recipe, tables, (*at, name))


def _is_optional(path: Path, recipe: type[BaseModel], tables: Mapping[str, Any]) -> bool:
    table = _settings(path[:-1], recipe, tables)
    if table is None or path[-1] not in table.model_fields:
        return False
    return type(None) in get_args(table.model_fields[path[-1]].annotation)
