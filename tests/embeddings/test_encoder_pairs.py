"""Pairs that an encoder reads together: layers of words are those that transformers gives."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("transformers")

from cellwright.data.vocabulary import Vocabulary
from cellwright.embeddings import encoder, encoder_files
from cellwright.embeddings.encoder import Encoder
from cellwright.embeddings.encoder_pairs import kept_lengths, pairs
from cellwright.embeddings.encoder_pieces import words_as_pieces
from cellwright.embeddings.encoder_windows import windows
from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.settings import TransformerSettings
from cellwright.tasks.words.any_words import any_words
from cellwright.tasks.words.known_words import KnownWords
from tiny_models import PIECES, tiny_encoder

PAIRS = [
    (["Ann", "lives", "in", "Bobb", "."], ["lives"]),
    (["\u200d", "xyz"], ["Ann", "in", "a", "\u200d", "Bobb"]),
    (["a"], ["Bobb"]),
    (["Bobb"], ["Ann", "lives", "."] * 4),
]
SENTENCES = [sentence for pair in PAIRS for sentence in pair]
WORDS = sum(map(len, SENTENCES))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("encoder"), longest=52)


def made(folder: Path, *, pieces_of: str | None = None, **settings: Any) -> Encoder:
    return Encoder(TransformerSettings(model=str(folder), **settings), 2, pieces_of)


def layers_of(encoder: Encoder, sentences: list[list[str]]) -> np.ndarray:
    return encoder.features(sentences).now().reshape(sum(map(len, sentences)), -1, 8)


def by_hand(
    folder: Path, sentences: list[list[str]], longest: int, pieces: str = "first"
) -> np.ndarray:
    """One pair at a time, as transformers cuts, frames and reads it: (words, layers, size)."""
    tokenizer, model = encoder_files.read_tokenizer(folder), encoder_files.read_weights(folder)
    found = []
    for pair in zip(sentences[::2], sentences[1::2], strict=True):
        read = tokenizer(
            *pair, is_split_into_words=True, truncation="longest_first", max_length=longest,
            return_tensors="pt", return_token_type_ids=True,
        )  # fmt: skip
        with torch.no_grad():
            hidden = model(**read, output_hidden_states=True).hidden_states
        layers = torch.stack(hidden, 2)[0].numpy()
        owners = list(zip(read.sequence_ids(0), read.word_ids(0), strict=True))
        for sentence, words in enumerate(pair):
            for word in range(len(words)):
                own = [at for at, owner in enumerate(owners) if owner == (sentence, word)]
                own = own[:1] if pieces == "first" else own
                found.append(layers[own].mean(0) if own else np.zeros(layers.shape[1:]))
    return np.stack(found)


@pytest.mark.parametrize("pieces", ["first", "mean"])
def test_layers_are_those_of_transformers(folder: Path, pieces: str):
    found = made(folder, pieces=pieces).features(SENTENCES).get()
    assert found.shape == (WORDS, 3 * 8)
    expected = by_hand(folder, SENTENCES, 50, pieces)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, atol=1e-6)
    assert not found[6].any()  # nothing is left of it when it is normalised
    assert found.any(1).sum() == WORDS - 2


@pytest.mark.parametrize("longest", [5, 6, 9, 12, 13, 20])
@pytest.mark.parametrize("pieces", ["first", "mean"])
def test_a_long_pair_is_shortened_as_transformers_does_it(folder: Path, longest: int, pieces: str):
    found = layers_of(made(folder, longest=longest, pieces=pieces), SENTENCES)
    expected = by_hand(folder, SENTENCES, longest, pieces)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found[0].any()
    assert not found[-1].any()  # it is behind the cut


def test_the_encoders_own_limit_holds(folder: Path, tmp_path: Path):
    short = tiny_encoder(tmp_path)
    for longest in (0, 300):
        found = layers_of(made(short, longest=longest), SENTENCES)
        np.testing.assert_allclose(found, by_hand(short, SENTENCES, 10), atol=1e-6)
    with pytest.raises(EmbeddingError, match="reads 4 pieces at once; too few: it needs 5"):
        layers_of(made(folder, longest=4), SENTENCES)


def test_lengths_are_those_of_longest_first(folder: Path):
    tokenizer = encoder_files.read_tokenizer(folder)
    rng = random.Random(3)
    for _ in range(300):
        lengths, most = (rng.randint(1, 12), rng.randint(1, 12)), rng.randint(2, 26)
        read = tokenizer(
            *(["a"] * length for length in lengths), is_split_into_words=True,
            truncation="longest_first", max_length=most + 3,
        )  # fmt: skip
        owners = read.sequence_ids(0)
        assert kept_lengths(*lengths, most) == (owners.count(0), owners.count(1))


def test_batches_change_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch):
    expected = layers_of(made(folder), SENTENCES)
    monkeypatch.setattr(encoder, "PIECES", 12)
    np.testing.assert_allclose(layers_of(made(folder), SENTENCES), expected, atol=1e-6)


def test_together_each_sentence_knows_of_the_other(folder: Path):
    found = layers_of(made(folder), [["a", "bob"], ["in"], ["a", "bob"], ["bob"]])
    assert np.abs(found[0] - found[3]).max() > 1e-3
    same = layers_of(made(folder, pairs="alone"), [["a", "bob"], ["in"], ["a", "bob"], ["bob"]])
    np.testing.assert_allclose(same[:2], same[3:5], atol=1e-6)


def test_alone_is_as_for_single_sentences(folder: Path):
    alone = made(folder, pairs="alone").features(SENTENCES)
    single = Encoder(TransformerSettings(model=str(folder))).features(SENTENCES)
    assert alone.key == single.key
    assert Encoder(TransformerSettings(model=str(folder), longest=9)).features([]).key == (
        Encoder(TransformerSettings(model=str(folder))).features([]).key
    )
    assert single.about == ["encoder states 1", made(folder).fingerprint,
                            "layers (0, 1, 2) pieces first"]  # fmt: skip
    np.testing.assert_array_equal(alone.now(), single.now())


def test_keys_name_what_features_depend_on(folder: Path):
    own = str(folder)
    kinds: list[dict[str, Any]] = [
        {}, {"pairs": "alone"}, {"longest": 20}, {"half": True}, {"pieces_of": own},
        {"pairs": "alone", "pieces_of": own},
    ]  # fmt: skip
    assert len({made(folder, **kind).features(SENTENCES).key for kind in kinds}) == len(kinds)


def test_half_precision_changes_little(folder: Path):
    full, half = (made(folder, half=half).features(SENTENCES).get() for half in (False, True))
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, full, atol=1e-3, rtol=1e-3)


def test_an_encoder_without_types_is_given_none(tmp_path: Path):
    found = layers_of(made(tiny_encoder(tmp_path, longest=52, types=1)), [["a"], ["bob", "in"]])
    tokenizer, model = encoder_files.read_tokenizer(tmp_path), encoder_files.read_weights(tmp_path)
    numbers = tokenizer(["a"], ["bob", "in"], is_split_into_words=True, return_tensors="pt")
    with torch.no_grad():
        hidden = model(numbers["input_ids"], output_hidden_states=True).hidden_states
    expected = torch.stack(hidden, 2)[0, [1, 3, 4]].numpy()
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_words_may_be_pieces_already(folder: Path):
    """Then each has the layers of its own piece, and nothing is cut again."""
    tokenizer = encoder_files.read_tokenizer(folder)
    cut = [tokenizer.tokenize(" ".join(words)) for words in SENTENCES]
    assert "##ves" in cut[0]
    found = layers_of(made(folder, pieces_of=str(folder)), cut)
    assert found.any((1, 2)).all()
    mean = layers_of(made(folder, pieces="mean"), SENTENCES)
    ann = found[:2].mean(0)  # "a", "##nn"
    np.testing.assert_allclose(ann, mean[0], atol=1e-6)
    alone = made(folder, pieces_of=str(folder), pairs="alone")
    words = made(folder, pairs="alone", pieces="mean")
    ann = layers_of(alone, cut)[:2].mean(0)
    np.testing.assert_allclose(ann, layers_of(words, SENTENCES)[0], atol=1e-6)


def test_what_is_no_piece_is_unknown(folder: Path):
    tokenizer = encoder_files.read_tokenizer(folder)
    [window] = pairs([["a", "<empty>"], ["##b"]], tokenizer, 50, words_as_pieces)
    assert [PIECES[number] for number in window.pieces] == [
        "[CLS]", "a", "[UNK]", "[SEP]", "##b", "[SEP]",
    ]  # fmt: skip
    assert window.words.tolist() == [0, 1, 2]
    assert window.types is not None
    assert window.types.tolist() == [0, 0, 0, 0, 1, 1]
    [window] = windows([["a", "<empty>"]], tokenizer, 50, words_as_pieces)
    assert window.pieces.tolist() == [2, 7, 1, 3]


def test_a_long_sentence_of_pieces_is_read_in_windows(folder: Path):
    tokenizer = encoder_files.read_tokenizer(folder)
    words = ["in", "a", "."] * 7
    for one, other in zip(
        windows([words], tokenizer, 10), windows([words], tokenizer, 10, words_as_pieces),
        strict=True,
    ):  # fmt: skip
        assert one.pieces.tolist() == other.pieces.tolist()
        assert one.words.tolist() == other.words.tolist()


def test_pieces_of_another_encoder_are_an_error(folder: Path, tmp_path: Path):
    same = tiny_encoder(tmp_path / "same", longest=20)
    made(folder, pieces_of=str(same))
    text = (same / "tokenizer.json").read_text(encoding="utf-8")
    (same / "tokenizer.json").write_text(text.replace('"bob"', '"rob"'), encoding="utf-8")
    with pytest.raises(EmbeddingError, match=r"the words are pieces of .*/same, and .* has others"):
        made(folder, pieces_of=str(same))


def test_odd_sentences_do_no_harm(folder: Path):
    words = ["", " ", "\ud800", "\x00", "😀" * 300, "[SEP]", "a" + "b" * 90]
    sentences = [words, ["a"], ["a"], words, [], ["bob"], ["bob"], [], [], []]
    for own in (None, str(folder)):
        found = made(folder, pieces="mean", pieces_of=own).features(sentences).now()
        assert found.shape == (2 * len(words) + 4, 24)
        assert np.isfinite(found).all()
        assert found[len(words)].any()
        assert found[-2:].any(1).all()
    with pytest.raises(EmbeddingError, match="3 sentences are no pairs: one is left over"):
        made(folder).features([["a"]] * 3)


def test_longest_is_of_pairs_that_are_read_together():
    with pytest.raises(ValueError, match="longest is of pairs that are read together"):
        TransformerSettings(model="x", pairs="alone", longest=64)


class Part:
    """Two pairs, one sentence behind the other."""

    def __init__(self, vocabulary: Vocabulary, sentences: list[list[str]]) -> None:
        self.words = np.array([vocabulary[w] for s in sentences for w in s], np.int32)
        self.offsets = np.cumsum([0, *map(len, sentences)], dtype=np.int64)


def test_parts_and_any_sentences_have_features_of_pairs(folder: Path):
    sentences = [["ann", "lives"], ["a"], ["in", "a", "bob"], ["bob", "."]]
    words = sorted({word for sentence in sentences for word in sentence})
    vocabulary = Vocabulary(tuple(words), np.ones(len(words), np.int64))
    settings = [TransformerSettings(model=str(folder))]
    known = KnownWords(settings, vocabulary, vocabulary, per_example=2)
    part = Part(vocabulary, sentences)
    [features] = known.features("train", part, [part])
    expected = by_hand(folder, sentences, 50).reshape(8, 24)
    np.testing.assert_allclose(features.rows(part.words[3:6], 3, 6), expected[3:6], atol=1e-6)
    alone = KnownWords(settings, vocabulary, vocabulary)
    assert alone.identities != known.identities

    batch = any_words(sentences, vocabulary, known.sources, per_example=2)
    assert batch.lengths.tolist() == [2, 3, 1, 2]  # first, first, second, second
    read = [vocabulary.decode(batch.words[:n, k].numpy()) for k, n in enumerate(batch.lengths)]
    assert read == [sentences[0], sentences[2], sentences[1], sentences[3]]
    found = batch.features["0-transformer"]
    np.testing.assert_allclose(found[:2, 0], expected[:2], atol=1e-6)
    np.testing.assert_allclose(found[:3, 1], expected[3:6], atol=1e-6)
    np.testing.assert_allclose(found[:1, 2], expected[2:3], atol=1e-6)
    np.testing.assert_allclose(found[:2, 3], expected[6:], atol=1e-6)
    assert not found[2:, 0].any()
    [mixed] = known.embedders("auto")
    torch.testing.assert_close(mixed(batch), found.unflatten(-1, (3, 8)).mean(2))
