"""What a sensitivity analysis is: `sensitivity.json` in its folder, and the searches beside it.

FOLDER/sensitivity.json     recipe, varied settings, seeds of the searches, parameters
FOLDER/searches/POINT/      a search, an ordinary folder of one
FOLDER/points.json, .csv    the figures of every point
FOLDER/sensitivity.svg      the picture
FOLDER/comparison.json, …   the trainings: the folder is a comparison as well (`compare/plan.py`)
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SerializeAsAny, ValidationError

from cellwright.base.errors import refused, shown
from cellwright.base.files import write_whole
from cellwright.base.json_values import dumps, loads
from cellwright.base.regular_files import read_regular
from cellwright.base.validation import Count, first_problem
from cellwright.compare.plan import check_place
from cellwright.compare.sensitivity.grid import Grid, Point
from cellwright.runs.errors import RunError
from cellwright.runs.recipes import recipe_from_json
from cellwright.search.one_shot.folder import SearchFolder
from cellwright.search.one_shot.recipes import SearchRecipe

FILE, SEARCHES = "sensitivity.json", "searches"

BESIDE = (FILE, SEARCHES)
"""What the folder has before it has a comparison."""

_HINT = "choose another folder, or give what it was made with"


class Made(BaseModel):
    """What everything in a folder depends on, but the trainings, of which the comparison says it.

    `parameters` is None if they are to be those of the recipe's own setting.
    """

    model_config = ConfigDict(strict=True, frozen=True)

    format: Literal["cellwright-sensitivity/1"] = "cellwright-sensitivity/1"
    recipe: Annotated[
        SerializeAsAny[SearchRecipe],
        BeforeValidator(lambda value: recipe_from_json(SearchRecipe, value)),
    ]
    seeds: list[Count] = Field(min_length=1)
    parameters: Count | None
    vary: dict[str, list[int]]


def begin(folder: Path, grid: Grid, seeds: Sequence[int], parameters: int | None) -> None:
    """Write down what is analysed; a folder that has the same already is gone on with.

    Values may be added to those of before.

    Raises:
        RunError: the folder is of something else.
    """
    vary = {axis.setting: list(axis.values) for axis in grid.axes}
    now = Made(recipe=grid.recipe, seeds=list(seeds), parameters=parameters, vary=vary)
    before = _read(folder)
    if before is None:
        check_place(folder, BESIDE)
    else:
        _check_same(folder, before, now)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused("make", folder, error) from None
    text = dumps(now.model_dump(), indent=2).encode("utf-8", "backslashreplace")
    write_whole(folder / FILE, text + b"\n")


def point_search(folder: Path, point: Point, seeds: Sequence[int]) -> SearchFolder | None:
    """The search of a point, if it has begun.

    Raises:
        RunError: what is in its place is another one.
    """
    path = search_path(folder, point)
    if not path.exists():
        return None
    found = SearchFolder.open(path)
    if found.info.seeds != tuple(seeds) or _told(found.info.recipe) != _told(point.recipe):
        raise RunError(
            f"{path} is a search by another recipe or from other seeds than this analysis has; "
            "move it away, or choose another folder"
        )
    return found


def search_path(folder: Path, point: Point) -> Path:
    """Where the search of a point is."""
    return folder / SEARCHES / point.label


def _read(folder: Path) -> Made | None:
    path = folder / FILE
    try:
        return Made.model_validate(loads(read_regular(path)))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise refused("read", path, error) from None
    except ValidationError as error:
        raise RunError(
            f"{path} is damaged, or of another version: {first_problem(error)}"
        ) from None
    except ValueError as error:
        raise RunError(f"{path} is damaged, or of another version: {error}") from None


def _check_same(folder: Path, before: Made, now: Made) -> None:
    old, new = _flat(before), _flat(now)
    for key in {**old, **new}:
        if old.get(key) != new.get(key):
            raise RunError(
                f"{folder} was made with other settings: {key} was {shown(old.get(key))} and is "
                f"{shown(new.get(key))}; {_HINT}"
            )
    for setting, values in before.vary.items():
        gone = sorted({*values} - {*now.vary.get(setting, [])})
        if gone:
            also = ", ".join(map(str, gone))
            raise RunError(
                f"{folder} also has {setting}={also}; name all of its values again (others may be "
                "added), or choose another folder"
            )


def _flat(made: Made) -> dict[str, Any]:
    """What has to be the same, as flat names and values."""
    flat: dict[str, Any] = {"seeds of the searches": made.seeds, "parameters": made.parameters}
    for key, value in _told(made.recipe).items():
        if isinstance(value, dict):
            flat |= {f"{key}.{name}": each for name, each in value.items()}
        else:
            flat[key] = value
    return flat


def _told(recipe: SearchRecipe) -> dict[str, Any]:
    """A recipe without what people call it."""
    return recipe.model_dump(mode="json", exclude={"name", "description"})
