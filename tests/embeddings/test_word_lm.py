"""States of cellwright's own language models, at each word of a sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from cellwright.embeddings import text_states
from cellwright.runs.errors import RunError
from cellwright.runs.trained import load_trained
from cellwright.runs.word_model import word_model
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


def test_models_are_told_apart(run: Path, tmp_path: Path):
    one, same = word_model(str(run)), word_model(str(run))
    assert one.fingerprint == same.fingerprint
    assert word_model(str(tiny_run(tmp_path))).size == one.size == 6


def test_what_is_no_language_model_is_an_error(tmp_path: Path):
    with pytest.raises(RunError):
        word_model(str(tmp_path))
