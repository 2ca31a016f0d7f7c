"""Tasks by name: those that come with cellwright, and those of plug-ins.

A plug-in's task is named as `module:function` or `path/to/file.py:function`. The function takes no
arguments and gives the `TaskKind`; its module or file must be there wherever the task runs.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from cellwright.base.errors import UserError, did_you_mean, shown
from cellwright.base.paths import from_anywhere
from cellwright.base.plugins import (
    HOW_NAMED,
    PluginError,
    as_place,
    at_line,
    described,
    load,
    quiet_stdout,
)
from cellwright.base.progress import Progress
from cellwright.base.validation import first_problem
from cellwright.tasks.settings import TaskSettings

if TYPE_CHECKING:
    from cellwright.tasks.details import Details, Subject
    from cellwright.tasks.metric import Metric
    from cellwright.tasks.task import Task


class TaskError(UserError):
    """A task cannot be found, or is not one. The message says what would be right."""


@dataclass(frozen=True)
class Kept:
    """What runs keep of the data, so that what was trained can be used without it.

    Small files in open formats, such as a vocabulary or a list of labels: all that is needed to
    build the model, and to read other data as the model does.

    Args:
        take: the files of a task, by plain names such as `vocabulary.txt`.
        restore: the task from its settings and these files; its parts are empty. Raises a
            `ValueError` if the files are not what they should be.
    """

    take: Callable[[Any], Mapping[str, bytes]]
    restore: Callable[[Any, Mapping[str, bytes]], Task[Any]]


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
        looks: whether a folder looks like data of the kind; None if that cannot be told.
        first: the packaged recipe that opens a task on any data, for users who name none.
        suggest: names the packaged recipe that trains a task in minutes, for the same users; None
            if there are no such recipes for the kind.
        kept: what runs keep of the data; without it a trained model needs its data to be loaded.
        errors: what a model gets wrong, with so many examples; None if the kind does not say.
        against: where a model is better than another, with so many examples; None likewise.
    """

    name: str
    settings: type[TaskSettings]
    model_settings: Any
    metric: Metric
    open: Callable[[Any, Progress | None], Task[Any]]
    names: Collection[str] = ()
    looks: Callable[[str], bool] | None = None
    first: str | None = None
    suggest: Callable[[Any], str] | None = None
    kept: Kept | None = None
    errors: Callable[[Subject, int], Details] | None = None
    against: Callable[[Subject, Subject, int], Details] | None = None


BUILT_IN = {
    "language": "cellwright.tasks.language.kind:language_kind",
    "tagging": "cellwright.tasks.tagging.kind:tagging_kind",
    "sentences": "cellwright.tasks.sentences.kind:sentences_kind",
}
"""The tasks that come with cellwright."""


def is_built_in(name: str) -> bool:
    """Whether a task comes with cellwright, so that finding it runs nobody else's code."""
    return name in BUILT_IN


def task_kind(name: str) -> TaskKind:
    """The kind of that name.

    >>> task_kind("language").name
    'language'

    Raises:
        TaskError: there is none, or a plug-in's function gives something else.
    """
    place = as_place(BUILT_IN.get(name, name))
    if place is None:
        hint = did_you_mean(name, BUILT_IN) or f"; there are {', '.join(BUILT_IN)}"
        raise TaskError(f"unknown task {shown(name)}{hint} ({HOW_NAMED})")
    try:
        function, source = load(place)
    except PluginError as error:
        raise TaskError(f"the task {shown(name, 200)} cannot be had: {error}") from error
    try:
        with quiet_stdout():
            made = _given(function)
    except Exception as error:  # a plug-in may fail in every way
        why = f"{described(error)}{at_line(error, source.file)}"
        raise TaskError(f"the task {shown(name, 200)} cannot be had: {why}") from error
    if not isinstance(made, TaskKind):
        raise TaskError(f"{source} gives {shown(made)}, and should give a TaskKind")
    return made


def kind_of_data(data: str | None) -> TaskKind | None:
    """The kind that comes with cellwright and knows data by name, or that a folder looks like.

    Those whose looks are narrowest stand last in the table, and are asked first: tables with a
    header and labels could have columns of words and tags as well.

    >>> kind_of_data("conll2003").name
    'tagging'
    """
    if data is None:
        return None
    kinds = [task_kind(name) for name in BUILT_IN]
    named = (kind for kind in kinds if data in kind.names)
    alike = (kind for kind in reversed(kinds) if kind.looks is not None and kind.looks(data))
    return next(named, None) or next(alike, None)


def file_hash(name: str) -> str | None:
    """The hash of the file that a task comes from; None for tasks that no file is named for.

    Raises:
        TaskError: the file cannot be had.
    """
    place = as_place(name)
    if place is None or not place.is_file:
        return None
    try:
        return load(place)[1].sha256
    except PluginError as error:
        raise TaskError(f"the task {shown(name, 200)} cannot be had: {error}") from error


@functools.lru_cache(maxsize=64)
def _given(function: Callable[[], object]) -> object:
    """What a plug-in's function gives: asked once, so that a kind is the same every time."""
    return function()


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
