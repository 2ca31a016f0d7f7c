"""Encoders of transformers: layers of words are those that transformers gives, word by word."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("transformers")

from cellwright.base.optional import MissingPackageError
from cellwright.embeddings import encoder, encoder_files
from cellwright.embeddings.encoder import Encoder
from cellwright.embeddings.encoder_windows import _chosen, windows
from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.settings import TransformerSettings
from tiny_models import tiny_encoder

SENTENCES = [["Ann", "lives", "in", "Bobb", "."], [], ["lives"], ["\u200d", "xyz", "Ann"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("encoder"))


def made(folder: Path, **settings: Any) -> Encoder:
    return Encoder(TransformerSettings(model=str(folder), **settings))


def by_hand(folder: Path, sentences: list[list[str]], pieces: str) -> np.ndarray:
    """One sentence at a time, all layers, (words, layers, size)."""
    tokenizer, model = encoder_files.read_tokenizer(folder), encoder_files.read_weights(folder)
    found = []
    for words in sentences:
        read = tokenizer(words, is_split_into_words=True, return_tensors="pt")
        with torch.no_grad():
            hidden = model(read["input_ids"], output_hidden_states=True).hidden_states
        layers = torch.stack(hidden, 2)[0].numpy()
        for number in range(len(words)):
            own = [at for at, word in enumerate(read.word_ids(0)) if word == number]
            own = own[:1] if pieces == "first" else own
            found.append(layers[own].mean(0) if own else np.zeros(layers.shape[1:]))
    return np.stack(found)


@pytest.mark.parametrize("pieces", ["first", "mean"])
def test_layers_are_those_of_transformers(folder: Path, pieces: str):
    found = made(folder, pieces=pieces).features(SENTENCES).get()
    expected = by_hand(folder, SENTENCES, pieces)
    assert found.shape == (9, 3 * 8)
    np.testing.assert_allclose(found.reshape(9, 3, 8), expected, atol=1e-6)
    assert not found[6].any()  # nothing is left of it when it is normalised
    assert found[7].any()  # an unknown word has a piece


def test_layers_are_chosen(folder: Path):
    whole = made(folder).features(SENTENCES).get().reshape(9, 3, 8)
    for layers, numbers in (("last", [2]), ([-1, 0], [2, 0]), ([1], [1])):
        some = made(folder, layers=layers)
        assert (some.layers, some.width) == (tuple(numbers), 8 * len(numbers))
        found = some.features(SENTENCES).get().reshape(9, len(numbers), 8)
        np.testing.assert_array_equal(found, whole[:, numbers])


def test_batches_change_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch):
    sentences = [SENTENCES[0]] * 3 + SENTENCES[2:]
    expected = by_hand(folder, sentences, "first")
    monkeypatch.setattr(encoder, "PIECES", 16)
    found = made(folder).features(sentences).get()
    np.testing.assert_allclose(found.reshape(expected.shape), expected, atol=1e-6)


def test_a_long_sentence_is_read_in_windows(folder: Path):
    """10 pieces fit, 2 of them begin and end a text: windows overlap by 4."""
    tokenizer = encoder_files.read_tokenizer(folder)
    words = ["in", "a", "."] * 7
    cut = list(windows([["a"], words], tokenizer, 10))
    assert [len(window.pieces) for window in cut] == [3, 10, 10, 10, 10, 7]
    taken = [window.words.tolist() for window in cut]
    assert [word for each in taken for word in each] == list(range(22))
    assert [len(each) for each in taken] == [1, 6, 4, 4, 4, 3]
    found = made(folder).features([words]).get()
    model = encoder_files.read_weights(folder)
    third = torch.from_numpy(cut[2].pieces).unsqueeze(0)
    with torch.no_grad():
        hidden = model(third, output_hidden_states=True).hidden_states
    expected = torch.cat(hidden, -1)[0, cut[2].places].numpy()
    np.testing.assert_allclose(found[cut[2].words - 1], expected, atol=1e-6)


def test_a_word_is_taken_from_the_window_that_has_most_of_it():
    ids = [[-1, 0, 1, 1, 2, -1], [-1, 1, 2, 2, 2, -1], [-1, 2, 2, 3, -1]]
    chosen = _chosen([np.array(window) for window in ids], 4)
    assert [places.tolist() for places in chosen] == [[1, 2, 3], [2, 3, 4], [3]]


def test_a_word_that_is_longer_than_a_window_counts_as_far_as_it_fits(folder: Path):
    word = "a" + "b" * 60
    found = made(folder, pieces="mean").features([["in", word, "in"]]).get()
    assert found.shape == (3, 24)
    assert np.isfinite(found).all()
    assert found.any(1).all()


def test_odd_words_do_no_harm(folder: Path):
    words = ["", " ", "\ud800", "\x00", "a\udcff", "\u202e", "😀" * 300, "\n", "lives in"]
    found = made(folder, pieces="mean").features([words, *([word] for word in words)]).get()
    assert found.shape == (18, 24)
    assert np.isfinite(found).all()
    assert found[2].any()
    assert not found[0].any()


def test_layers_are_computed_once(folder: Path, monkeypatch: pytest.MonkeyPatch):
    first = made(folder).features(SENTENCES).get()
    monkeypatch.setattr(encoder_files, "read_weights", lambda _: pytest.fail("computed again"))
    again = made(folder).features(SENTENCES)
    assert again.missing == 0
    np.testing.assert_array_equal(again.get(), first)


def test_keys_name_what_features_depend_on(folder: Path, tmp_path: Path):
    others: list[dict[str, Any]] = [{}, {"layers": [2]}, {"layers": [0, 2]}, {"layers": [2, 0]},
                                    {"pieces": "mean"}, {"half": True}]  # fmt: skip
    keys = {made(folder, **settings).features(SENTENCES).key for settings in others}
    assert len(keys) == len(others)
    assert made(folder, layers=[0, 1, 2]).features(SENTENCES).key in keys  # which is all
    other = tiny_encoder(tmp_path, longest=14)
    assert made(other).features(SENTENCES).key not in keys


def test_progress_is_told_and_no_random_number_drawn(folder: Path):
    told = []
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    made(folder).features(SENTENCES).get(lambda *said: told.append(said))
    assert torch.equal(torch.rand(1), expected)
    assert told[-1][1] == told[-1][2] > 0


def test_what_is_not_an_encoder_is_an_error(folder: Path, tmp_path: Path):
    with pytest.raises(EmbeddingError, match="has layers from 0 to 2, and no 3"):
        made(folder, layers=[3])
    with pytest.raises(EmbeddingError, match="given once each"):
        made(folder, layers=[2, -1])
    with pytest.raises(EmbeddingError, match=r"has no config\.json"):
        made(tmp_path)
    with pytest.raises(
        EmbeddingError, match=r"no encoder 'no/such' on this machine: .*hf download"
    ):
        made(Path("no/such"))
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(EmbeddingError, match="its configuration cannot be read") as caught:
        made(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("layers", ["first", [], [True], ["0"], 3])
def test_layers_are_all_last_or_numbers(layers: Any):
    with pytest.raises(ValueError, match=r"should be 'all', 'last' or a list such as \[0, -1\]"):
        TransformerSettings(model="x", layers=layers)


def test_pickled_weights_are_refused(tmp_path: Path):
    tiny_encoder(tmp_path)
    weights = encoder_files.read_weights(tmp_path).state_dict()
    (tmp_path / "model.safetensors").unlink()
    torch.save(weights, tmp_path / "pytorch_model.bin")
    with pytest.raises(EmbeddingError, match="its weights cannot be read"):
        made(tmp_path).features(SENTENCES).get()


def test_weights_that_are_missing_are_not_made_up(tmp_path: Path):
    from safetensors.torch import load_file, save_file

    tiny_encoder(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    without = {name: t for name, t in weights.items() if "layer.1.output.dense.weight" not in name}
    assert len(without) == len(weights) - 1
    save_file(without, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(EmbeddingError, match=r"no weights for encoder\.layer\.1\.output"):
        made(tmp_path).features(SENTENCES).get()


def test_without_the_package_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'cellwright\[embeddings\]'"):
        made(folder)
