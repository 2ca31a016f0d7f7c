"""What a suite is: tasks under labels, each with the recipe that trains cells on it.

A suite that does not come with cellwright is a TOML file. Recipes are packaged ones, or files
beside it:

    title = "Names and chunks"

    [[tasks]]
    label = "wnut17"
    recipe = "tagging-laptop"
    data = "wnut17"

    [[tasks]]
    label = "chunks"
    recipe = "chunks.toml"
    figures = ["F1", "accuracy"]
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from cellwright.base.errors import did_you_mean, shown
from cellwright.runs.errors import RecipeError
from cellwright.runs.recipe_files import NoRecipeError, find_recipe, read_table
from cellwright.runs.recipes import Recipe, load_recipe
from cellwright.tasks.registry import task_kind
from cellwright.tasks.sentences.glue_score import GLUE

LABEL = r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,59}$"
"""A label names a folder; without a dot it is the name of no file that is beside it."""

MOST_TASKS = 100

Name = Annotated[str, Field(min_length=1, max_length=200)]


def _listed(value: Any) -> Any:
    """What a file says as a list."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"should be a list, not {shown(value)}")
    return tuple(value)


class SuiteTask(BaseModel):
    """A task of a suite."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    label: str = Field(pattern=LABEL, description="what people call it; names its folder")
    recipe: Name = Field(description="how cells are trained on it, by name or file")
    data: Name | None = Field(None, description="data by name or folder, unless the recipe's")
    figures: Annotated[tuple[Name, ...], BeforeValidator(_listed)] = Field(
        (),
        description="by whose mean it counts, as accuracy and F1 do; unless said, the task's "
        "metric alone",
    )


class Suite(BaseModel):
    """Tasks that are trained one after another."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str = ""
    title: str = Field("", max_length=200, description="what it is, for people")
    tasks: Annotated[tuple[SuiteTask, ...], BeforeValidator(_listed)] = Field(
        min_length=1, max_length=MOST_TASKS
    )
    folder: Path | None = Field(None, exclude=True)
    """Of its file, if it has one."""

    @field_validator("tasks")
    @classmethod
    def _told_apart(cls, tasks: tuple[SuiteTask, ...]) -> tuple[SuiteTask, ...]:
        # File systems that do not tell capitals apart would mix up two folders.
        labels = [task.label.lower() for task in tasks]
        for task in tasks:
            if labels.count(task.label.lower()) > 1:
                raise ValueError(f"two tasks have the label {task.label!r}")
        return tasks

    @property
    def labels(self) -> tuple[str, ...]:
        """Of its tasks."""
        return tuple(task.label for task in self.tasks)


# -- those that come with cellwright -------------------------------------------------------------

_GLUE: dict[str, tuple[str, ...]] = {
    task: () if task == "mnli" or len(names) == 1 else names for task, names in GLUE.items()
}
"""The tasks of GLUE, and the figures by whose mean each counts in GLUE's average, where they are
several; MNLI by its matched part alone, since a training measures one test set."""

_PAIRS: dict[str, tuple[str, ...]] = {"sick-r": (), "mrpc": (), "sts-b": ()}
"""The tasks on which ENAS for sentence pairs compares."""


def _packaged(
    name: str, title: str, recipe: str, tasks: dict[str, tuple[str, ...]]
) -> tuple[str, Suite]:
    found = [
        {"label": label, "recipe": recipe.format(label), "figures": figures}
        for label, figures in tasks.items()
    ]
    return name, Suite.model_validate({"name": name, "title": title, "tasks": found})


def on_glue(name: str, title: str, recipe: str) -> Suite:
    """GLUE's tasks with other recipes; `{}` in their names stands for the task's label."""
    return _packaged(name, title, recipe, _GLUE)[1]


SUITES = dict((
    _packaged("glue", "GLUE", "glue-{}", _GLUE),
    _packaged("glue-laptop", "GLUE, with short trainings", "glue-{}-laptop", _GLUE),
    _packaged("sentence-pairs", "Sentence pairs", "blm-{}", _PAIRS),
    _packaged(
        "sentence-pairs-laptop", "Sentence pairs, with short trainings", "blm-{}-laptop", _PAIRS
    ),
))  # fmt: skip
"""The suites that come with cellwright: with the papers' recipes, and with those for laptops."""


# -- from files ----------------------------------------------------------------------------------


def find_suite(name_or_path: str | Path) -> Suite:
    """A suite by its name, or from a TOML file.

    >>> find_suite("glue").labels[:3]
    ('cola', 'sst-2', 'mrpc')

    Raises:
        RecipeError: there is none, or something in its file is wrong.
    """
    text = str(name_or_path)
    if text in SUITES:
        return SUITES[text]
    path = Path(text).expanduser()
    try:
        table = read_table(path, text)
    except NoRecipeError:
        hint = did_you_mean(text, SUITES) or f"; there are {', '.join(SUITES)}"
        raise RecipeError(
            f"unknown suite {shown(text)}{hint} (and there is no file of that name)"
        ) from None
    except ValueError as error:
        if "\0" in text:
            raise RecipeError(f"{text!r} is not a file name") from None
        raise error
    if "folder" in table:
        raise RecipeError(f"{text}: unknown key 'folder'; a suite has name, title, tasks")
    values = {"name": path.stem, **table, "folder": path.absolute().parent}
    try:
        return Suite.model_validate(values)
    except ValidationError as error:
        raise RecipeError(f"{text}: {_problem(error)}") from None


def _problem(error: ValidationError) -> str:
    """The first thing that is wrong, for people."""
    first = error.errors(include_url=False)[0]
    path = first["loc"]
    within = len(path) > 1 and isinstance(path[1], int)
    where = f"task {int(path[1]) + 1}: " if within else ""
    key = str(path[2] if within and len(path) > 2 else path[0])
    fields = [*SuiteTask.model_fields] if within else ["name", "title", "tasks"]
    what = "a task" if within else "a suite"
    if first["type"] == "extra_forbidden":
        hint = did_you_mean(key, fields) or f"; {what} has {', '.join(fields)}"
        return f"{where}unknown key {key!r}{hint}"
    if first["type"] == "missing" or (first["type"], key) == ("too_short", "tasks"):
        said = ", as [[tasks]] with a label and a recipe" if key == "tasks" else ""
        return f"{where}{key} is missing{said}"
    if first["type"] == "string_pattern_mismatch":
        return f"{where}a label has letters, digits, _ and -, 60 at most, not {_shown(first)}"
    if first["type"].startswith("model"):
        return f"{where}should be a table, written [[tasks]], not {_shown(first)}"
    message = str(first["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    named = "" if message.startswith("two tasks") else f"{key} "
    return f"{where}{named}{message[:1].lower()}{message[1:]}"


def _shown(found: Any) -> str:
    return shown(found["input"])


def recipe_of(suite: Suite, task: SuiteTask, overrides: Sequence[str] = ()) -> Recipe:
    """How cells are trained on a task, with settings that go before the recipe's.

    Raises:
        RecipeError: there is no such recipe, or something in it is wrong.
    """
    path = find_recipe(task.recipe, suite.folder, Recipe.folder)
    recipe = load_recipe(task.recipe if path is None else path, overrides)
    return recipe.on(_data(suite, task, recipe))


def _data(suite: Suite, task: SuiteTask, recipe: Recipe) -> str | None:
    """The data that a task names; a folder may be beside the suite's file."""
    if task.data is None or suite.folder is None:
        return task.data
    if task.data in task_kind(recipe.task.kind).names or "\0" in task.data:
        return task.data
    beside = suite.folder / Path(task.data).expanduser()
    return str(beside) if beside.is_dir() else task.data
