"""The task on sentences: what batches hold, in which order, what is measured, and what is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import cellwright as cw
from cellwright.base.errors import UserError
from cellwright.models.sentences.settings import BlmSettings
from cellwright.runs.recipes import load_recipe
from cellwright.tasks.registry import open_task, task_kind
from cellwright.tasks.sentences.batches import bucketed, from_unit
from cellwright.tasks.sentences.settings import SentencesSettings
from cellwright.tasks.sentences.task import SentencesTask
from cellwright.tasks.sentences.use import Predictor

PAIRS = {
    "train": [("a b", "a", "1.0"), ("a b c d", "c d e", "5.0"), ("b", "a b c", "2.5")],
    "valid": [("a", "b", "1.5"), ("a b", "a b", "4.5")],
    "test": [("c a", "q", "3.0"), ("d", "d d", "2.0")],
}
MODEL = BlmSettings(hidden=4, feed_forward=3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CELLWRIGHT_CACHE", str(tmp_path / "cache"))
    for part, rows in PAIRS.items():
        lines = ["first\tsecond\tscore", *("\t".join(row) for row in rows)]
        (tmp_path / f"{part}.tsv").write_text("\n".join(lines) + "\n")
    return tmp_path


def task_of(folder: Path, **settings: Any) -> SentencesTask:
    values = {
        "data": str(folder), "embeddings": ["table"], "tokenizer": "spaces", "first": "first",
        "second": "second", **settings,
    }  # fmt: skip
    task = open_task(SentencesSettings.model_validate(values))
    assert isinstance(task, SentencesTask)
    return task


def test_a_batch_has_all_first_sentences_before_the_second_ones(folder: Path) -> None:
    task = task_of(folder)
    [batch] = task.ordered("train", 3)
    assert (batch.size, batch.per_example) == (3, 2)
    assert batch.sentences.lengths.tolist() == [2, 4, 1, 1, 3, 3]
    decode = task.data.vocabulary.decode
    columns = [
        decode(batch.sentences.words[:length, at].tolist())
        for at, length in enumerate(batch.sentences.lengths.tolist())
    ]
    assert columns == [["a", "b"], list("abcd"), ["b"], ["a"], list("cde"), list("abc")]


def test_scores_are_learned_from_0_to_1_and_said_in_their_range(folder: Path) -> None:
    task = task_of(folder)
    [batch] = task.ordered("train", 3)
    assert batch.targets.tolist() == [0.0, 1.0, 0.375]
    said = from_unit(task.data.target, np.array([-1, 0.375, 2], np.float32))
    assert said.tolist() == [1.0, 2.5, 5.0]


def test_batches_are_of_like_lengths_and_every_example_is_there_once() -> None:
    lengths = np.random.default_rng(0).integers(1, 60, 1003)
    order = bucketed(lengths, 10, 20, np.random.default_rng(1))
    assert sorted(order.tolist()) == list(range(1003))
    spans = [np.ptp(lengths[order[at : at + 10]]) for at in range(0, 1000, 10)]
    assert np.mean(spans) < 8  # drawn at random they have about 48
    firsts = lengths[order[:1000:10]]
    assert abs(np.corrcoef(firsts, np.arange(100))[0, 1]) < 0.4  # batches are shuffled again
    other = bucketed(lengths, 10, 20, np.random.default_rng(2))
    assert order.tolist() != other.tolist()
    assert bucketed(lengths[:3], 10, 20, np.random.default_rng(1)).shape == (3,)


def test_orders_follow_from_seed_and_epoch(folder: Path) -> None:
    task = task_of(folder)
    seen = [
        task.batches("train", 2, seed, epoch).order.tolist() for seed in (0, 1) for epoch in (0, 1)
    ]
    again = [
        task.batches("train", 2, seed, epoch).order.tolist() for seed in (0, 1) for epoch in (0, 1)
    ]
    assert seen == again
    assert len({tuple(order) for order in seen}) > 1


def test_any_pairs_are_read_as_those_of_the_data_are(folder: Path) -> None:
    task = task_of(folder)
    [expected] = task.ordered("test", 2)
    found = task.batch_of([task.words_of(row[:2]) for row in PAIRS["test"]])
    assert torch.equal(found.sentences.words, expected.sentences.words)
    assert torch.equal(found.sentences.lengths, expected.sentences.lengths)
    torch.manual_seed(0)
    model = task.model(cw.zoo["lstm"], MODEL).eval()
    assert torch.equal(model.outputs(found), model.outputs(expected))


def test_words_beyond_the_cap_are_unknown_ones_also_in_use(folder: Path) -> None:
    task = task_of(folder, most_words=2)
    assert task.words_of(["a b zebra"]) == [["a", "b", "<unk>"]]
    assert task_of(folder).words_of(["a b zebra"]) == [["a", "b", "zebra"]]


def test_what_is_measured_is_that_of_the_whole_part(folder: Path) -> None:
    task = task_of(folder)
    torch.manual_seed(0)
    model = task.model(cw.zoo["gru"], MODEL)
    targets, outputs = task.outputs(model, task.ordered("train", 2))
    score = task.measure(model, task.ordered("train", 1))
    by_hand = np.corrcoef(targets, outputs)[0, 1]
    assert score.loss == pytest.approx(1 - by_hand, abs=1e-5)
    assert set(score.figures) == {"Spearman"}
    assert task.metric.name == "Pearson"
    assert task_of(folder, metric="spearman").metric.name == "Spearman"


def test_a_metric_of_labels_is_none_of_scores(folder: Path) -> None:
    with pytest.raises(UserError, match=r"accuracy.*for scores there are pearson, spearman"):
        task_of(folder, metric="accuracy")


def test_a_restored_task_says_the_same(folder: Path) -> None:
    task = task_of(folder)
    torch.manual_seed(0)
    model = task.model(cw.zoo["lstm"], MODEL)
    kept = task_kind("sentences").kept
    assert kept is not None
    restored = kept.restore(task.settings, kept.take(task))
    assert isinstance(restored, SentencesTask)
    rows = [row[:2] for part in PAIRS.values() for row in part] * 40
    first = list(Predictor(task, model).predict(rows))
    second = list(Predictor(restored, model).predict(iter(rows), window=7))
    assert [str(one) for one in first] == [str(one) for one in second]
    assert first[0].sentences == rows[0]
    assert all(1 <= one.score <= 5 for one in first if one.score is not None)


@pytest.mark.parametrize(
    "change",
    [
        {"labels": "no"},
        {"sentences": 3},
        {"labels": [], "lowest": 5.0, "highest": 1.0},
        {"labels": [], "lowest": None, "highest": 1.0},
    ],
)
def test_damaged_targets_are_refused(folder: Path, change: dict[str, Any]) -> None:
    task = task_of(folder)
    kept = task_kind("sentences").kept
    assert kept is not None
    files = dict(kept.take(task))
    files["target.json"] = json.dumps({**json.loads(files["target.json"]), **change}).encode()
    with pytest.raises(ValueError, match=r"target\.json has"):
        kept.restore(task.settings, files)


def test_a_predictor_wants_examples(folder: Path) -> None:
    task = task_of(folder)
    predictor = Predictor(task, task.model(cw.zoo["lstm"], MODEL))
    for wrong in ("a sentence", ("one",), ("a", "b", "c"), (1, 2)):
        with pytest.raises(UserError, match="an example is a pair of sentences"):
            list(predictor.predict([wrong]))  # type: ignore[list-item]
    assert list(predictor.predict([])) == []
    assert len(list(predictor.predict([("", " \t")]))) == 1


@pytest.mark.parametrize("name", ["sentences-laptop", "blm-sick-r", "esim-sts-b-bert", "glue-qqp"])
def test_recipes_are_of_sentences(name: str) -> None:
    assert load_recipe(name).task.kind == "sentences"


def test_vectors_that_are_learned_begin_as_they_are(folder: Path) -> None:
    """What training has moves; what it does not have, in the vocabulary or not, stays."""
    (folder / "vectors.txt").write_text("a 1 2\nb 3 4\nq 5 6\nz 7 8\n")
    vectors = {"kind": "vectors", "name": str(folder / "vectors.txt")}
    frozen, learned = (task_of(folder, embeddings=[{**vectors, "learn": on}]) for on in (0, 1))
    torch.manual_seed(0)
    settings = BlmSettings(hidden=8, feed_forward=32)
    plain = frozen.model(cw.zoo["rnn"], settings).eval()
    model = learned.model(cw.zoo["rnn"], settings).eval()
    model.load_state_dict(plain.state_dict(), strict=False)
    rows = [(["a", "b"], ["q"]), (["z"], ["a"])]
    before = plain.outputs(frozen.batch_of(rows))
    assert torch.equal(model.outputs(learned.batch_of(rows)), before)
    [embedder] = model.embedders
    optimizer = torch.optim.SGD(model.parameters(), 1.0)
    for batch in learned.ordered("train", 3):
        model.loss(batch, ()).mean.backward()
    optimizer.step()
    words = learned.batch_of([(["a", "b", "q", "z"], ["a"])])
    now = embedder(words.sentences)[:, 0].tolist()
    assert now[0] != [1, 2]
    assert now[1] != [3, 4]
    assert now[2:] == [[5, 6], [7, 8]]
