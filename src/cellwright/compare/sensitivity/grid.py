"""Which searches there are: each setting varied alone, the others as the recipe has them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from cellwright.base.errors import UserError, did_you_mean, shown
from cellwright.base.validation import first_problem
from cellwright.search.one_shot.recipes import SearchRecipe
from cellwright.search.one_shot.space import space_counts

MOST_VALUES = 100
"""That a setting is given."""


@dataclass(frozen=True)
class Axis:
    """A setting of the search and the values that it is given, in order."""

    setting: str
    values: tuple[int, ...]


@dataclass(frozen=True)
class Point:
    """A search: what the recipe is with other counts.

    Args:
        counts: all counts of the space with their values.
        recipe: that has them.
    """

    counts: tuple[tuple[str, int], ...]
    recipe: SearchRecipe

    @property
    def label(self) -> str:
        """What tells it from the others, and names its search: `nodes4-m2`."""
        return "-".join(f"{name}{value}" for name, value in self.counts)

    @property
    def words(self) -> str:
        """The same for people: `nodes 4, m 2`."""
        return ", ".join(f"{name} {value}" for name, value in self.counts)


@dataclass(frozen=True)
class Grid:
    """All points; `base` is the recipe as it is, which is a point of every axis."""

    recipe: SearchRecipe
    axes: tuple[Axis, ...]
    base: Point

    def along(self, axis: Axis) -> list[tuple[int, Point]]:
        """The points of an axis by their values, with the base among them."""
        return [(value, _point(self.recipe, {axis.setting: value})) for value in axis.values]

    @property
    def points(self) -> list[Point]:
        """Every point once, the base first."""
        found = {self.base.label: self.base}
        for axis in self.axes:
            for _, point in self.along(axis):
                found.setdefault(point.label, point)
        return list(found.values())


def make_grid(recipe: SearchRecipe, vary: Mapping[str, Sequence[int]]) -> Grid:
    """The points of a recipe whose settings are varied so; its own values are always among them.

    Raises:
        UserError: nothing is varied, or the search cannot have such a setting or value.
    """
    known = space_counts(recipe.search)
    words = ", ".join(known)
    if not vary:
        raise UserError(
            f"nothing is varied: this search has {words}, as in {next(iter(known))}=2,4"
        )
    axes: list[Axis] = []
    for name, values in vary.items():
        setting = str(name).removeprefix("search.")
        if setting not in known:
            hint = did_you_mean(setting, known) or f"; what may vary is {words}"
            raise UserError(
                f"the cells of {recipe.name} ({recipe.search.kind}) have no number "
                f"{shown(setting)}{hint}"
            )
        if any(axis.setting == setting for axis in axes):
            raise UserError(f"{setting} is varied twice; give all of its values at once")
        _check_values(setting, values)
        axes.append(Axis(setting, tuple(sorted({*values, known[setting]}))))
    grid = Grid(recipe, tuple(axes), _point(recipe, {}))
    _ = grid.points  # says what is wrong with a value
    return grid


def read_vary(texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Settings and values as a command takes them.

    >>> read_vary(["nodes=2,4,8", "m=1,2"])
    {'nodes': (2, 4, 8), 'm': (1, 2)}
    """
    found: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, equals, rest = (part.strip() for part in text.partition("="))
        words = [word.strip() for word in rest.split(",")]
        if not equals or not name or any(not re.fullmatch(r"[0-9]{1,9}", word) for word in words):
            raise UserError(
                "what is varied is a setting with whole numbers, as in nodes=2,4,8, not "
                f"{shown(text)}"
            )
        if name in found:
            raise UserError(f"{name} is varied twice; give all of its values at once")
        found[name] = tuple(map(int, words))
    return found


def _check_values(setting: str, values: Sequence[int]) -> None:
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise UserError(f"{setting} needs a list of whole numbers, not {shown(values)}")
    for value in values:
        if not isinstance(value, int) or isinstance(value, bool):
            raise UserError(f"{setting} is given whole numbers, not {shown(value)}")
    if len(set(values)) < len(values):
        raise UserError(f"{setting} has a value twice: {shown(list(values))}")
    if len(values) > MOST_VALUES:
        raise UserError(f"{setting} has {len(values)} values, and {MOST_VALUES} are the most")


def _point(recipe: SearchRecipe, changes: Mapping[str, int]) -> Point:
    if not changes:
        return Point(tuple(space_counts(recipe.search).items()), recipe)
    values = {**recipe.search.model_dump(), **changes}
    try:
        search = type(recipe.search).model_validate(values)
    except (ValidationError, UserError) as error:
        why = first_problem(error) if isinstance(error, ValidationError) else str(error)
        why = why.removeprefix("value error, ")
        said = ", ".join(f"{name}={value}" for name, value in changes.items())
        raise UserError(f"{said}: {why}") from None
    varied = recipe.model_copy(update={"search": search})
    return Point(tuple(space_counts(search).items()), varied)
