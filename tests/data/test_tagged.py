"""Sentences with tags: what is read from column files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cellwright.data import DataError, sentence_files, tagged
from cellwright.data import byte_lines as lines
from cellwright.data.tagged import rows
from cellwright.data.tagged.files import find_parts
from data.tagged_files import PARTS, sentences, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "small")


def test_words_tags_and_sentences(folder: Path):
    found = tagged.load(folder)
    assert sentences(found) == ["Ada/B-PER Lovelace/E-PER saw/O Rome/S-LOC", "Rome/S-LOC sleeps/O"]
    assert sentences(found, "test") == ["Ada/S-PER saw/O Paris/S-LOC"]
    assert len(found.train) == 2
    assert found.train.lengths.tolist() == [4, 2]
    assert found.tags.names == (
        "O", "B-LOC", "I-LOC", "E-LOC", "S-LOC", "B-PER", "I-PER", "E-PER", "S-PER",
    )  # fmt: skip
    with pytest.raises(IndexError):
        found.train[2]


def test_words_of_all_parts_have_numbers_and_the_counts_of_train(folder: Path):
    found = tagged.load(folder)
    counts = dict(zip(found.vocabulary.tokens, found.vocabulary.counts.tolist(), strict=True))
    assert counts == {
        "Ada": 1, "Lovelace": 1, "saw": 1, "Rome": 2, "sleeps": 1, "Paris": 0, "<unk>": 0,
    }  # fmt: skip
    assert found.parts["test"].unseen == 1
    assert found.characters.tokens[:3] == ("A", "d", "a")
    assert found.characters.counts[found.characters["P"]] == 0
    assert found.characters.counts[found.characters["e"]] == 6
    assert found.vocabulary.encode(["Rome", "London"]).tolist() == [3, found.vocabulary.unk]


@pytest.mark.parametrize(
    ("scheme", "tags"),
    [
        ("IOB1", "Ada/I-PER Lovelace/I-PER saw/O Rome/I-LOC"),
        ("BIO", "Ada/B-PER Lovelace/I-PER saw/O Rome/B-LOC"),
        ("BILOU", "Ada/B-PER Lovelace/E-PER saw/O Rome/S-LOC"),
        ("plain", "Ada/B-PER Lovelace/I-PER saw/O Rome/B-LOC"),
    ],
)
def test_the_scheme_is_chosen(folder: Path, scheme: str, tags: str):
    assert sentences(tagged.load(folder, scheme=scheme))[0] == tags


def test_what_is_described(tmp_path: Path):
    more = "a I-EVENT\nb O\nc I-PER\n\nd B-PER\ne O\n"
    train = "-DOCSTART- O\n\n" + PARTS["train"]
    found = tagged.load(write(tmp_path / "mine", train=train, test=more))
    assert found.describe().splitlines() == [
        f"mine: 11 types, 13 tags in IOBES, 16 characters, from {tmp_path / 'mine'}",
        "  train  2 sentences  6 words  3 spans",
        "    LOC 2, PER 1",
        "  valid  1 sentences  2 words  1 spans",
        "    PER 1",
        "  test   2 sentences  5 words  3 spans  5 words that train does not have (100%)",
        "    EVENT 1, PER 2",
        "  the files' tags are of several schemes: train IOB2, valid IOB2, test IOB1",
        "  test: 1 tags contradict IOB1, the first on line 5: B-PER after the sentence's start; "
        "they are read as conlleval reads them",
        "  test has spans of types that train does not have: EVENT 1",
        "  1 -DOCSTART- lines were left out",
    ]
    assert found.unseen_types("test") == {"EVENT": 1}
    assert found.tags.types == ("LOC", "PER", "EVENT")  # what train has comes first


COLUMNS = "1 Ada X B-PER\n2 saw Y O\n\n"


@pytest.mark.parametrize(
    "chosen",
    [
        {"word": 2},
        {"word": "2", "tag": "4"},
        {"word": -3, "tag": -1},
        {"columns": "id word pos ner", "word": "word", "tag": "ner"},
        {"columns": "id word pos ner", "word": 2},
    ],
)
def test_columns_by_number_and_name(tmp_path: Path, chosen: dict[str, str | int]):
    folder = write(tmp_path, train=COLUMNS, valid=COLUMNS, test=COLUMNS)
    assert sentences(tagged.load(folder, **chosen)) == ["Ada/S-PER saw/O"]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"tag": "ner"}, "tag: no column has the name 'ner'; give their names as columns="),
        ({"columns": "word pos ner", "tag": "net"}, "no column has the name 'net'; did you mean"),
        ({"columns": "a b", "word": "x"}, "no column has the name 'x'; they are a, b"),
        ({"columns": "word ner", "tag": 3}, "tag: there is no column 3 of the 2 in columns"),
        ({"columns": "a a"}, "columns has 'a' twice"),
        ({"columns": "word ner", "word": "ner"}, "word and tag are the same column, 'ner'"),
        ({"word": 0}, "word: columns are counted from 1 on"),
        ({"tag": 0}, "tag: columns are counted from 1 on"),
        ({"scheme": "IOBS"}, "unknown scheme of tags 'IOBS'; did you mean 'IOBES'"),
        ({"source": "X"}, "unknown scheme of tags 'X'"),
        ({"source": "plain", "scheme": "IOB2"}, "labels that are plain cannot be read as plain"),
        ({"separator": ","}, "separator is ','; it is one of spaces, tabs"),
        ({"documents": "no"}, "documents is 'no'; it is one of drop, keep"),
    ],
)
def test_settings_that_cannot_be(folder: Path, chosen: dict[str, str | int], message: str):
    with pytest.raises(DataError) as error:
        tagged.load(folder, **chosen)
    assert message in str(error.value)


def test_tabs_let_words_have_spaces(tmp_path: Path):
    text = "New York\tB-LOC\n\xa0\tO\n \t \nok\tO\n"
    folder = write(tmp_path, train=text, valid=text, test=text)
    found = tagged.load(folder, separator="tabs")
    assert sentences(found) == ["New York/S-LOC \xa0/O", "ok/O"]
    assert tagged.load(folder, separator="tabs").vocabulary.tokens == found.vocabulary.tokens
    with pytest.raises(DataError, match=r"line 2 has 2 columns, and should have 3"):
        tagged.load(folder)


def test_comments_and_documents(tmp_path: Path):
    text = "# id 1\na O\n# B-X\n-DOCSTART- -X- O O\nb O\n-DOCSTART-\n\n# id 2\n\nc O\n"
    folder = write(tmp_path, train=text)
    found = tagged.load(folder, comment="# ")
    assert sentences(found) == ["a/O #/S-X", "b/O", "c/O"]
    assert found.found["train"].documents == 2
    kept = tagged.load(folder, comment="# ", documents="keep")
    assert sentences(kept) == ["a/O #/S-X", "-DOCSTART-/O", "b/O", "-DOCSTART-/O", "c/O"]


@pytest.mark.parametrize(
    "names",
    [
        ["train.txt", "dev.txt", "test.txt"],
        ["ner.train.tsv", "ner.validation.tsv", "ner.test.tsv"],
        ["de-train.bio", "de-val.bio", "de-test.bio"],
        ["esp.train", "esp.testa", "esp.testb"],
        ["eng.train", "eng.testa", "eng.testb"],
        ["wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated"],
    ],
)
def test_names_of_files(tmp_path: Path, names: list[str]):
    found = find_parts([*names, "README.md", "emerging.test.conll.gz"], "here")
    assert list(found.values()) == names
    for name, text in zip(names, PARTS.values(), strict=True):
        (tmp_path / name).write_text(text)
    assert sentences(tagged.load(tmp_path), "valid") == ["Ada/S-PER sleeps/O"]


def test_valid_is_cut_from_train_where_there_is_none(tmp_path: Path):
    text = "".join(f"w{n} B-X\nand O\n\n" for n in range(200))
    first = tagged.load(write(tmp_path / "a", train=text, valid=None))
    assert first.cut
    assert [len(first.train), len(first.valid)] == [180, 20]
    everything = sentences(first) + sentences(first, "valid")
    assert sorted(everything) == sorted(f"w{n}/S-X and/O" for n in range(200))
    numbers = [int(each.split("/")[0][1:]) for each in sentences(first)]
    assert numbers == sorted(numbers)  # in their own order
    assert first.parts["valid"].unseen == 20
    assert first.vocabulary.counts[first.vocabulary["and"]] == 180
    assert "a tenth of train's sentences, drawn at random with seed 0" in first.describe()
    second = tagged.load(write(tmp_path / "b", train=text, valid=None))
    assert first.fingerprint == second.fingerprint
    assert sentences(second, "valid")[:3] == ["w6/S-X and/O", "w9/S-X and/O", "w14/S-X and/O"]


def test_the_smallest_cut(tmp_path: Path):
    found = tagged.load(write(tmp_path / "two", valid=None))
    assert [len(found.train), len(found.valid)] == [1, 1]
    with pytest.raises(DataError, match=r"has one sentence, and there is no file for .*'valid'"):
        tagged.load(write(tmp_path / "one", train="a B-X\n", valid=None))


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [("train", "saw", "met"), ("test", "Paris", "Milan"), ("valid", "B-PER", "B-LOC")],
)
def test_the_fingerprint_is_of_words_and_tags(tmp_path: Path, part: str, old: str, new: str):
    plain = tagged.load(write(tmp_path / "a")).fingerprint
    same = tagged.load(write(tmp_path / "b", ".tsv", train=PARTS["train"].replace(" ", "\t")))
    assert same.fingerprint == plain
    other = tagged.load(write(tmp_path / "c", **{part: PARTS[part].replace(old, new)}))
    assert other.fingerprint != plain


def test_blocks_of_any_size_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(0)
    text = ""
    for _ in range(60):
        length = int(rng.integers(1, 9))
        tags = rng.choice(["O", "B-X", "I-X", "I-Ü", "B-Ü"], length)
        text += "".join(f"wört{rng.integers(20)} {tag}\r\n" for tag in tags) + "\r\n"
    plain = tagged.load(write(tmp_path / "a", train=text, valid=None))
    for number, (small, few) in enumerate([(1, 1), (7, 5), (64, 30)]):
        monkeypatch.setattr(lines, "BLOCK_BYTES", small)
        monkeypatch.setattr(rows, "blocks", lambda *a, n=small: lines.blocks(*a, block_bytes=n))
        monkeypatch.setattr(rows, "BATCH", few)
        monkeypatch.setattr(sentence_files, "BLOCK", few)
        other = tagged.load(write(tmp_path / f"b{number}", train=text, valid=None))
        assert other.fingerprint == plain.fingerprint
        assert other.found == plain.found
        assert other.parts == plain.parts
