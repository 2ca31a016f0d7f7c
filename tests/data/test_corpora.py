"""What a user gets from `load`: the right tokens, under the right numbers."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from cellwright import data
from cellwright.data import DataError, batchify, builtin
from cellwright.data.sources import find_parts

DATA = os.environ.get("CELLWRIGHT_DATA")


def test_words_are_numbered_as_they_first_occur_in_train(write):
    corpus = data.load(write())
    words = ["the", "cat", "sat", "<eos>", "dog", "ran", "a", "<unk>"]
    assert list(corpus.vocabulary) == words
    assert corpus.vocabulary.counts.tolist() == [2, 2, 1, 4, 1, 2, 1, 0]
    assert corpus.train.tolist() == [0, 1, 2, 3, 0, 4, 5, 3, 3, 6, 1, 5, 3]
    assert corpus.vocabulary.decode(corpus.test) == ["a", "cat", "sat", "<eos>"]
    assert corpus.lines == {"train": 4, "valid": 1, "test": 1}
    assert corpus.unknown == {"train": 0, "valid": 0, "test": 0}
    assert (corpus.vocabulary.eos, corpus.vocabulary.unk) == (3, 7)


def test_tokens_are_mapped_and_cannot_be_written(write):
    corpus = data.load(write())
    assert isinstance(corpus.train, np.memmap)
    assert corpus.train.dtype == np.int32
    with pytest.raises(ValueError, match=r"read-only"):
        corpus.train[0] = 1


def test_words_that_train_lacks_are_unknown_and_counted(write):
    corpus = data.load(write(valid=b"the bird sang <unk>\n", test=b"the cow\n"))
    unk = corpus.vocabulary.unk
    assert corpus.vocabulary.tokens[unk] == "<unk>" == corpus.vocabulary.tokens[-1]
    assert corpus.valid.tolist() == [0, unk, unk, unk, corpus.vocabulary.eos]
    assert corpus.unknown == {"train": 0, "valid": 2, "test": 1}
    assert "2 words that train does not have" in corpus.describe()


def test_an_unk_that_train_has_keeps_its_number(write):
    corpus = data.load(write(train=b"a <unk> b\n", valid=b"<unk> z\n"))
    assert corpus.vocabulary.unk == 1
    assert corpus.valid.tolist() == [1, 1, 3]
    assert (len(corpus.vocabulary), corpus.unknown["valid"]) == (4, 1)


@pytest.mark.parametrize(
    "form", ["{}.txt", "ptb.{}.txt", "wiki.{}.tokens", "my.{}.txt", "de-{}.text", "eng.{}"]
)
def test_file_names(write, form: str):
    assert len(data.load(write(form=form)).train) == 13


def test_file_names_that_are_taken_before_others():
    names = [f"ptb.{kind}{part}.txt" for part in data.PARTS for kind in ("", "char.")]
    assert find_parts(names, "x")["valid"] == "ptb.valid.txt"
    assert find_parts(["Train.TXT", "dev.txt", "test.txt"], "x")["valid"] == "dev.txt"
    with pytest.raises(DataError, match=r"a.train.txt and b.train.txt could be the part 'train'"):
        find_parts(["a.train.txt", "b.train.txt", "valid.txt", "test.txt"], "x")
    for odd in ("train.txt.gz", "train.json", "training_set", ".train.txt"):
        with pytest.raises(DataError, match=r"no file for the part 'train'"):
            find_parts([odd, "valid.txt", "test.txt"], "x")


def test_where_a_name_is_looked_for(write, cache: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(DataError, match=r"ptb is not on this machine.*cellwright data get ptb"):
        data.load("ptb")
    folder = write("ptb", form="ptb.{}.txt")
    assert data.load("ptb", folder=folder).where == str(folder)
    assert data.load("ptb", folder=folder.parent).where == str(folder)
    monkeypatch.setenv("CELLWRIGHT_DATA", str(folder.parent))
    corpus = data.load("ptb")
    assert corpus.where == str(folder)
    assert corpus.as_published is False
    assert "not the published counts" in corpus.describe()


@pytest.mark.usefixtures("whole_builtin")
def test_builtin_is_here_and_the_same_each_time(cache: Path):
    corpus = data.load("builtin")
    assert sum(corpus.tokens.values()) > 90_000
    assert 2_000 < len(corpus.vocabulary) < 5_000
    assert all(count > 5_000 for count in corpus.tokens.values())
    assert corpus.tokens["train"] > 0.75 * sum(corpus.tokens.values())
    assert corpus.unknown == {"train": 0, "valid": 0, "test": 0}
    assert builtin.texts() == builtin.texts()


def test_builtin_keeps_copies_of_a_section_in_one_part():
    sections = [f"Section {i}\n***********\n\nText {i} of it.\n" for i in range(60)]
    alone = {f"topic{i:02}": text for i, text in enumerate(sections)}
    everything = {"all": "\n".join(sections).replace("*", "="), **alone}
    lines = {part: set(text.splitlines()) for part, text in builtin.texts(everything).items()}
    assert all(lines.values())
    assert not lines["train"] & (lines["valid"] | lines["test"]) - {b"section N", b"text N of it ."}
    parts = {builtin.part_of(f"Section {i}") for i in range(60)}
    assert parts == {"train", "valid", "test"}


def test_columns_of_a_batch_are_running_text():
    stream = np.arange(100, dtype=np.int32)
    batch = batchify(stream, 7)
    assert batch.shape == (14, 7)
    for column in range(7):
        assert batch[:, column].tolist() == list(range(14 * column, 14 * column + 14))
    assert np.shares_memory(batch, stream)


@pytest.mark.parametrize(("length", "batch"), [(0, 1), (1, 1), (19, 10), (5, 0), (5, -1)])
def test_a_batch_that_cannot_be(length: int, batch: int):
    with pytest.raises(DataError, match=r"batch"):
        batchify(np.zeros(length, dtype=np.int32), batch)


@pytest.mark.skipif(DATA is None, reason="needs PTB and WikiText-2; set CELLWRIGHT_DATA")
@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("ptb", {"train": 42068, "valid": 3370, "test": 3761}),
        ("wikitext-2", {"train": 36718, "valid": 3760, "test": 4358}),
    ],
)
def test_published_counts(name: str, lines: dict[str, int], monkeypatch: pytest.MonkeyPatch):
    assert DATA is not None
    monkeypatch.setenv("CELLWRIGHT_DATA", DATA)
    corpus = data.load(name)
    published = data.KNOWN[name].published
    assert published is not None
    assert corpus.tokens == {part: getattr(published, part) for part in data.PARTS}
    assert len(corpus.vocabulary) == published.types
    assert corpus.lines == lines
    assert corpus.as_published is True
    assert int(corpus.vocabulary.counts.sum()) == published.train
