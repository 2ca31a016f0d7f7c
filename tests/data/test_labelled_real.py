"""The published sets: the counts of the literature. They are looked for in CELLWRIGHT_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cellwright.data import labelled
from cellwright.data.labelled import LABELLED, read_examples

DATA = os.environ.get("CELLWRIGHT_DATA")  # before the fixture that takes it away


def place(name: str) -> Path:
    folder = next(
        (path for each in LABELLED[name].folders if (path := Path(DATA or "", each)).is_dir()), None
    )
    if DATA is None or folder is None:
        pytest.skip(f"needs {name} in CELLWRIGHT_DATA")
    return folder


def load(name: str, **options: object) -> labelled.Labelled:
    return labelled.load(name, folder=place(name), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "way", "sizes"),
    [
        ("cola", "dev-as-test", [8_551 - 855, 855, 1_043]),
        ("sst-2", "dev-as-test", [67_349 - 6_735, 6_735, 872]),
        ("mrpc", "official", [3_668, 408, 1_725]),
        ("sts-b", "official", [5_749, 1_500, 1_379]),
        ("rte", "dev-as-test", [2_490 - 249, 249, 277]),
        ("wnli", "dev-as-test", [635 - 64, 64, 71]),
        ("qnli", "dev-alone", [5_463 - 2 * 546, 546, 546]),
        ("mnli", "dev-alone", [9_815 - 2 * 982, 982, 982]),
        ("sick-r", "official", [4_500, 500, 4_927]),
        ("sick-e", "official", [4_500, 500, 4_927]),
    ],
)
def test_counts(name: str, way: str, sizes: list[int]):
    found = load(name, tokenizer="spaces")
    if found.way != way:
        pytest.skip(f"other files of {name} are here than this test knows")
    assert [len(part) for part in (found.train, found.valid, found.test)] == sizes
    assert found.as_published
    assert not any(facts.broken or facts.unlabelled for facts in found.found.values())


def test_labels_of_parts_that_were_cut_add_up():
    found = load("mnli", parts="dev-alone")
    sums = {
        label: sum(facts.labels[label] for facts in found.parts.values())
        for label in found.target.labels
    }
    assert sums == {"contradiction": 3_213, "entailment": 3_479, "neutral": 3_123}
    found = load("qnli", parts="dev-alone")
    assert sum(facts.labels["entailment"] for facts in found.parts.values()) == 2_702


def test_mrpcs_own_files_are_those_of_glue():
    folder = place("mrpc")
    glue = read_examples(folder / "train.tsv", name="mrpc")
    glue += read_examples(folder / "dev.tsv", name="mrpc")
    original = read_examples(folder / "msr_paraphrase_train.txt", name="mrpc")
    assert len(original) == 4_076
    assert sorted(glue) == sorted(original)
    assert read_examples(folder / "test.tsv", name="mrpc") == read_examples(
        folder / "msr_paraphrase_test.txt", name="mrpc"
    )


def test_sts_bs_own_files_are_those_of_glue():
    own, folder = load("sts-b"), place("sts-b")
    assert own.found["test"].file == "sts-test.csv"
    assert (own.parts["train"].lowest, own.parts["train"].highest) == (0.0, 5.0)
    for ours, theirs in (("sts-train.csv", "train.tsv"), ("sts-dev.csv", "dev.tsv")):
        first, second = (
            [tuple(map(str.strip, row)) for row in read_examples(folder / file, name="sts-b")]
            for file in (ours, theirs)
        )
        same = sum(a == b for a, b in zip(first, second, strict=True))
        assert same > 0.98 * len(first)  # GLUE has other dashes and quotation marks


@pytest.mark.parametrize("name", ["cola", "sst-2", "mrpc", "sts-b", "rte", "wnli", "qnli", "mnli"])
def test_files_for_a_submission(name: str):
    known = LABELLED[name]
    for called, path in labelled.hidden_files(name, place(name)).items():
        rows = read_examples(path, name=name, per_example=known.per_example)
        assert len(rows) == known.rows[known.hidden[called]]


def test_spacy_finds_the_words_of_sick():
    pytest.importorskip("spacy", reason="needs the extra 'sentences'")
    found = load("sick-r", tokenizer="spacy", lower=True)
    assert found.vocabulary.counts.sum() == found.parts["train"].words
    assert len(found.vocabulary) < len(load("sick-r", tokenizer="spacy").vocabulary)
