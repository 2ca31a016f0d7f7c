"""The kind of task that language modelling is. Needs no torch until a task is opened."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cellwright.base.progress import Progress
from cellwright.data import KNOWN
from cellwright.models.settings import ModelSettings
from cellwright.tasks.language.laptop import laptop_recipe
from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.tasks.language.settings import LanguageSettings
from cellwright.tasks.registry import Kept, TaskKind

VOCABULARY = "vocabulary.txt"
"""What a run keeps of its text: a word a line, in the order of their numbers, with its count."""

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
        first="laptop",
        suggest=_suggest,
        kept=Kept(_kept, _restored),
    )


def _open(settings: LanguageSettings, progress: Progress | None) -> LanguageTask:
    from cellwright.data import load
    from cellwright.data.word_pairs import load_pairs
    from cellwright.tasks.language.task import LanguageTask

    pairs = [load_pairs(name) for name in settings.similarity]
    corpus = load(settings.data, folder=settings.folder, progress=progress)
    return LanguageTask(corpus, settings, pairs)


def _suggest(task: LanguageTask) -> str:
    return laptop_recipe(len(task.corpus.train))


def _kept(task: LanguageTask) -> dict[str, bytes]:
    from cellwright.data.vocabulary import to_text

    words = task.corpus.vocabulary
    return {VOCABULARY: to_text(words.tokens, words.counts.tolist())}


def _restored(settings: LanguageSettings, files: Mapping[str, bytes]) -> LanguageTask:
    from cellwright.data.corpus import without_text
    from cellwright.data.vocabulary import from_text
    from cellwright.tasks.language.task import LanguageTask

    words = from_text(files[VOCABULARY])
    return LanguageTask(without_text(Path(settings.data).name, words), settings)
