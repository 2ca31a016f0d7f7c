"""`search.json`: what a one-shot search is, and where its seeds are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from cellwright.base.errors import refused
from cellwright.base.locks import is_held
from cellwright.base.regular_files import read_regular
from cellwright.base.validation import first_problem
from cellwright.runs.earlier import info_of_today
from cellwright.runs.errors import RunError
from cellwright.runs.info import DataInfo
from cellwright.runs.recipes import recipe_from_json
from cellwright.search.one_shot.epochs import most_epochs
from cellwright.search.one_shot.recipes import SearchRecipe
from cellwright.tasks.metric import Metric

_SEEDS = re.compile(r"seed-(\d+)")


@dataclass(frozen=True)
class Search:
    """`search.json`, as far as the page needs it. (The search's own reader brings torch along.)"""

    path: Path
    status: str
    metric: Metric
    data: str
    description: str
    created: float
    seeds: tuple[int, ...]
    recipe: SearchRecipe
    versions: Mapping[str, str]

    @property
    def state(self) -> str:
        """What has become of it."""
        if self.status == "running":
            return "running" if is_held(self.path) else "killed"
        return self.status

    @property
    def most_epochs(self) -> int | None:
        """Of each seed."""
        return most_epochs(self.recipe.search)

    def seed_folders(self) -> list[tuple[int, Path]]:
        """The seeds that were begun, with their folders."""
        try:
            names = [(_SEEDS.fullmatch(path.name), path) for path in self.path.iterdir()]
        except OSError:
            return []
        return sorted((int(match[1]), path) for match, path in names if match is not None)


def read_search(path: Path) -> Search:
    """What a search is.

    Raises:
        RunError: its file is damaged.
    """
    file = path / "search.json"
    try:
        values = json.loads(read_regular(file))
        if values.get("format") == "cellwright-searches/1":
            values = info_of_today(values)
        data = DataInfo.model_validate(values["data"])
        return Search(
            path,
            str(values["status"]),
            Metric.model_validate(values["metric"]),
            data.name,
            data.description,
            datetime.fromisoformat(values["created"]).timestamp(),
            tuple(int(seed) for seed in values.get("seeds") or [values["seed"]]),
            recipe_from_json(SearchRecipe, values["recipe"]),
            {str(k): str(v) for k, v in values.get("versions", {}).items()},
        )
    except OSError as error:
        raise refused("read", file, error) from None
    except ValidationError as error:
        raise RunError(f"{file} is damaged: {first_problem(error)}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RunError(f"{file} is damaged, or of another version: {error}") from None
