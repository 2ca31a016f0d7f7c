"""The kind of task that language modelling is. Needs no torch until a task is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cellwright.base.progress import Progress
from cellwright.data import KNOWN
from cellwright.models.settings import ModelSettings
from cellwright.tasks.language.laptop import laptop_recipe
from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.tasks.language.settings import LanguageSettings
from cellwright.tasks.registry import TaskKind

if TYPE_CHECKING:
    from cellwright.tasks.language.task import LanguageTask


def language_kind() -> TaskKind:
    """For the registry."""
    return TaskKind(
        name="language",
        settings=LanguageSettings,
        model_settings=ModelSettings,
        metric=PERPLEXITY,
        open=_open,
        names=KNOWN,
        suggest=_suggest,
    )


def _open(settings: LanguageSettings, progress: Progress | None) -> LanguageTask:
    from cellwright.data import load
    from cellwright.tasks.language.task import LanguageTask

    corpus = load(settings.data, folder=settings.folder, progress=progress)
    return LanguageTask(corpus, settings)


def _suggest(task: LanguageTask) -> str:
    return laptop_recipe(len(task.corpus.train))
