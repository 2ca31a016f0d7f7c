"""Any sentences side by side, in pairs: what is pooled is pooled over both sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from cellwright.data.vocabulary import Vocabulary
from cellwright.embeddings.pooled import WordMemory
from cellwright.embeddings.settings import FlairSettings
from cellwright.tasks.words.any_words import any_words
from cellwright.tasks.words.known_words import KnownWords
from tiny_models import tiny_flair

SENTENCES = [["ann", "left"], ["then", "ann", "came"], ["bob"], ["ann"]]


def test_words_of_a_pair_are_pooled_together(tmp_path: Path) -> None:
    vocabulary = Vocabulary(["ann", "left"], np.array([1, 1]))
    settings = [FlairSettings(models=tuple(tiny_flair(tmp_path)), pooling="min")]
    known = KnownWords(settings, vocabulary, vocabulary, per_example=2)
    [source] = known.sources
    states = torch.from_numpy(source.rows(SENTENCES))
    first, second = WordMemory(6, "min"), WordMemory(6, "min")
    expected = torch.cat(
        [
            first.with_pooled(["ann", "left", "then", "ann", "came"], states[:5]),
            second.with_pooled(["bob", "ann"], states[5:]),
        ]
    )
    batch = any_words(SENTENCES, vocabulary, known.sources, per_example=2)
    found = batch.features["0-flair"]
    assert batch.lengths.tolist() == [2, 1, 3, 1]
    assert torch.equal(found[:2, 0], expected[:2])
    assert torch.equal(found[:3, 2], expected[2:5])
    assert torch.equal(found[0, [1, 3]], expected[5:])
    assert torch.equal(found[0, 0, :6], found[1, 2, :6])
    assert not torch.equal(found[0, 0, :6], found[0, 3, :6])
