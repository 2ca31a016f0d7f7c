"""The folder of a grid.

FOLDER/grid.json            the recipe, and how long each stage has taken so far
FOLDER/store.db             its studies
FOLDER/studies/GRID-STAGE/  what a stage that tunes, or a study, has found
FOLDER/searches/STAGE/      a one-shot search
FOLDER/trained/STAGE/       the comparison in which cells of a stage are trained
FOLDER/index.html           the report, with results.json and a file for each table
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from cellwright.base.bounds import KEPT
from cellwright.base.errors import refused
from cellwright.base.files import write_whole
from cellwright.base.folder_kinds import kind_of
from cellwright.base.json_values import dumps, loads
from cellwright.base.regular_files import read_regular
from cellwright.base.validation import first_problem
from cellwright.grids.recipes import GridRecipe, trials_of
from cellwright.runs.errors import RunError

FILE, STORE = "grid.json", "store.db"
GRIDS = Path("grids")
"""Where grids are, unless said."""


def _kept(value: Any) -> Any:
    """A recipe as it was begun with, whose files may be gone."""
    return GridRecipe.model_validate(value, context=KEPT)


class _Made(BaseModel):
    """`grid.json`."""

    model_config = ConfigDict(strict=True)

    format: Literal["cellwright-grid/1"] = "cellwright-grid/1"
    recipe: Annotated[GridRecipe, BeforeValidator(_kept)]
    store: str
    wall: dict[str, float] = {}
    done: list[str] = []


class GridFolder:
    """A grid on disk.

    Args:
        path: the folder.
        made: what its file says.
    """

    def __init__(self, path: Path, made: _Made) -> None:
        self.path, self._made = path, made

    @property
    def recipe(self) -> GridRecipe:
        """What it was begun with, or gone on with last."""
        return self._made.recipe

    @property
    def wall(self) -> dict[str, float]:
        """Seconds of the wall clock that each stage has taken so far."""
        return dict(self._made.wall)

    @property
    def done(self) -> set[str]:
        """The stages that have ended, now or before."""
        return set(self._made.done)

    def study(self, stage: str) -> str:
        """What a stage's study is called: two grids may share a store."""
        return f"{self.path.name}-{stage}"

    def trained(self, stage: str) -> Path:
        """Where cells of a stage are trained."""
        return self.path / "trained" / stage

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Count the time that a stage takes, also if it is stopped, and note that it has ended.

        A stage that had ended is only read again, which counts for nothing.
        """
        if stage in self.done:
            yield
            return
        begun, before = time.monotonic(), self._made.wall.get(stage, 0.0)
        try:
            yield
            self._made.done.append(stage)
        finally:
            self._made.wall[stage] = before + time.monotonic() - begun
            self._write()

    def _write(self) -> None:
        text = dumps(self._made.model_dump(), indent=2).encode("utf-8", "backslashreplace")
        write_whole(self.path / FILE, text + b"\n")


def open_grid(path: Path, recipe: GridRecipe, store: str = STORE) -> GridFolder:
    """The folder of a grid, made if it is not there.

    A grid that was begun goes on: it may have more seeds, more stages behind the others, and more
    trials in stages that no other stands on; nothing else may differ.

    Args:
        path: the folder.
        recipe: of the grid.
        store: where its studies are kept, without a password.

    Raises:
        RunError: there is something else, or a grid with other stages.
    """
    try:
        if (path / FILE).exists():
            before = _read(path / FILE)
            if before.store != store:
                raise RunError(f"{path} has its studies in {before.store}, not in {store}")
            changed = _check_same(path, before.recipe, recipe)
            done = [name for name in before.done if name not in changed]
            made = before.model_copy(update={"recipe": recipe, "done": done})
        else:
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                kind = kind_of(path) if path.is_dir() else "a file"
                raise RunError(
                    f"{path} is {kind or 'a folder with other files'}, and no grid; choose another "
                    "name"
                )
            path.mkdir(parents=True, exist_ok=True)
            made = _Made.model_construct(recipe=recipe, store=store, wall={}, done=[])
    except OSError as error:
        raise refused("make", path, error) from None
    folder = GridFolder(path, made)
    folder._write()
    return folder


def read_grid(path: Path) -> GridFolder:
    """A grid that was begun, to look at.

    Raises:
        RunError: it is damaged, or of another version.
    """
    return GridFolder(path, _read(path / FILE))


def _read(path: Path) -> _Made:
    try:
        return _Made.model_validate(loads(read_regular(path)))
    except OSError as error:
        raise refused("read", path, error) from None
    except ValidationError as error:
        problem = first_problem(error)
    except ValueError as error:
        problem = str(error)
    raise RunError(f"{path} is damaged, or of another version: {problem}")


def _check_same(path: Path, before: GridRecipe, now: GridRecipe) -> set[str]:
    """Refuse what cannot go on; which stages have more to do than before."""
    changed: set[str] = set()
    hint = "go on with the same recipe, or choose another name"
    if list(before.stages) != list(now.stages)[: len(before.stages)]:
        raise RunError(f"{path} was begun with other stages; {hint}")
    if now.seeds < before.seeds:
        raise RunError(f"{path} was begun with {before.seeds} seeds, and cannot have fewer; {hint}")
    stood_on = {other for stage in now.stages.values() for _, other in stage.others()}
    for name, stage in before.stages.items():
        then, again = stage.model_dump(), now.stages[name].model_dump()
        if then.pop("trials", None) != again.pop("trials", None):
            few, many = trials_of(stage), trials_of(now.stages[name])
            if many < few:
                raise RunError(f"{path}: the stage {name} was begun with more trials; {hint}")
            if many > few and name in stood_on:
                raise RunError(
                    f"{path}: other stages stand on {name}, which cannot have more trials now; "
                    f"{hint}"
                )
            changed |= {name} if many > few else set()
        for key in then:
            if then[key] != again.get(key):
                raise RunError(f"{path}: the stage {name} was begun with another {key}; {hint}")
    more_seeds = now.seeds > before.seeds
    return set(now.stages) if more_seeds else changed
