"""Tasks by name: those that come with cellwright, and those of plug-ins.

A plug-in's task is named as `module:function`. The function takes no arguments and gives the
`TaskKind`; its module must be importable wherever the task runs.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from cellwright.base.errors import UserError, did_you_mean, shown
from cellwright.base.paths import from_anywhere
from cellwright.base.progress import Progress
from cellwright.base.validation import first_problem
from cellwright.tasks.settings import TaskSettings

if TYPE_CHECKING:
    from cellwright.tasks.metric import Metric
    from cellwright.tasks.task import Task


class TaskError(UserError):
    """A task cannot be found, or is not one. The message says what would be right."""


@dataclass(frozen=True, eq=False)
class TaskKind:
    """A kind of task.

    Args:
        name: as recipes say it.
        settings: of the table `[task]`, a subclass of `TaskSettings`.
        model_settings: of the table `[model]`: a pydantic model, or a union of such models that are
            told apart by their `kind`.
        metric: of its tasks, unless a task says another one.
        open: makes the task from its settings; it may call a `Progress` while it reads.
        names: data that the kind knows by name; all other data is a file or a folder.
        suggest: names the packaged recipe that trains a task in minutes, for users who name none;
            None if there are no such recipes for the kind.
    """

    name: str
    settings: type[TaskSettings]
    model_settings: Any
    metric: Metric
    open: Callable[[Any, Progress | None], Task[Any]]
    names: Collection[str] = ()
    suggest: Callable[[Any], str] | None = None


BUILT_IN = {"language": "cellwright.tasks.language.kind:language_kind"}
"""The tasks that come with cellwright."""


def is_built_in(name: str) -> bool:
    """Whether a task comes with cellwright, so that finding it runs nobody else's code."""
    return name in BUILT_IN


@functools.lru_cache(maxsize=64)
def task_kind(name: str) -> TaskKind:
    """The kind of that name.

    >>> task_kind("language").name
    'language'

    Raises:
        TaskError: there is none, or a plug-in's function gives something else.
    """
    where = BUILT_IN.get(name, name)
    module, colon, function = where.partition(":")
    if not colon or not all(word.isidentifier() for word in (*module.split("."), function)):
        hint = did_you_mean(name, BUILT_IN) or f"; there are {', '.join(BUILT_IN)}"
        raise TaskError(f"unknown task {shown(name)}{hint} (a plug-in's is named module:function)")
    try:
        made = getattr(importlib.import_module(module), function)()
    except Exception as error:  # a plug-in may fail in every way
        why = f"{type(error).__name__}: {error}"
        raise TaskError(f"the task {shown(name)} cannot be had: {why}") from error
    if not isinstance(made, TaskKind):
        raise TaskError(f"{where} gives {shown(made)}, and should give a TaskKind")
    return made


def placed(settings: TaskSettings, data: str) -> str:
    """Data by name, or the path of its folder in a form that holds in any working directory.

    What is neither stays as it is, so that whoever opens it tells what the user wrote.
    """
    path = from_anywhere(data)
    known = data in task_kind(settings.kind).names
    return data if known or not os.path.exists(path) else str(path)  # `Path.exists` may raise


def open_task(settings: TaskSettings, progress: Progress | None = None) -> Task[Any]:
    """The task that a recipe's `[task]` describes, with its data at hand.

    Raises:
        TaskError: there is no such task, or its settings are others.
        UserError: the data is not there, or is not what it should be.
    """
    kind = task_kind(settings.kind)
    if not isinstance(settings, kind.settings):
        try:
            settings = kind.settings.model_validate(settings.model_dump())
        except ValidationError as error:
            raise TaskError(f"the task {kind.name}: {first_problem(error)}") from None
    return kind.open(settings, progress)
