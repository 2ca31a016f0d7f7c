"""Trained models: the best weights of a run, and what they make of a text."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cellwright.base.progress import Progress
from cellwright.data import Corpus, Vocabulary, batchify, load
from cellwright.data.fingerprint import fingerprint
from cellwright.models import LanguageModel, build_language_model
from cellwright.runs.errors import RunError
from cellwright.runs.folder import BEST, RUNS, RunFolder
from cellwright.runs.run import corpus_of
from cellwright.tasks.language.measuring import Measured, segment_losses
from cellwright.tasks.language.words import WordLosses, word_losses

Watch = Callable[[int, int], None]
"""Called with how many words are measured, and how many there are."""


@dataclass(frozen=True)
class Trained:
    """A run's model with its best weights, and the corpus that it was trained on."""

    folder: RunFolder
    model: LanguageModel
    corpus: Corpus
    epoch: int

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that the model knows."""
        return self.corpus.vocabulary


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


def load_trained(
    path: Path | str,
    *,
    runs: Path = RUNS,
    data: str | None = None,
    progress: Progress | None = None,
) -> Trained:
    """A run's model with the weights of its best epoch.

    Args:
        path: the run's folder, or its name in `runs`.
        runs: where runs are.
        data: where the text of the run may be found too, if it has moved.
        progress: called while text is read for the first time.

    Raises:
        RunError: it is not a run, has no weights yet, or its text is not what it was: the numbers
            of the words in its weights would be others.
    """
    folder = RunFolder.open(path, runs)
    checkpoint, cell, info = folder.best(), folder.cell(), folder.info
    if checkpoint is None:
        raise RunError(
            f"{folder.path} has no weights yet, since no epoch has ended"
            + ("" if folder.state == "diverged" else f"; it is {folder.state}")
        )
    corpus = _own_corpus(folder, data, progress)
    model = build_language_model(info.recipe.model, cell, len(corpus.vocabulary), info.backend)
    try:
        model.load_state_dict(dict(checkpoint.tensors))
        epoch = int(checkpoint.state["epoch"])
    except (KeyError, RuntimeError) as error:
        first = str(error).splitlines()[0]
        raise RunError(f"{folder.path / BEST} does not fit the run: {first}") from None
    return Trained(folder, model, corpus, epoch)


def text_for(
    trained: Trained, part: str, data: str | None = None, progress: Progress | None = None
) -> Text:
    """A part of the run's own corpus, or of another one, in the words of the run's model.

    Words of another corpus that the model does not know become `<unk>`, and are counted, as are
    those that the corpus itself does not have in its training text.
    """
    own = trained.corpus
    corpus = own if data is None else load(data, progress=progress)
    tokens: NDArray[np.int32] = getattr(corpus, part)
    if corpus.vocabulary.tokens == own.vocabulary.tokens:
        return Text(corpus, part, tokens, corpus.unknown[part])
    numbers = own.vocabulary.encode(corpus.vocabulary.tokens)
    known = np.fromiter((word in own.vocabulary for word in corpus.vocabulary), bool)
    unknown = int((~known)[tokens].sum()) + corpus.unknown[part]
    return Text(corpus, part, numbers[tokens], unknown)


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
    columns = batchify(text.tokens, batch)
    started = time.perf_counter()
    parts: Iterable[Measured] = segment_losses(trained.model, columns, settings.bptt)
    if watch is not None:
        parts = _watched(parts, watch, columns[1:].size)
    words = word_losses(parts, trained.vocabulary)
    return Evaluation(trained, text, words, batch, time.perf_counter() - started)


def check_same_words(first: Trained, second: Trained) -> None:
    """Say so if two models cannot be compared, since their words are not the same."""
    if first.vocabulary.tokens != second.vocabulary.tokens:
        raise RunError(
            f"{first.folder.path} and {second.folder.path} have different vocabularies, of "
            f"{len(first.vocabulary):,} words ({first.corpus.name}) and of "
            f"{len(second.vocabulary):,} ({second.corpus.name}); only models of the same words can "
            "be compared"
        )


def _watched(parts: Iterable[Measured], watch: Watch, total: int) -> Iterator[Measured]:
    done = 0
    for part in parts:
        yield part
        done += part.words.size
        watch(done, total)


def _own_corpus(folder: RunFolder, data: str | None, progress: Progress | None) -> Corpus:
    """The run's corpus: where it was, or at `data`."""
    if data is not None:
        there = load(data, progress=progress)
        if fingerprint(there) == folder.info.data.fingerprint:
            return there
    return corpus_of(folder, progress)
