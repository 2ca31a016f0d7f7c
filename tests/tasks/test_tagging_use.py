"""A trained tagger reads any words: as its own data, in any order, and rubbish too."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

import cellwright as cw
from cellwright.base.errors import UserError
from cellwright.models.settings import TaggerSettings
from cellwright.tasks.registry import open_task
from cellwright.tasks.tagging import use
from cellwright.tasks.tagging.kind import tagging_kind
from cellwright.tasks.tagging.settings import TaggingSettings
from cellwright.tasks.tagging.task import TaggingTask
from cellwright.tasks.tagging.use import SentenceTagger

ROWS = {
    "train": "Ann B-PER\nlives O\nin O\nNew B-LOC\nYork I-LOC\n\nBob B-PER\nleft O\n\nOslo B-LOC\n",
    "valid": "Eve B-PER\nlives O\n",
    "test": "in O\nOslo B-LOC\n\nAnn B-PER\n",
}
VECTORS = "ann 1 2\nlives 3 4\nin 5 6\nnew 7 8\nparis 9 10\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("tagged")
    for part, rows in ROWS.items():
        (folder / f"{part}.txt").write_text(rows)
    (folder / "vectors").mkdir()
    (folder / "vectors" / "v.vec").write_text(VECTORS)
    characters = ["<unk>", " ", "\n", *"AnlivesNwYorkBbftOE"]
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(4, 6)
    weights = {f"rnn.{name}": tensor.detach() for name, tensor in lstm.named_parameters()}
    weights["encoder.weight"] = torch.randn(len(characters), 4)
    save_file(weights, folder / "vectors" / "tiny-backward.safetensors")
    (folder / "vectors" / "chars.json").write_text(json.dumps([*dict.fromkeys(characters)]))
    return folder


@pytest.fixture(scope="module")
def task(folder: Path) -> TaggingTask:
    vectors = str(folder / "vectors" / "v.vec")
    states = {"kind": "flair", "models": [str(folder / "vectors" / "tiny-backward.safetensors")]}
    parts = [vectors, {"kind": "table", "width": 4, "least": 1}, "characters", states]
    values = {"data": str(folder), "embeddings": parts}
    task = open_task(TaggingSettings.model_validate(values))
    assert isinstance(task, TaggingTask)
    return task


@pytest.fixture(scope="module", params=[True, False], ids=["crf", "softmax"])
def tagger(task: TaggingTask, request: pytest.FixtureRequest) -> SentenceTagger:
    torch.manual_seed(0)
    settings = TaggerSettings(hidden=8, crf=request.param, constrained=request.param)
    return SentenceTagger(task, task.model(cw.zoo["gru"], settings))


def sentences_of(task: TaggingTask, part: str) -> list[list[str]]:
    return [task.data.vocabulary.decode(words) for words, _ in getattr(task.data, part)]


@pytest.mark.parametrize("part", ["train", "valid", "test"])
def test_the_tags_are_those_that_are_measured(
    task: TaggingTask, tagger: SentenceTagger, part: str
) -> None:
    [batch] = task.ordered(part, 8)
    own = task.batch_of(sentences_of(task, part))
    assert len(batch.features) == 2
    for name, rows in batch.features.items():
        assert torch.allclose(own.features[name], rows, atol=1e-6)
        assert rows.any()
    expected = [task.data.tags.decode(tags) for tags in tagger.model.tag(batch)]
    found = list(tagger.tag(sentences_of(task, part)))
    assert [list(sentence.tags) for sentence in found] == expected


def test_a_run_that_has_kept_its_words_alone_says_the_same(
    task: TaggingTask, tagger: SentenceTagger
) -> None:
    kept = tagging_kind().kept
    assert kept is not None
    restored = kept.restore(task.settings, kept.take(task))
    assert isinstance(restored, TaggingTask)
    assert not len(restored.data.train)
    texts = ["Ann lives in Paris.", "Zoë left"]
    assert [*SentenceTagger(restored, tagger.model).tag(texts)] == [*tagger.tag(texts)]


def test_new_words_have_vectors_and_spellings_of_their_own(task: TaggingTask) -> None:
    batch = task.batch_of([["Paris", "Annn", "Ann"], ["in"]])
    vectors = batch.features["0-vectors"]
    assert vectors[:, 0].tolist() == [[9, 10], [0, 0], [1, 2]]
    assert vectors[:, 1].tolist() == [[5, 6], [0, 0], [0, 0]]
    other = len(task.data.vocabulary)
    assert batch.words[:, 0].tolist() == [other, other, task.data.vocabulary["Ann"]]
    assert batch.characters is not None
    numbers, lengths, rows = batch.characters
    known = {c: n for n, c in enumerate(task.data.characters.tokens, 2)}
    spelled = numbers[rows[2]][: lengths[rows[2]]].tolist()
    assert spelled == [known[c] for c in "Annn"]
    model = task.model(cw.zoo["rnn"], TaggerSettings(hidden=4))
    assert model.scores(batch).shape == (2, 3, len(task.data.tags))


@given(
    st.lists(st.lists(st.text(max_size=8), max_size=9) | st.text(max_size=30), max_size=12),
    st.integers(1, 5),
)
@settings(max_examples=15)
def test_any_words_in_any_number(
    tagger: SentenceTagger, sentences: list[list[str] | str], window: int
) -> None:
    found = list(tagger.tag(sentences, window=window, probabilities=True))
    assert len(found) == len(sentences)
    for given_, sentence in zip(sentences, found, strict=True):
        if isinstance(given_, list):
            assert list(sentence.words) == given_
        assert sentence.probabilities is not None
        assert len(sentence.words) == len(sentence.tags) == len(sentence.probabilities)
        assert all(0 <= share <= 1 + 1e-5 for share in sentence.probabilities)
        for span in sentence.spans:
            assert 0 <= span.start < span.end <= len(sentence.words)
            assert all(tag.endswith(span.type) for tag in sentence.tags[span.start : span.end])
    alone = [next(tagger.tag([sentence])) for sentence in sentences]
    assert [one.tags for one in alone] == [one.tags for one in found]


def test_long_sentences_are_tagged_in_pieces(
    tagger: SentenceTagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(use, "MOST_WORDS", 3)
    long = ["Ann", "lives", "in", "New", "York", "x" * 5000, "Bob"]
    first, second = tagger.tag([long, ["Ann"]])
    assert first.words == tuple(long)
    pieces = list(tagger.tag([long[:3], long[3:6], long[6:]]))
    assert first.tags == tuple(tag for piece in pieces for tag in piece.tags)
    assert second.words == ("Ann",)


def test_probabilities_are_those_of_enumeration(tagger: SentenceTagger) -> None:
    """Over all tags they add up to 1."""
    words = [["Ann", "in", "Oslo"], ["Bob"]]
    batch = tagger.task.batch_of(words)
    scores = tagger.model.scores(batch)
    shares = tagger.model.probabilities(scores, batch.lengths)
    sums = shares.sum(-1)
    assert np.allclose([*sums[0].tolist(), sums[1, 0].item()], 1, atol=1e-5)


def test_what_is_no_sentence(tagger: SentenceTagger) -> None:
    for wrong in (3, [1, 2], None):
        with pytest.raises(UserError, match="a sentence is a text or a list of words"):
            list(tagger.tag([wrong]))  # type: ignore[list-item]


def test_a_sentence_in_brackets() -> None:
    spans = (use.Span(0, 1, "PER"), use.Span(2, 4, "LOC"))
    sentence = use.TaggedSentence(("Ann", "in", "New", "York"), (), spans)
    assert str(sentence) == "[Ann]PER in [New York]LOC"
    assert sentence.text(spans[1]) == "New York"


def test_what_is_pooled_knows_the_training_part_and_the_sentence_alone(folder: Path) -> None:
    model = str(folder / "vectors" / "tiny-backward.safetensors")
    parts = [{"kind": "flair", "models": [model], "pooling": "min"}]
    values = {"data": str(folder), "embeddings": parts}
    task = open_task(TaggingSettings.model_validate(values))
    assert isinstance(task, TaggingTask)
    assert task.pools
    [rows] = task.batch_of([["Ann", "lives"], ["Zed"]]).features.values()
    before, own = rows[:, 0, :6], rows[:, 0, 6:]
    [train] = task.ordered("train", 8)[0].features.values()
    in_training = train[0, 0, 6:]  # the first word of train is Ann, and is there once
    assert torch.allclose(before[0], torch.minimum(own[0], in_training), atol=1e-6)
    assert torch.equal(rows[0, 1, :6], rows[0, 1, 6:])  # nobody has seen Zed
    [alone] = task.batch_of([["Zed"]]).features.values()
    assert torch.allclose(alone[0, 0], rows[0, 1], atol=1e-6)
    tagger = SentenceTagger(task, task.model(cw.zoo["rnn"], TaggerSettings(hidden=4)))
    assert len(next(tagger.tag(["Ann lives in Oslo"])).tags) == 4
