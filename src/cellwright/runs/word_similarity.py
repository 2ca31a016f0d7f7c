"""Word similarity of trained runs (NAS-Bench-NLP, section 4.2): their embeddings, and baselines.

Only the embeddings are looked at, the first layer of the model, which are the decoder's too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from cellwright.data import Corpus
from cellwright.data.word_pairs import WordPairs
from cellwright.runs.curves import curve_of
from cellwright.runs.errors import RunError
from cellwright.runs.texts import language_task, vocabulary_of
from cellwright.runs.trained import Trained
from cellwright.tasks.language.similarity import (
    LEAST_PAIRS,
    Similarity,
    WordVectors,
    compare,
    embedding_vectors,
)
from cellwright.tasks.language.skip_gram import SkipGramSettings, skip_gram
from cellwright.training.results import best_of

if TYPE_CHECKING:
    from cellwright.models.language_model import LanguageModel

Watch = Callable[[str, int, int], None]
"""Called with what is being trained, how many words are read, and how many there are."""


@dataclass(frozen=True)
class Model:
    """What is known of a model beside its vectors; a baseline has no run, cell or losses.

    `valid` and `test` are the losses of the epoch whose weights these are.
    """

    name: str
    corpus: str
    dimensions: int
    words: int
    run: str | None = None
    cell: str | None = None
    epoch: int | None = None
    valid: float = math.nan
    test: float = math.nan


@dataclass(frozen=True)
class Row:
    """A model, and what came of it on each set."""

    model: Model
    found: tuple[Similarity, ...]


def similarities(
    runs: Iterable[Trained],
    sets: Sequence[WordPairs],
    sgns: SkipGramSettings | None = None,
    watch: Watch | None = None,
) -> list[Row]:
    """All runs on all sets of pairs, and below them their baselines.

    Runs are taken one by one, and only vectors that the sets ask for are kept.

    Args:
        runs: what to measure.
        sets: the pairs.
        sgns: how to train baselines: one for each text and width that the runs have. None for no
            baselines.
        watch: called while baselines are trained.

    Raises:
        RunError: no set has enough pairs that all models have.
    """
    models: list[Model] = []
    vectors: list[WordVectors] = []
    texts: dict[tuple[str, int], Corpus] = {}
    for trained in runs:
        embedding = embedding_of(trained)
        models.append(described(trained))
        vectors.append(_needed(embedding, sets))
        if sgns is not None:
            trained.check_data()  # which a baseline is trained on
        texts.setdefault((trained.folder.info.data.fingerprint, embedding.dimensions),
                         language_task(trained).corpus)  # fmt: skip
    for (_, width), corpus in texts.items() if sgns is not None else ():
        what = f"SGNS on {corpus.name}, {width} wide"
        found = skip_gram(corpus, width, sgns, watch and partial(watch, what))
        models.append(Model("SGNS", corpus.name, width, len(found.words)))
        vectors.append(_needed(found, sets))
    columns = [compare(vectors, pairs) for pairs in sets]
    _check_enough(columns, sets, models)
    rows = zip(models, zip(*columns, strict=True), strict=True)
    return [Row(model, tuple(found)) for model, found in rows]


def embedding_of(trained: Trained) -> WordVectors:
    """The word vectors of a language model."""
    model = cast("LanguageModel", trained.model)
    return embedding_vectors(trained.folder.path.name, vocabulary_of(trained), model)


def described(trained: Trained) -> Model:
    """What is known of a language model.

    Raises:
        RunError: the run is of another task.
    """
    embedding = embedding_of(trained)
    folder, info = trained.folder, trained.folder.info
    best = best_of(curve_of(folder))
    return Model(
        folder.path.absolute().name,
        language_task(trained).corpus.name,
        embedding.dimensions,
        len(embedding.words),
        str(folder.path),
        info.cell.name or info.cell.id,
        trained.epoch,
        math.nan if best is None else best.valid,
        math.nan if best is None else best.test,
    )


def _needed(vectors: WordVectors, sets: Sequence[WordPairs]) -> WordVectors:
    """The vectors of the words that are asked for, so that many models fit into memory."""
    asked = (word for pairs in sets for pair in pairs.words for word in pair)
    rows = np.unique(vectors.rows(asked))
    rows = rows[rows >= 0]
    return replace(
        vectors,
        words=tuple(vectors.words[row] for row in rows.tolist()),
        counts=vectors.counts[rows],
        vectors=vectors.vectors[rows],
    )


def _check_enough(
    columns: Sequence[Sequence[Similarity]], sets: Sequence[WordPairs], models: Sequence[Model]
) -> None:
    if any(column[0].common.pairs >= LEAST_PAIRS for column in columns):
        return
    counts = ", ".join(
        f"{column[0].common.pairs} of {len(pairs):,} of {pairs.name}"
        for pairs, column in zip(sets, columns, strict=True)
    )
    who = "all models have" if len(models) > 1 else f"{models[0].name} has"
    raise RunError(
        f"there are too few pairs both of whose words {who} ({counts}); a correlation needs "
        f"{LEAST_PAIRS}, and says little below a hundred"
    )
