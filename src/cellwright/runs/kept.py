"""What a run keeps of its data, so that its folder is enough to use what was trained, anywhere.

The task says what that is: of a language model it is the vocabulary, without which nobody knows
which word a row of the weights is. `run.json` has the hashes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from cellwright.base.errors import UserError, refused
from cellwright.base.files import write_whole
from cellwright.base.locks import training_lock
from cellwright.base.regular_files import read_regular
from cellwright.runs.errors import RunError
from cellwright.runs.folder import CELL, RECIPE, RunFolder
from cellwright.runs.recipes import opened
from cellwright.runs.work_folder import RESULT
from cellwright.tasks.registry import TaskError, task_kind
from cellwright.tasks.settings import TaskSettings
from cellwright.tasks.task import Task

_PLAIN = re.compile(r"[a-z][a-z0-9_-]*\.(txt|json|safetensors)")
_OURS = (CELL, RECIPE, RESULT, RunFolder.info_name, "best.safetensors", "last.safetensors")


def files_to_keep(task: Task[Any], settings: TaskSettings) -> dict[str, bytes]:
    """The files that a run of a task keeps; none for tasks that need none, or have not said."""
    kept = task_kind(settings.kind).kept
    files = {} if kept is None else dict(kept.take(task))
    for name in files:
        if not _PLAIN.fullmatch(name) or name in _OURS:
            raise TaskError(f"the task {settings.kind!r} keeps a file {name!r}, which is no name")
    return files


def hashes(files: Mapping[str, bytes]) -> dict[str, str]:
    """By which damage is noticed."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def keep_now(folder: RunFolder, task: Task[Any]) -> None:
    """Make up for what a run lacks that an earlier version began."""
    files = files_to_keep(task, folder.info.recipe.task)
    if folder.info.data.kept or not files:
        return
    with training_lock(folder.path):
        folder.refresh()
        for name, data in files.items():
            write_whole(folder.path / name, data)
        about = folder.info.data.model_copy(update={"kept": hashes(files)})
        folder.rewrite(folder.info.model_copy(update={"data": about}))


def restored_task(folder: RunFolder) -> Task[Any] | None:
    """The run's task without its data, from what the run has kept; None if that is nothing.

    Raises:
        RunError: a file is missing, or is not what it was.
    """
    settings, wanted = opened(folder.info.recipe).task, folder.info.data.kept
    kept = task_kind(settings.kind).kept
    if kept is None or not wanted:
        return None
    files = {name: _read(folder, name, digest) for name, digest in wanted.items()}
    try:
        return kept.restore(settings, files)
    except (UserError, ValueError, KeyError) as error:
        names = ", ".join(files)
        raise RunError(f"{folder.path}: {names} cannot be used: {error}") from None


def _read(folder: RunFolder, name: str, digest: str) -> bytes:
    path = folder.path / name
    if not _PLAIN.fullmatch(name):
        raise RunError(f"{folder.path / folder.info_name} names a file {name!r}, which is no name")
    try:
        data = read_regular(path)
    except OSError as error:
        raise refused("read", path, error) from None
    if hashlib.sha256(data).hexdigest() != digest:
        raise RunError(f"{path} is not what the run has kept: it is damaged, or was changed")
    return data
