"""Small texts and short searches over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellwright.base.bounds import KEPT
from cellwright.data import Corpus, Vocabulary
from cellwright.models import AwdSettings, OneLayerSettings
from cellwright.models.language_model import TextBatch
from cellwright.search.gradient.search import DifferentiableSearch
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.tasks.language.settings import LanguageSettings
from cellwright.tasks.language.task import LanguageTask
from cellwright.tasks.task import Part

WORDS = 7
NO_DROPOUT = {
    "dropout_output": 0.0,
    "dropout_x": 0.0,
    "dropout_hidden": 0.0,
    "dropout_embedding": 0.0,
    "dropout_words": 0.0,
    "tar": 0.0,
}


def corpus_of(train: NDArray[Any], valid: NDArray[Any], words: int) -> Corpus:
    """A corpus of the numbers of words."""
    train, valid = train.astype(np.int32), valid.astype(np.int32)
    names = [f"w{number}" for number in range(words)]
    vocabulary = Vocabulary(names, np.bincount(train, minlength=words))
    return Corpus("numbers", "memory", train, valid, valid, vocabulary, {}, {})


def small_corpus(length: int = 150) -> Corpus:
    """Words at random."""
    rng = np.random.default_rng(0)
    return corpus_of(rng.integers(WORDS, size=length), rng.integers(WORDS, size=70), WORDS)


def split(changes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What a test says in one go, as the settings of the task, the model and the search."""
    task = {name: value for name, value in changes.items() if name.startswith("bptt")}
    search = {n: value for n, value in changes.items() if n != "model" and n not in task}
    return task, dict(changes.get("model", {})), search


def small_task(corpus: Corpus | None = None, **changes: Any) -> LanguageTask:
    """Short segments."""
    values = {"bptt": 8, "bptt_spread": 1.0, "bptt_shortest": 3, **changes}
    settings = LanguageSettings.model_validate(values)
    return LanguageTask(small_corpus() if corpus is None else corpus, settings)


class Widening(LanguageTask):
    """More columns in each later epoch, so that what is carried has other sizes."""

    def batches(self, part: Part, size: int, seed: int, epoch: int) -> Sequence[TextBatch]:
        return super().batches(part, size + epoch, seed, epoch)


def small_model(**changes: Any) -> OneLayerSettings | AwdSettings:
    """Two layers of different widths where the kind is awd.

    Every dropout of the papers' searches is at work. They drop no words: the norm of a row that is
    zero but for rounding is nothing but rounding. Numbers may be such as nobody would choose.
    """
    if changes.get("kind") == "awd":
        return AwdSettings.model_validate({"embedding": 6, "hidden": 5, "layers": 2, **changes})
    values = {"hidden": 6, "dropout_output": 0.3, "dropout_x": 0.2, "dropout_words": 0.0, **changes}
    return OneLayerSettings.model_validate(values, context=KEPT)


def small_settings(**changes: Any) -> DifferentiableSettings:
    """Two epochs of four or five steps."""
    values = {
        "nodes": 2,
        "m": 2,
        "epochs": 2,
        "batch": 4,
        "evaluation_batch": 2,
        "learning_rate": 0.5,
    }
    return DifferentiableSettings.model_validate({**values, **changes}, context=KEPT)


def small_search(
    seed: int = 0, backend: str = "auto", corpus: Corpus | None = None, **changes: Any
) -> DifferentiableSearch:
    """A search by gradient, with these settings of task, model and search."""
    task, model, search = split(changes)
    return DifferentiableSearch(
        small_task(corpus, **task), small_model(**model), small_settings(**search), seed, backend
    )
