"""Tasks by name: those that come with cellwright, and those of plug-ins.

A plug-in's task is named as `module:function`. The function takes no arguments and gives the
`TaskKind`; its module must be importable wherever the task runs.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.base.errors import UserError, did_you_mean, shown
from cellwright.base.progress import Progress
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
        suggest: the packaged recipe that trains on so much data in minutes, for those who name
            none; given the task. None if the kind has no such recipes.
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
        raise TaskError(f"unknown task {shown(name)}{hint}, and module:function for a plug-in's")
    try:
        made = getattr(importlib.import_module(module), function)()
    except (ImportError, AttributeError, TypeError) as error:
        raise TaskError(f"the task {shown(name)} cannot be had: {error}") from None
    if not isinstance(made, TaskKind):
        raise TaskError(f"{where} gives {shown(made)}, and should give a TaskKind")
    return made


def placed(settings: TaskSettings, data: str) -> str:
    """Data by name, or the path of its folder in a form that holds in any working directory."""
    names = task_kind(settings.kind).names
    path = Path(data).expanduser()
    if data in names or (not names and not path.exists()):
        return data
    return str(path.absolute())


def open_task(settings: TaskSettings, progress: Progress | None = None) -> Task[Any]:
    """The task that a recipe's `[task]` describes, with its data at hand.

    Raises:
        UserError: the data is not there, or is not what it should be.
    """
    kind = task_kind(settings.kind)
    if not isinstance(settings, kind.settings):
        settings = kind.settings.model_validate(settings.model_dump())
    return kind.open(settings, progress)
