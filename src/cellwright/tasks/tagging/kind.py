"""The kind of task that tagging is. Needs no torch until a task is opened."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cellwright.base.progress import Progress
from cellwright.data.registry import TAGGED
from cellwright.models.settings import TaggerSettings
from cellwright.tasks.details import Details, Subject
from cellwright.tasks.registry import Kept, TaskKind
from cellwright.tasks.tagging.metric import F1
from cellwright.tasks.tagging.settings import TaggingSettings

TAGS = "tags.json"
"""What a run keeps of its data beside words: what tags there are."""

LAPTOP = "tagging-laptop"
"""The recipe that needs nothing but the data."""

WITH_VECTORS = {
    "conll2003": "ner-conll2003-laptop",
    "wnut17": "ner-wnut17-laptop",
    "conll2000": "chunks-conll2000-laptop",
}
"""Recipes with pretrained vectors, for the data that they were made for."""

if TYPE_CHECKING:
    from cellwright.tasks.tagging.task import TaggingTask


def tagging_kind() -> TaskKind:
    """For the registry."""
    return TaskKind(
        name="tagging",
        settings=TaggingSettings,
        model_settings=TaggerSettings,
        metric=F1,
        open=_open,
        names=TAGGED,
        looks=_looks,
        first=LAPTOP,
        suggest=_suggest,
        kept=Kept(_kept, _restored),
        errors=_errors,
        against=_against,
    )


def _looks(data: str) -> bool:
    from cellwright.data.tagged.files import looks_tagged

    return looks_tagged(data)


def _open(settings: TaggingSettings, progress: Progress | None) -> TaggingTask:
    from cellwright.data.tagged import load
    from cellwright.tasks.tagging.task import TaggingTask

    read = settings.model_dump(exclude={"kind", "data", "embeddings", "validate_on"})
    data = load(settings.data, progress=progress, **read)
    if settings.validate_on == "test":
        data = dataclasses.replace(data, valid=data.test)
    return TaggingTask(data, settings, progress)


def _suggest(task: TaggingTask) -> str:
    """The recipe with pretrained vectors, where they are on this machine."""
    from cellwright.tasks.words.vectors_here import suggested

    return suggested(task.settings.data, WITH_VECTORS, LAPTOP)


def _kept(task: TaggingTask) -> dict[str, bytes]:
    from cellwright.tasks.words.kept import kept_words

    data = task.data
    tags = {"scheme": data.tags.scheme, "types": list(data.tags.types)}
    return {
        **kept_words(data.vocabulary, data.characters, task.words),
        TAGS: json.dumps(tags, ensure_ascii=False).encode() + b"\n",
    }


def _restored(settings: TaggingSettings, files: Mapping[str, bytes]) -> TaggingTask:
    from cellwright.data.tagged.schemes import SCHEMES, TagSet
    from cellwright.data.tagged.tagged import without_sentences
    from cellwright.tasks.tagging.task import TaggingTask
    from cellwright.tasks.words.kept import check_models, restored_words

    tags = json.loads(files[TAGS])
    if not (
        isinstance(tags, dict)
        and tags.get("scheme") in SCHEMES
        and isinstance(types := tags.get("types"), list)
        and all(isinstance(each, str) for each in types)
    ):
        raise ValueError(f"{TAGS} has no scheme and types of tags")
    words, characters = restored_words(files)
    name = Path(settings.data).name
    data = without_sentences(name, words, characters, TagSet(tags["scheme"], tuple(types)))
    task = TaggingTask(data, settings)
    check_models(task.words, files)
    return task


def _errors(subject: Subject, top: int) -> Details:
    from cellwright.tasks.tagging.looks import errors_of

    return errors_of(subject, top)


def _against(subject: Subject, other: Subject, top: int) -> Details:
    from cellwright.tasks.tagging.looks import compared

    return compared(subject, other, top)
