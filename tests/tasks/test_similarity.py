"""Word similarity: correlations by hand, coverage, and gensim's own evaluation as an oracle."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cellwright.data import load
from cellwright.data.word_pairs import WordPairs
from cellwright.tasks.language.similarity import (
    Agreement,
    WordVectors,
    compare,
    known_pairs,
)
from cellwright.tasks.language.skip_gram import SkipGramSettings, skip_gram


def pairs_of(*rows: tuple[str, str, float]) -> WordPairs:
    scores = np.array([score for _, _, score in rows], np.float64)
    return WordPairs("made", tuple((a, b) for a, b, _ in rows), scores)


def vectors_of(**rows: list[float]) -> WordVectors:
    """Words by vector, the first the most frequent."""
    counts = np.arange(len(rows), 0, -1)
    return WordVectors("made", tuple(rows), counts, np.array(list(rows.values()), np.float32))


def test_the_interval_is_fishers():
    # atanh(0.5) = 0.5493; 1.96 / sqrt(97) = 0.1990; tanh(0.3503), tanh(0.7483).
    low, high = Agreement(100, 0.5, 0.5).interval
    assert (low, high) == (pytest.approx(0.3366, abs=1e-4), pytest.approx(0.6341, abs=1e-4))
    assert math.isnan(Agreement(3, 0.5, 0.5).interval[0])


def test_no_correlation_of_two_pairs():
    [found] = compare([MODEL], pairs_of(("east", "both", 8), ("east", "north", 6)))
    assert found.own.pairs == 2
    assert math.isnan(found.own.pearson)
    assert math.isnan(found.own.spearman)


# -- coverage ----------------------------------------------------------------------------------

HALF = math.sqrt(0.5)
MODEL = vectors_of(east=[1, 0], north=[0, 2], both=[1, 1], West=[-1, 0])
PAIRS = pairs_of(
    ("east", "both", 8), ("East", "NORTH", 6), ("east", "west", 2), ("both", "both", 9),
    ("east", "nowhere", 5),
)  # fmt: skip


def test_cosines_of_known_pairs_in_whatever_case():
    assert known_pairs(MODEL, PAIRS).tolist() == [True] * 4 + [False]
    [found] = compare([MODEL], PAIRS)
    assert found.own == found.common
    assert found.own.pairs == 4
    expected = np.corrcoef([HALF, 0, -1, 1], [8, 6, 2, 9])[0, 1]
    assert found.own.pearson == pytest.approx(expected)
    assert found.own.spearman == pytest.approx(1)


def test_models_are_compared_on_the_pairs_that_all_have():
    other = vectors_of(east=[1, 0], north=[0, 1], both=[3, 4], nowhere=[0, 1])
    first, second = compare([MODEL, other], PAIRS)
    assert (first.own.pairs, second.own.pairs) == (4, 4)
    assert first.common.pairs == second.common.pairs == 3
    assert second.common.pearson == pytest.approx(np.corrcoef([0.6, 0, 1], [8, 6, 9])[0, 1])


def test_the_most_frequent_spelling_counts():
    model = WordVectors(
        "made", ("us", "US", "Us", "it"), np.array([3, 9, 9, 5]), np.eye(4, dtype=np.float32)
    )
    assert model.rows(["us", "IT", "they"]).tolist() == [1, 3, -1]


def test_a_zero_vector_is_like_nothing():
    model = vectors_of(a=[0, 0], b=[1, 0], c=[1, 1])
    [found] = compare([model], pairs_of(("a", "b", 0), ("b", "c", 7), ("b", "b", 10)))
    assert found.own.pearson == pytest.approx(np.corrcoef([0, HALF, 1], [0, 7, 10])[0, 1])


def test_the_figures_are_gensims(tmp_path: Path):
    models = pytest.importorskip("gensim.models", reason="gensim is not installed (extra: search)")
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(20)] + ["W3", "W4"]
    vectors = rng.normal(size=(len(words), 5)).astype(np.float32)
    keyed = models.KeyedVectors(5)
    keyed.add_vectors(words, vectors)
    rows = [(f"w{a}", f"W{b}", float(rng.integers(0, 10))) for a, b in rng.integers(0, 25, (60, 2))]
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{a}\t{b}\t{score}\n" for a, b, score in rows))
    expected_pearson, expected_spearman, missing = keyed.evaluate_word_pairs(str(path))
    counts = np.arange(len(words), 0, -1)
    [found] = compare([WordVectors("made", tuple(words), counts, vectors)], pairs_of(*rows))
    assert found.own.pearson == pytest.approx(expected_pearson[0], abs=1e-6)
    assert found.own.spearman == pytest.approx(expected_spearman[0], abs=1e-6)
    assert 100 * (1 - found.own.pairs / len(rows)) == pytest.approx(missing)


# -- SGNS --------------------------------------------------------------------------------------


@pytest.fixture
def corpus(tmp_path: Path):
    pytest.importorskip("gensim", reason="gensim is not installed (extra: search)")
    rng = np.random.default_rng(0)
    for part in ("train", "valid", "test"):
        lines = [" ".join(f"w{n}" for n in rng.integers(0, 9, 12)) for _ in range(40)]
        (tmp_path / f"{part}.txt").write_text("\n".join(lines) + "\nrare\n")
    return load(tmp_path)


def test_sgns_has_the_words_of_the_text(corpus):
    steps: list[tuple[int, int]] = []
    found = skip_gram(
        corpus, 4, SkipGramSettings(epochs=2), lambda done, total: steps.append((done, total))
    )
    assert set(found.words) == set(corpus.vocabulary) - {"<eos>", "<unk>"}
    assert found.vectors.shape == (len(found.words), 4)
    assert found.counts.sum() == len(corpus.train) - corpus.lines["train"]
    total = 2 * len(corpus.train)
    assert steps == sorted(steps)
    assert steps[-1] == (total - 1, total)
    often = skip_gram(corpus, 4, SkipGramSettings(least=2))
    assert set(found.words) - set(often.words) == {"rare"}


def test_sgns_is_the_same_in_every_process(corpus, tmp_path: Path):
    code = (
        "import hashlib, sys\nfrom cellwright.data import load\n"
        "from cellwright.tasks.language.skip_gram import skip_gram\n"
        "print(hashlib.sha256(skip_gram(load(sys.argv[1]), 6).vectors.tobytes()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": salt},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for salt in ("1", "2")
    }
    assert len(found) == 1
    other = skip_gram(corpus, 6, SkipGramSettings(seed=1)).vectors
    assert not np.array_equal(other, skip_gram(corpus, 6).vectors)


def test_words_that_stand_together_become_alike(tmp_path: Path):
    pytest.importorskip("gensim", reason="gensim is not installed (extra: search)")
    text = "sun moon star sun moon star\nbread butter jam bread butter jam\n" * 60
    for part in ("train", "valid", "test"):
        (tmp_path / f"{part}.txt").write_text(text)
    model = skip_gram(load(tmp_path), 8, SkipGramSettings(epochs=60))
    pairs = pairs_of(
        ("sun", "moon", 9), ("bread", "jam", 9), ("sun", "jam", 1), ("moon", "bread", 1)
    )
    [found] = compare([model], pairs)
    assert found.own.pearson > 0.9
