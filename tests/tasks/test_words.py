"""Losses by word: sums by hand, classes of frequency, and two models compared."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.data import Vocabulary
from cellwright.tasks.language.measuring import Measured
from cellwright.tasks.language.words import (
    WordLosses,
    WordsError,
    by_frequency,
    costliest,
    differences,
    most_frequent,
    most_improved,
    word_losses,
)

VOCABULARY = Vocabulary(["the", "cat", "<eos>", "sat", "<unk>"], [1234, 9, 100, 10, 0])


def measured(words: list[list[int]], losses: list[list[float]]) -> Measured:
    return Measured(np.array(words, np.int64), np.array(losses, np.float64))


def made(counts: list[int], losses: list[float]) -> WordLosses:
    return WordLosses(VOCABULARY, np.array(counts, np.int64), np.array(losses, np.float64))


def test_losses_are_summed_by_word():
    parts = [
        measured([[0, 1], [1, 2]], [[0.5, 2.0], [4.0, 1.0]]),
        measured([[0, 0]], [[0.25, 0.25]]),
    ]
    words = word_losses(iter(parts), VOCABULARY)
    assert words.counts.tolist() == [3, 2, 1, 0, 0]
    assert words.losses.tolist() == [1.0, 6.0, 1.0, 0.0, 0.0]
    assert (words.tokens, words.mean) == (6, 8 / 6)
    assert words.means[:3].tolist() == [1 / 3, 3.0, 1.0]
    assert np.isnan(words.means[3:]).all()


def test_classes_of_frequency_by_hand():
    classes = by_frequency(made([5, 2, 3, 1, 1], [5.0, 8.0, 3.0, 6.0, 9.0]))
    assert [c.label for c in classes] == [
        "never", "1 to 9", "10 to 99", "100 to 999", "1,000 or more",
    ]  # fmt: skip
    assert [(c.types, c.tokens, c.loss) for c in classes] == [
        (1, 1, 9.0), (1, 2, 8.0), (1, 1, 6.0), (1, 3, 3.0), (1, 5, 5.0),
    ]  # fmt: skip
    assert [c.mean for c in classes] == [9.0, 4.0, 6.0, 1.0, 1.0]


def test_a_class_between_others_is_shown_empty_and_unseen_words_only_if_there_are_some():
    classes = by_frequency(made([5, 2, 0, 0, 0], [5.0, 8.0, 0.0, 0.0, 0.0]))
    assert [(c.label, c.tokens) for c in classes] == [
        ("1 to 9", 2), ("10 to 99", 0), ("100 to 999", 0), ("1,000 or more", 5),
    ]  # fmt: skip
    assert math.isnan(classes[1].mean)


def test_costliest_and_most_frequent():
    words = made([5, 2, 5, 0, 1], [5.0, 8.0, 3.0, 0.0, 9.0])
    assert costliest(words, 3).tolist() == [4, 1, 0]
    assert most_frequent(words, 10).tolist() == [0, 2, 1, 4]


def test_the_table_of_ess():
    ours = made([4, 2, 3, 0, 1], [4.0, 2.0, 6.0, 0.0, 1.0])
    theirs = made([4, 2, 3, 0, 1], [4.4, 6.0, 3.0, 0.0, 9.0])
    found = differences(ours, theirs)
    np.testing.assert_allclose(found, [-0.1, -2.0, 1.0, np.nan, -8.0])
    assert most_improved(ours, theirs, 8).tolist() == [4, 1, 0]
    assert most_improved(ours, theirs, 8, least=2).tolist() == [1, 0]
    assert most_improved(ours, theirs, 1).tolist() == [4]
    assert most_improved(ours, ours, 8).tolist() == []


def test_only_the_same_words_are_compared():
    words = made([1, 1, 0, 0, 0], [1.0, 1.0, 0.0, 0.0, 0.0])
    with pytest.raises(WordsError, match="different vocabularies, of 5 and of 2 words"):
        differences(words, WordLosses(Vocabulary(["a", "b"], [1, 1]), words.counts, words.losses))
    with pytest.raises(WordsError, match="measured on different words"):
        differences(words, made([2, 0, 0, 0, 0], [2.0, 0.0, 0.0, 0.0, 0.0]))


@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=30),
    st.data(),
)
def test_classes_part_all_words(trained: list[int], data: st.DataObject):
    counts = data.draw(st.lists(st.integers(0, 9), min_size=len(trained), max_size=len(trained)))
    counts[0] += 1
    vocabulary = Vocabulary([f"w{i}" for i in range(len(trained))], trained)
    losses = np.array(counts, np.float64) * 1.5
    words = WordLosses(vocabulary, np.array(counts, np.int64), losses)
    classes = by_frequency(words)
    assert sum(c.tokens for c in classes) == words.tokens
    assert sum(c.types for c in classes) == sum(count > 0 for count in counts)
    assert math.isclose(sum(c.loss for c in classes), losses.sum())
    for lower, higher in itertools.pairwise(classes):
        assert lower.most == higher.least - 1
    assert classes[-1].types > 0
    assert classes[-1].most in (None, 0)


def test_the_losses_of_a_model_are_those_of_its_words(corpus):
    from cellwright import zoo
    from cellwright.data import batchify
    from cellwright.models import OneLayerSettings, build_language_model
    from cellwright.tasks.language.measuring import segment_losses
    from cellwright.tasks.language.task import segments_of

    vocabulary = corpus.vocabulary
    model = build_language_model(OneLayerSettings(hidden=6), zoo["gru"], len(vocabulary))
    text, segments = batchify(corpus.valid, 2), segments_of(corpus.valid, 2, 5)
    words = word_losses(segment_losses(model, segments), vocabulary)
    losses = np.concatenate([part.losses for part in segment_losses(model, segments)])
    for word in range(len(vocabulary)):
        here = text[1:] == word
        assert words.counts[word] == here.sum()
        assert math.isclose(words.losses[word], losses[here].sum(), abs_tol=1e-9)
    assert math.isclose(words.mean, losses.mean())
