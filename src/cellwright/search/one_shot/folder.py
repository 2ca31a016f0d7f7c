"""A search is a folder, with a folder in it for each seed.

| file | holds |
|---|---|
| `search.json` | recipe, data, seeds, versions, status |
| `recipe.toml` | the recipe with every setting, to read and to use again |
| `seed-1/` | the search with seed 1 |
| `retrained-1/` | a run: what that found, trained for a short time, if there is a choice |
| `retrained-1-2/` | the same of the second candidate of seed 1, and so on |
| `found.json`, `found.svg` | the cell that came out |
| `selection.json` | what it was chosen by |

and in the folder of a seed

| file | holds |
|---|---|
| `search.json` | recipe, data, seed, versions, status |
| `metrics.jsonl` | what was measured, with the edge weights and the cell after each epoch |
| `last.safetensors` | everything that is needed to go on |
| `result.json`, `cell.json` | what was found, once the search has ended |
| `cell.svg`, `progress.svg`, `evolution.svg`, `evolution.gif` | pictures |
| `cells/` | the cell after each epoch |
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import torch
from pydantic import AfterValidator, BeforeValidator, SerializeAsAny, StrictInt

from cellwright.base.errors import shown
from cellwright.base.files import write_whole
from cellwright.base.json_values import dumps
from cellwright.base.names import without_forbidden
from cellwright.base.progress import Progress
from cellwright.cell import Cell
from cellwright.runs.cell_file import read_cell, write_cell
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RunFolder
from cellwright.runs.info import WorkInfo, describe_data
from cellwright.runs.recipes import opened, recipe_from_json, recipe_to_toml
from cellwright.runs.work_folder import RESULT, WorkFolder
from cellwright.search.one_shot.figures import SeedFigures, Selection, read_figures
from cellwright.search.one_shot.kinds import Found, check_search_size
from cellwright.search.one_shot.recipes import SearchRecipe
from cellwright.tasks.registry import open_task

SEARCHES = Path("searches")
"""Where searches are, unless said."""

RECIPE, CELL, FOUND, SELECTION = "recipe.toml", "cell.json", "found.json", "selection.json"

RESUME = "cellwright search --resume"

MOST_SEEDS = 1000


class SeedInfo(WorkInfo):
    """All that the search of one seed depends on."""

    earlier: ClassVar[str] = "cellwright-search/1"

    format: Literal["cellwright-search/2"] = "cellwright-search/2"
    recipe: Annotated[
        SerializeAsAny[SearchRecipe],
        BeforeValidator(lambda value: recipe_from_json(SearchRecipe, value)),
    ]


class SeedFolder(WorkFolder[SeedInfo]):
    """The search of one seed on disk."""

    noun: ClassVar[str] = "search"
    info_name: ClassVar[str] = "search.json"
    info_type: ClassVar[type[SeedInfo]] = SeedInfo
    resume: ClassVar[str] = RESUME

    @property
    def go_on(self) -> str:
        """The command that goes on with it, and with all that belongs to it."""
        return f"{self.resume} {self.path.parent}"

    @property
    def anew(self) -> str:
        """What gives the same again, behind "put it back, or"."""
        return f"move {self.path} away: '{self.go_on}' then searches anew, to the same cell"

    def write_result(self, found: Found) -> None:
        """Write down what came out: the cell first, since the figures say that it is there."""
        write_cell(self.path / CELL, found.cell)
        write_whole(self.path / RESULT, dumps(found.to_json(), indent=2).encode() + b"\n")

    def cell(self) -> Cell:
        """What the search found."""
        return read_cell(self.path / CELL)

    def figures(self) -> SeedFigures:
        """What `result.json` says."""
        return read_figures(self.path / RESULT, SeedFigures)


def check_seeds(seeds: Sequence[int]) -> None:
    """Say so if these cannot be the seeds of a search."""
    if not 1 <= len(seeds) <= MOST_SEEDS:
        raise RunError(f"a search has from 1 to {MOST_SEEDS} seeds, not {len(seeds)}")
    if len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise RunError(f"seeds are different numbers from 0 on, not {shown(list(seeds))}")


def _checked(seeds: tuple[int, ...]) -> tuple[int, ...]:
    check_seeds(seeds)
    return seeds


class SearchInfo(SeedInfo):
    """All that a search with several seeds depends on; `seed` is the first of them."""

    earlier: ClassVar[str] = "cellwright-searches/1"

    format: Literal["cellwright-searches/2"] = "cellwright-searches/2"  # type: ignore[assignment]
    seeds: Annotated[tuple[StrictInt, ...], AfterValidator(_checked)]


class SearchFolder(WorkFolder[SearchInfo]):
    """A search on disk, of one seed or several."""

    noun: ClassVar[str] = "search"
    info_name: ClassVar[str] = "search.json"
    info_type: ClassVar[type[SearchInfo]] = SearchInfo
    resume: ClassVar[str] = RESUME

    @classmethod
    def create(
        cls,
        recipe: SearchRecipe,
        seeds: Sequence[int],
        *,
        data: str | None = None,
        searches: Path = SEARCHES,
        path: Path | None = None,
        backend: str = "auto",
        progress: Progress | None = None,
    ) -> SearchFolder:
        """Make a search's folder, whole or not at all.

        Args:
            recipe: how to search.
            seeds: one search for each.
            data: data by name or folder, in place of the recipe's.
            searches: where the folder is made, named by recipe, data and time.
            path: the folder itself, if not there; it must not exist or be empty.
            backend: of the engine.
            progress: called while data is read for the first time.
        """
        check_seeds(seeds)
        recipe = opened(recipe).on(data)
        if recipe.chooses(len(seeds)):
            recipe.short_training()  # what is wrong with it is said now, not after the search
        task = open_task(recipe.task, progress)
        check_search_size(recipe, task, seeds[0])
        info = SearchInfo(
            metric=task.metric,
            data=describe_data(task, recipe.task),
            seed=seeds[0],
            seeds=tuple(seeds),
            recipe=recipe,
            backend=backend,
            threads=torch.get_num_threads(),
        )
        files = {RECIPE: recipe_to_toml(recipe).encode("utf-8", "backslashreplace")}
        made_of = f"{recipe.name}-{Path(recipe.task.data).name}"
        name = f"{without_forbidden(made_of)}-{datetime.now():%Y%m%d-%H%M%S}"
        return cls.make(info, files, searches / name if path is None else path, path is None)

    @classmethod
    def open(cls, path: Path | str, searches: Path = SEARCHES) -> SearchFolder:
        """A search by its path, or by its name in `searches`."""
        return cls.find(path, searches)

    # -- what is in it ---------------------------------------------------------------------

    def seed_folder(self, seed: int) -> SeedFolder:
        """The folder of one seed, made if it is not there yet."""
        path = self.path / f"seed-{seed}"
        if path.is_dir():
            found = SeedFolder.find(path, self.path)
            _check_seed(path, found.info.seed, seed)
            return found
        values = self.info.model_dump(exclude={"format", "id", "created", "status", "seeds"})
        info = SeedInfo.model_validate({**values, "seed": seed})
        return SeedFolder.make(info, {}, path, False)

    def retraining(self, seed: int, number: int = 1) -> RunFolder | None:
        """The run in which a candidate of a seed is trained for a short time, if it is there.

        The first candidate is what the seed has found.
        """
        path = self.retraining_path(seed, number)
        if not path.is_dir():
            return None
        found = RunFolder.open(path)
        _check_seed(path, found.info.seed, seed)
        return found

    def retraining_path(self, seed: int, number: int = 1) -> Path:
        """Where that run is."""
        return self.path / (f"retrained-{seed}" + (f"-{number}" if number > 1 else ""))

    def found(self) -> Cell:
        """The cell that came out."""
        return read_cell(self.path / FOUND)

    def selection(self) -> Selection:
        """What it was chosen by."""
        return read_figures(self.path / SELECTION, Selection)


def _check_seed(path: Path, found: int, wanted: int) -> None:
    if found != wanted:
        raise RunError(f"{path} is of the seed {found}, and should be of {wanted}; move it away")
