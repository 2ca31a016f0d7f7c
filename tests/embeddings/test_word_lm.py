"""States of cellwright's own language models, at each word of a sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from cellwright.data.vocabulary import Vocabulary
from cellwright.embeddings import text_states
from cellwright.embeddings.settings import RunSettings, SgnsSettings
from cellwright.runs.errors import RunError
from cellwright.runs.trained import load_trained
from cellwright.runs.word_model import text_vectors, word_model
from cellwright.tasks.words.sources import sources
from tiny_models import tiny_run

SENTENCES = [["Ann", "lives", "in", "Oslo", "."], [], ["bob"], ["."] * 9]
READ = [["<eos>", "ann", "lives", "in", "<unk>", "."], ["<eos>", "bob"], ["<eos>", *["."] * 9]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_run(tmp_path_factory.mktemp("lm"))


def test_states_are_those_of_the_model(run: Path, monkeypatch: pytest.MonkeyPatch):
    trained = load_trained(run)
    words, model = trained.task.corpus.vocabulary, trained.model.eval()
    expected = []
    for sentence in READ:
        with torch.no_grad():
            numbers = torch.from_numpy(words.encode(sentence).astype(np.int64)).unsqueeze(1)
            expected.append(model(numbers).raw[1:, 0])
    monkeypatch.setattr(text_states, "STEPS", 4)
    found = word_model(str(run)).features(SENTENCES).get()
    np.testing.assert_allclose(found, torch.cat(expected).numpy(), atol=1e-6)


WORDS = ("Ann", "lives", "in", "Oslo", ".", "bob")


class _Part:
    """`SENTENCES` without the empty one, as numbers of `WORDS`."""

    words = np.array([0, 1, 2, 3, 4, 5, *[4] * 9], np.int32)
    offsets = np.array([0, 5, 6, 15])


def test_the_models_own_vector_stands_behind_the_state(run: Path):
    trained = load_trained(run)
    words, model = trained.task.corpus.vocabulary, trained.model.eval()
    expected = []
    for sentence in READ:
        with torch.no_grad():
            numbers = torch.from_numpy(words.encode(sentence).astype(np.int64)).unsqueeze(1)
            known = torch.cat([model(numbers).raw, model.embedding(numbers)], -1)
            expected.append(known[1:, 0])
    settings = RunSettings(run=str(run), with_input=True)
    [source] = sources([settings], Vocabulary(WORDS, [1] * len(WORDS)))
    assert source.width == 12
    rows = source.of(_Part())(_Part.words, 0, 15)
    np.testing.assert_allclose(rows, torch.cat(expected).numpy(), atol=1e-6)
    texts = [["Ann", "lives", "in", "Oslo", "."], ["bob"], ["."] * 9]
    np.testing.assert_allclose(source.rows(texts), rows, atol=1e-6)
    assert source.missing(_Part()) == 0
    [alone] = sources([RunSettings(run=str(run))], Vocabulary(WORDS, [1] * len(WORDS)))
    np.testing.assert_array_equal(alone.of(_Part())(_Part.words, 0, 15), rows[:, :6])
    assert alone.identity != source.identity


def test_vectors_of_a_runs_text(run: Path):
    pytest.importorskip("gensim", reason="gensim is not installed (extra: search)")
    from cellwright.tasks.language.skip_gram import SkipGramSettings, skip_gram

    found = skip_gram(load_trained(run).task.corpus, 6, SkipGramSettings(epochs=2, seed=3))
    expected = dict(zip(found.words, found.vectors, strict=True))
    settings = SgnsSettings(run=str(run), epochs=2, seed=3)
    rows = text_vectors(settings)(["Ann", "rome", "Oslo", "."])
    # Oslo is in no text, and the text has no <unk>.
    np.testing.assert_array_equal(rows, [expected["ann"], expected["rome"], [0] * 6, expected["."]])
    [source] = sources([settings], Vocabulary(WORDS, [1] * len(WORDS)))
    np.testing.assert_array_equal(source.of(_Part())(_Part.words[:2], 0, 2)[0], expected["ann"])
    assert text_vectors(SgnsSettings(run=str(run), width=4, epochs=1))(["ann"]).shape == (1, 4)


def test_vectors_need_the_text_once(tmp_path: Path):
    pytest.importorskip("gensim", reason="gensim is not installed (extra: search)")
    run = tiny_run(tmp_path)
    settings = SgnsSettings(run=str(run), epochs=1, seed=7)
    (tmp_path / "text").rename(tmp_path / "away")
    with pytest.raises(RunError, match="without its data"):
        text_vectors(settings)
    (tmp_path / "away").rename(tmp_path / "text")
    before = text_vectors(settings)(["ann"])
    (tmp_path / "text").rename(tmp_path / "away")
    np.testing.assert_array_equal(text_vectors(settings)(["ann"]), before)


def test_models_are_told_apart(run: Path, tmp_path: Path):
    one, same = word_model(str(run)), word_model(str(run))
    assert one.fingerprint == same.fingerprint
    assert word_model(str(tiny_run(tmp_path))).size == one.size == 6


def test_what_is_no_language_model_is_an_error(tmp_path: Path):
    with pytest.raises(RunError):
        word_model(str(tmp_path))
