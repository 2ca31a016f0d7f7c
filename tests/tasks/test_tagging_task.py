"""The tagging task: what batches hold, what words become, and that a tagger learns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import cellwright as cw
from cellwright.base.errors import UserError
from cellwright.data.tagged import TagSet
from cellwright.embeddings.kept_features import Features
from cellwright.engine import native_backend
from cellwright.engine.ragged import Ragged
from cellwright.models.settings import TaggerSettings
from cellwright.tasks.registry import open_task
from cellwright.tasks.tagging.batches import Batches
from cellwright.tasks.tagging.legal import legal
from cellwright.tasks.tagging.settings import TaggingSettings
from cellwright.tasks.tagging.task import TaggingTask
from cellwright.tasks.words import sources

ROWS = {
    "train": "Ann B-PER\nlives O\nin O\nNew B-LOC\nYork I-LOC\n\nBob B-PER\nleft O\n\nOslo B-LOC\n",
    "valid": "Eve B-PER\nlives O\n",
    "test": "in O\nOslo B-LOC\n",
}
VECTORS = "ann 1 2\nlives 3 4\nin 5 6\nnew 7 8\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CELLWRIGHT_CACHE", str(tmp_path / "cache"))
    data = tmp_path / "data"
    data.mkdir()
    for part, rows in ROWS.items():
        (data / f"{part}.txt").write_text(rows)
    (tmp_path / "vectors.txt").write_text(VECTORS)
    return tmp_path


def task_of(folder: Path, *embeddings: Any) -> TaggingTask:
    values = {"data": str(folder / "data"), "embeddings": list(embeddings) or ["table"]}
    task = open_task(TaggingSettings.model_validate(values))
    assert isinstance(task, TaggingTask)
    return task


def test_a_batch_has_words_tags_and_vectors(folder: Path) -> None:
    task = task_of(folder, str(folder / "vectors.txt"))
    [batch] = task.ordered("train", 3)
    assert (batch.size, batch.lengths.tolist()) == (3, [5, 2, 1])
    assert batch.words.shape == batch.tags.shape == (5, 3)
    words, tags = task.data.vocabulary, task.data.tags
    assert words.decode(batch.words[:, 0].tolist()) == ["Ann", "lives", "in", "New", "York"]
    said = tags.decode(batch.tags[:, 0].tolist())
    assert said == ["S-PER", "O", "O", "B-LOC", "E-LOC"]
    [vectors] = batch.features.values()
    # York, Bob, left and Oslo have none; and what is behind an end is 0.
    assert vectors[:, 0].tolist() == [[1, 2], [3, 4], [5, 6], [7, 8], [0, 0]]
    assert not vectors[:, 1:].any()


def test_features_by_place_stay_with_their_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In limited and halved parts, too, and in any order."""

    class Model:
        size = 1

        def __init__(self, name: str) -> None: ...

    def lengths(models: Any, texts: list[list[str]], half: bool) -> Features:
        def compute(out: torch.Tensor, progress: Any) -> None:
            out[:, 0] = torch.tensor([float(len(word)) for text in texts for word in text])

        return Features("test", ["lengths"], texts, 1, compute, half)

    monkeypatch.setattr(sources, "CharacterModel", Model)
    monkeypatch.setattr(sources, "character_features", lengths)
    whole = task_of(folder, {"kind": "flair", "models": ["x"]})
    first, second = whole.halves()
    assert [len(task.data.train) for task in (first, second)] == [1, 2]
    assert len(whole.limited({"train": 2}).data.train) == 2
    for task in (whole, first, second, whole.limited({"train": 2})):
        for batch in [*task.ordered("train", 2), *task.batches("train", 2, 1, 0)]:
            [known] = batch.features.values()
            for column, length in enumerate(batch.lengths.tolist()):
                words = task.data.vocabulary.decode(batch.words[:length, column].tolist())
                assert known[:length, column, 0].tolist() == [len(word) for word in words]


def test_distinct_words_are_spelled_once(folder: Path) -> None:
    task = task_of(folder, "characters")
    [batch] = task.ordered("test", 2)
    assert batch.characters is not None
    numbers, lengths, rows = batch.characters
    assert sorted(lengths.tolist()) == [2, 4]
    assert rows.shape == (2,)
    known = {c: n for n, c in enumerate(task.data.characters.tokens, 2)}
    spelled = numbers[rows[0]][: lengths[rows[0]]].tolist()
    assert spelled == [known["i"], known["n"]]


@pytest.mark.parametrize("crf", [True, False])
def test_a_tagger_learns(folder: Path, crf: bool) -> None:
    task = task_of(folder, {"kind": "table", "width": 8, "least": 1}, "characters")
    torch.manual_seed(0)
    settings = TaggerSettings(hidden=8, crf=crf, dropout_input=0.0, dropout_output=0.0)
    model = task.model(cw.zoo["gru"], settings)
    optimizer = torch.optim.Adam(model.parameters(), 0.03)
    for _ in range(40):
        [batch] = task.ordered("train", 3)
        optimizer.zero_grad()
        model.train()
        model.loss(batch, ()).mean.backward()
        optimizer.step()
    score = task.measure(model, task.ordered("train", 2))
    assert score.loss == 0
    assert score.figures["accuracy"] == score.figures["F1 of LOC"] == 1
    assert score.figures["F1 of unseen words"] == 0  # there are none


def test_measuring_does_not_depend_on_the_order_of_sentences(folder: Path) -> None:
    task = task_of(folder)
    batches = task.ordered("train", 2)
    assert [each.lengths.tolist() for each in batches] == [[5, 2], [1]]
    turned = Batches(task.data.train, [], np.array([2, 1, 0]), 2)
    assert [each.lengths.tolist() for each in turned] == [[1, 2], [5]]
    assert [each.lengths.tolist() for each in turned.by_length()] == [[5, 2], [1]]
    torch.manual_seed(0)
    model = task.model(cw.zoo["rnn"], TaggerSettings(hidden=4))
    assert task.measure(model, batches) == task.measure(model, list(turned))


@pytest.mark.parametrize("backend", ["native", "torch"])
def test_sentences_of_a_batch_do_not_meet(folder: Path, backend: str) -> None:
    if backend == "native" and not native_backend.available():
        pytest.skip("the core is not built")
    task = task_of(folder)
    torch.manual_seed(0)
    model = task.model(cw.zoo["lstm"], TaggerSettings(hidden=5, layers=2), backend=backend).eval()
    [whole] = task.ordered("train", 3)
    for number, alone in enumerate(task.ordered("train", 1)):
        own = model.scores(alone)[0]
        torch.testing.assert_close(model.scores(whole)[number, : len(own)], own)


def test_the_loss_is_over_words_sentences_or_all(folder: Path) -> None:
    task, losses = task_of(folder), {}
    [batch] = task.ordered("train", 3)
    for by in ("word", "sentence", "sum"):
        torch.manual_seed(0)
        model = task.model(cw.zoo["rnn"], TaggerSettings(hidden=4, loss=by)).eval()
        losses[by] = model.loss(batch, ()).mean.item()
    assert losses["sum"] == pytest.approx(3 * losses["sentence"])
    assert losses["sum"] == pytest.approx(8 * losses["word"])


def test_words_are_dropped_whole_and_not_scaled(folder: Path) -> None:
    task = task_of(folder)
    for by, alike in (("word", False), ("step", True)):
        settings = TaggerSettings(hidden=4, dropout_words=0.5, words_dropped=by)
        model = task.model(cw.zoo["rnn"], settings).train()
        torch.manual_seed(1)
        ragged = Ragged.of([40] * 6, 40, 6)
        left = model._without_some_words(torch.full((40 * 6, 3), 2.0), ragged).view(40, 6, 3)
        assert set(left.unique().tolist()) == {0.0, 2.0}
        assert bool((left == left[..., :1]).all())
        assert bool((left == left[:, :1]).all()) is alike


def test_what_is_legal_in_iobes() -> None:
    tags = TagSet("IOBES", ("LOC", "PER"))
    allowed = legal(tags)
    assert allowed is not None
    assert allowed.starts is not None
    assert allowed.ends is not None

    def follow(tag: str) -> set[str]:
        return {tags.names[n] for n in allowed.transitions[tags[tag]].nonzero().flatten().tolist()}

    begins = {"O", "B-LOC", "S-LOC", "B-PER", "S-PER"}
    assert follow("O") == follow("E-LOC") == follow("S-PER") == begins
    assert follow("B-LOC") == follow("I-LOC") == {"I-LOC", "E-LOC"}
    assert {tags.names[n] for n in allowed.starts.nonzero().flatten().tolist()} == begins
    ends = {"O", "E-LOC", "S-LOC", "E-PER", "S-PER"}
    assert {tags.names[n] for n in allowed.ends.nonzero().flatten().tolist()} == ends
    assert legal(TagSet("IOB1", ("LOC",))) is None


def test_an_unknown_part_and_unknown_embeddings(folder: Path) -> None:
    with pytest.raises(UserError, match="'dev'"):
        task_of(folder).limited({"dev": 1})
    with pytest.raises(UserError, match="glowe-50d"):
        task_of(folder, "glowe-50d")
