"""A model of sentences says of any of them what is measured, in any order, and of rubbish too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import cellwright as cw
from cellwright.base.errors import UserError
from cellwright.data.labelled import Target
from cellwright.models.sentences.settings import BiRnnSettings, EsimSettings
from cellwright.tasks.detail_tables import confusion_table
from cellwright.tasks.details import Subject
from cellwright.tasks.registry import open_task
from cellwright.tasks.sentences import use
from cellwright.tasks.sentences.classes import by_length, by_score, by_unseen
from cellwright.tasks.sentences.judged import judged
from cellwright.tasks.sentences.kind import sentences_kind
from cellwright.tasks.sentences.looks import compared
from cellwright.tasks.sentences.settings import SentencesSettings
from cellwright.tasks.sentences.task import SentencesTask
from cellwright.tasks.sentences.use import Predictor
from tiny_sentences import films, pairs


def opened(data: Path, **more: object) -> SentencesTask:
    values = {
        "data": str(data),
        "embeddings": [{"kind": "table", "width": 6, "least": 1}, {"kind": "characters"}],
        **more,
    }
    task = open_task(SentencesSettings.model_validate(values))
    assert isinstance(task, SentencesTask)
    return task


def predictor_of(task: SentencesTask) -> Predictor:
    torch.manual_seed(0)
    pair = task.data.per_example == 2
    settings = EsimSettings(hidden=4) if pair else BiRnnSettings(hidden=4, layers=1)
    return Predictor(task, task.model(cw.zoo["gru"], settings))


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Predictor:
    return predictor_of(opened(films(tmp_path_factory.mktemp("films") / "data")))


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Predictor:
    folder = pairs(tmp_path_factory.mktemp("pairs") / "data")
    return predictor_of(opened(folder, first="one", second="other"))


def sentences_of(task: SentencesTask, part: str) -> list[list[str]]:
    examples = getattr(task.data, part)
    decode = task.data.vocabulary.decode
    return [[" ".join(decode(one)) for one in examples[n][0]] for n in range(len(examples))]


@pytest.mark.parametrize("part", ["train", "test"])
def test_what_is_said_is_what_is_measured(labels: Predictor, scores: Predictor, part: str) -> None:
    for predictor in (labels, scores):
        task = predictor.task
        subject = Subject("x", task, predictor.model, task.ordered(part, 7))
        measured = judged(subject)
        found = list(predictor.predict(sentences_of(task, part)))
        if task.data.target.labels:
            assert [one.label for one in found] == list(measured.named(measured.said))
            assert np.allclose([max(one.probabilities.values()) for one in found], measured.sure)
        else:
            assert np.allclose([one.score for one in found], measured.said, atol=1e-5)
        assert [list(one.sentences) for one in found] == [
            measured.texts(n) for n in range(len(found))
        ]


def test_a_run_that_has_kept_its_words_alone_says_the_same(scores: Predictor) -> None:
    kept = sentences_kind().kept
    assert kept is not None
    restored = kept.restore(scores.task.settings, kept.take(scores.task))
    assert isinstance(restored, SentencesTask)
    assert not len(restored.data.train)
    texts = [("a good film", "the plot is new"), ("Zoë", "")]
    assert [*Predictor(restored, scores.model).predict(texts)] == [*scores.predict(texts)]


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), max_size=9),
       st.integers(1, 5))  # fmt: skip
@settings(max_examples=15)
def test_any_texts_in_any_number(
    labels: Predictor, scores: Predictor, texts: list[tuple[str, str]], window: int
) -> None:
    found = list(scores.predict(texts, window=window))
    assert [one.sentences for one in found] == texts
    for one in found:
        assert one.label is None
        assert one.score is not None
        assert 1 <= one.score <= 5
    alone = [next(scores.predict([text])).score for text in texts]
    assert np.allclose(alone, [one.score for one in found], atol=1e-5)
    for one in labels.predict([first for first, _ in texts], window=window):
        assert one.label == max(one.probabilities, key=lambda label: one.probabilities[label])
        assert sum(one.probabilities.values()) == pytest.approx(1, abs=1e-5)


def test_of_long_sentences_the_first_words_count(
    scores: Predictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(use, "MOST_WORDS", 3)
    long = ("a good film " + "is dull " * 50, "x" * 5000)
    first, second = scores.predict([long, ("a good film", "x" * 1000)])
    assert first.sentences == long
    assert first.score == pytest.approx(second.score)


def test_what_is_no_example(labels: Predictor) -> None:
    for wrong in (3, None, [1], ["a", "b"], [], b"a"):
        with pytest.raises(UserError, match="an example is a sentence, not "):
            list(labels.predict([wrong]))  # type: ignore[list-item]


# -- looking at it -----------------------------------------------------------------------------


def test_new_words_are_counted(tmp_path: Path) -> None:
    folder = films(tmp_path / "data")
    rows = "sentence\tlabel\nthe film\tyes\nthe zebra film\tno\nzebra zebra\tno\n"
    (folder / "test.tsv").write_text(rows)
    for more in ({}, {"most_words": 5}):
        task = opened(folder, **more)
        found = judged(Subject("x", task, predictor_of(task).model, task.ordered("test", 2)))
        assert found.lengths.tolist() == [2, 3, 2]
        new = found.unseen.tolist()
        assert new[2] == 1
        if not more:
            assert new[:2] == pytest.approx([0, 1 / 3])
            labels = [one.label for one in by_unseen(found.unseen)]
            assert labels == ["none", "up to 50%", "more than 50%"]


def test_classes_are_all_examples_once() -> None:
    lengths = np.array([1, 9, 10, 39, 40, 79, 80, 5000])
    classes = by_length(lengths)
    assert [(one.label, one.many) for one in classes] == [
        ("1 to 9", 2), ("10 to 19", 1), ("20 to 39", 1), ("40 to 79", 2), ("80 or more", 2),
    ]  # fmt: skip
    assert sum(one.inside.astype(int) for one in classes).tolist() == [1] * 8
    true = np.array([0.0, 0.999, 1.0, 4.2, 5.0])
    found = {one.label: one.many for one in by_score(Target((), 0.0, 5.0), true)}
    assert found == {
        "0 to below 1": 2, "1 to below 2": 1, "2 to below 3": 0, "3 to below 4": 0, "4 to 5": 2,
    }  # fmt: skip
    assert len(list(by_score(Target((), -0.5, 0.5), np.array([0.0])))) == 5


def test_many_labels_are_listed_by_confusions() -> None:
    counts = np.diag(np.full(13, 5))
    counts[2, 3], counts[4, 1] = 7, 9
    names = [f"l{n}" for n in range(13)]
    found = confusion_table(names, counts.tolist(), "x", "examples", 1)
    assert found.rows == [("l4", "l1", "9")]
    assert len(confusion_table(names[:2], [[1, 2], [3, 4]], "x", "examples", 1).rows) == 2


def test_runs_that_split_words_differently_can_be_compared(tmp_path: Path) -> None:
    folder = films(tmp_path / "data")
    both = []
    for tokenizer in ("words", "spaces"):
        task = opened(folder, tokenizer=tokenizer)
        both.append(Subject("x", task, predictor_of(task).model, task.ordered("test", 9)))
    assert compared(both[0], both[1], 3).document["found"]
    rows = (folder / "test.tsv").read_text().splitlines()
    (folder / "test.tsv").write_text("\n".join([rows[0], *rows[:0:-1]]))
    task = opened(folder)
    other = Subject("x", task, predictor_of(task).model, task.ordered("test", 9))
    with pytest.raises(UserError, match="only those of the same data can be compared"):
        compared(both[0], other, 3)
