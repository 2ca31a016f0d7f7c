"""What trained language models make of texts, word by word; and what others make of other data."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from cellwright.base.progress import Progress
from cellwright.data import Corpus, Vocabulary, load
from cellwright.runs.errors import RunError
from cellwright.runs.recipes import opened
from cellwright.runs.trained import Trained
from cellwright.tasks.language.measuring import Measured, segment_losses
from cellwright.tasks.language.task import LanguageTask, segments_of
from cellwright.tasks.language.words import WordLosses, word_losses
from cellwright.tasks.registry import open_task
from cellwright.tasks.task import Part, Score

if TYPE_CHECKING:
    from cellwright.models.language_model import LanguageModel

Watch = Callable[[int, int], None]
"""Called with how many words are measured, and how many there are."""


@dataclass(frozen=True)
class Text:
    """A text in a model's vocabulary; `unknown` of its words had to become `<unk>`."""

    corpus: Corpus
    part: str
    tokens: NDArray[np.int32]
    unknown: int


@dataclass(frozen=True)
class Evaluation:
    """What a model made of a text."""

    trained: Trained
    text: Text
    words: WordLosses
    batch: int
    seconds: float


def language_task(trained: Trained) -> LanguageTask:
    """The task of a language model.

    Raises:
        RunError: the run is of another task.
    """
    if not isinstance(trained.task, LanguageTask):
        kind = trained.folder.info.recipe.task.kind
        raise RunError(
            f"{trained.folder.path} has learned the task {kind!r}, and this is for language models"
        )
    return trained.task


def vocabulary_of(trained: Trained) -> Vocabulary:
    """The words that a language model knows."""
    return language_task(trained).corpus.vocabulary


def text_for(
    trained: Trained, part: str, data: str | None = None, progress: Progress | None = None
) -> Text:
    """A part of the run's own corpus, or of another one, in the words of the run's model.

    Words of another corpus that the model does not know become `<unk>`, and are counted, as are
    those that the corpus itself does not have in its training text.
    """
    own = language_task(trained).corpus
    if data is None:
        trained.check_data()
    corpus = own if data is None else load(data, progress=progress)
    tokens: NDArray[np.int32] = getattr(corpus, part)
    if corpus.vocabulary.tokens == own.vocabulary.tokens:
        return Text(corpus, part, tokens, corpus.unknown[part])
    numbers = own.vocabulary.encode(corpus.vocabulary.tokens)
    known = np.fromiter((word in own.vocabulary for word in corpus.vocabulary), bool)
    unknown = int((~known)[tokens].sum()) + corpus.unknown[part]
    return Text(corpus, part, numbers[tokens], unknown)


def score_on(trained: Trained, part: Part, data: str, progress: Progress | None = None) -> Score:
    """What a model is worth on other data, or on its own at another place.

    Raises:
        RunError: it is other data, and no language model: words and labels of other data may have
            other numbers than in the weights.
    """
    info = trained.folder.info
    there = open_task(opened(info.recipe).on(data).task, progress)
    if there.fingerprint == info.data.fingerprint:
        return trained.score(part)
    if not isinstance(trained.task, LanguageTask):
        raise RunError(
            f"{data} is other data than {trained.folder.path} was trained on, which only language "
            "models can be evaluated on"
        )
    return Score(evaluate(trained, text_for(trained, part, data, progress)).words.mean)


def evaluate(
    trained: Trained, text: Text, batch: int | None = None, watch: Watch | None = None
) -> Evaluation:
    """Measure the model on a text as training does after each epoch.

    Args:
        trained: the model.
        text: the text.
        batch: texts that are read side by side; as the recipe has it, unless said. The first word
            of each is not predicted.
        watch: called as it goes on.
    """
    settings = trained.folder.info.recipe.training
    batch = settings.evaluation_batch if batch is None else batch
    batches = segments_of(text.tokens, batch, language_task(trained).settings.bptt)
    started = time.perf_counter()
    parts: Iterable[Measured] = segment_losses(cast("LanguageModel", trained.model), batches)
    if watch is not None:
        parts = _watched(parts, watch, sum(each.size for each in batches))
    words = word_losses(parts, vocabulary_of(trained))
    return Evaluation(trained, text, words, batch, time.perf_counter() - started)


def check_same_words(first: Trained, second: Trained) -> None:
    """Say so if two models cannot be compared, since their words are not the same."""
    one, other = language_task(first).corpus, language_task(second).corpus
    if one.vocabulary.tokens != other.vocabulary.tokens:
        raise RunError(
            f"{first.folder.path} and {second.folder.path} have different vocabularies, of "
            f"{len(one.vocabulary):,} words ({one.name}) and of "
            f"{len(other.vocabulary):,} ({other.name}); only models of the same words can "
            "be compared"
        )


def _watched(parts: Iterable[Measured], watch: Watch, total: int) -> Iterator[Measured]:
    done = 0
    for part in parts:
        yield part
        done += part.words.size
        watch(done, total)
