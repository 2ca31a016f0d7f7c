"""Small texts and short searches over them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellwright.data import Corpus, Vocabulary
from cellwright.search.gradient.settings import DifferentiableSettings

WORDS = 7
NO_DROPOUT = {
    "dropout_output": 0.0,
    "dropout_x": 0.0,
    "dropout_hidden": 0.0,
    "dropout_embedding": 0.0,
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


def small_settings(**changes: Any) -> DifferentiableSettings:
    """Two epochs of four or five steps, with every dropout at work."""
    model = {"hidden": 6, "dropout_output": 0.3, "dropout_x": 0.2, **changes.pop("model", {})}
    values = {
        "nodes": 2,
        "m": 2,
        "epochs": 2,
        "batch": 4,
        "evaluation_batch": 2,
        "bptt": 8,
        "bptt_spread": 1.0,
        "bptt_shortest": 3,
        "learning_rate": 0.5,
        "model": model,
    }
    return DifferentiableSettings.model_validate({**values, **changes})
