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

WORDS, CHARACTERS, TAGS = "words.txt", "characters.txt", "tags.json"
"""What a run keeps of its data: words and characters with their counts, and what tags there are."""

EMBEDDINGS = "embeddings.json"
"""Hashes of the frozen models that words became features by, if there are any."""

LAPTOP = "tagging-laptop"
"""The recipe that needs nothing but the data."""

WITH_VECTORS = {
    "conll2003": "ner-conll2003-laptop",
    "wnut17": "ner-wnut17-laptop",
    "conll2000": "chunks-conll2000-laptop",
}
"""Recipes with pretrained vectors, for the data that they were made for."""

VECTORS = ("glove-100d", "glove-50d")
"""The vectors that these need."""

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
        first=LAPTOP,
        suggest=_suggest,
        kept=Kept(_kept, _restored),
        errors=_errors,
        against=_against,
    )


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
    from cellwright.embeddings.errors import EmbeddingError
    from cellwright.embeddings.vector_names import find_vectors

    try:
        for vectors in VECTORS:
            find_vectors(vectors)
    except EmbeddingError:
        return LAPTOP
    return WITH_VECTORS.get(task.settings.data, LAPTOP)


def _kept(task: TaggingTask) -> dict[str, bytes]:
    from cellwright.data.vocabulary import to_text

    data = task.data
    tags = {"scheme": data.tags.scheme, "types": list(data.tags.types)}
    files = {
        WORDS: to_text(data.vocabulary.tokens, data.vocabulary.counts.tolist()),
        CHARACTERS: to_text(data.characters.tokens, data.characters.counts.tolist()),
        TAGS: json.dumps(tags, ensure_ascii=False).encode() + b"\n",
    }
    if task.identities:
        files[EMBEDDINGS] = json.dumps(task.identities).encode() + b"\n"
    return files


def _restored(settings: TaggingSettings, files: Mapping[str, bytes]) -> TaggingTask:
    from cellwright.data.tagged.schemes import SCHEMES, TagSet
    from cellwright.data.tagged.tagged import without_sentences
    from cellwright.data.vocabulary import from_rows
    from cellwright.tasks.tagging.task import TaggingTask

    tags = json.loads(files[TAGS])
    if not (
        isinstance(tags, dict)
        and tags.get("scheme") in SCHEMES
        and isinstance(types := tags.get("types"), list)
        and all(isinstance(each, str) for each in types)
    ):
        raise ValueError(f"{TAGS} has no scheme and types of tags")
    words, characters = from_rows(files[WORDS]), from_rows(files[CHARACTERS])
    name = Path(settings.data).name
    data = without_sentences(name, words, characters, TagSet(tags["scheme"], tuple(types)))
    task = TaggingTask(data, settings)
    _check_models(task, json.loads(files.get(EMBEDDINGS, b"{}")))
    return task


def _check_models(task: TaggingTask, kept: object) -> None:
    """Frozen models have to be those of the training: weights mean nothing with other features."""
    if not isinstance(kept, dict):
        raise ValueError(f"{EMBEDDINGS} has no hashes")
    for name, identity in task.identities.items():
        if kept.get(name, identity) != identity:
            number, _, kind = name.partition("-")
            raise ValueError(
                f"embedding {int(number) + 1} ({kind}) is not what the run was trained with"
            )


def _errors(subject: Subject, top: int) -> Details:
    from cellwright.tasks.tagging.looks import errors_of

    return errors_of(subject, top)


def _against(subject: Subject, other: Subject, top: int) -> Details:
    from cellwright.tasks.tagging.looks import compared

    return compared(subject, other, top)
