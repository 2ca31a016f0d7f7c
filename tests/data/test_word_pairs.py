"""Files of word pairs: what is read, and what is told of lines that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellwright.data import DataError
from cellwright.data.word_pairs import load_pairs


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "mine.tsv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        "# a comment\ntiger\tcat\t7.35\n\nice cream\tcup\t1e0\n",
        "tiger,cat,7.35\r\nice cream, cup ,1\r\n",
        b"\xef\xbb\xbftiger\tcat\t7.35\nice cream\tcup\t1",
    ],
)
def test_tabs_commas_comments_and_line_ends(tmp_path: Path, text: str | bytes):
    found = load_pairs(written(tmp_path, text))
    assert found.name == "mine"
    assert found.words == (("tiger", "cat"), ("ice cream", "cup"))
    assert found.scores.tolist() == [7.35, 1.0]


def test_white_space_where_there_is_neither_tab_nor_comma(tmp_path: Path):
    assert load_pairs(written(tmp_path, "old  new 1.58\n")).words == (("old", "new"),)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a\tb\t1\na\tb\n", "line 2: expected two words and a number"),
        ("a\tb\t1\t2\n", "line 1: expected two words and a number"),
        ("\tb\t1\n", "line 1: expected two words"),
        ("word1\tword2\tscore\n", r"line 1: 'score' is not a number; .* begin with #"),
        ("a\tb\t1\na\tb\tnan\n", "line 2: 'nan' is not a number$"),
        ("# nothing\n\n", "no word pairs"),
        (b"a\tb\xff\t1\n", "not UTF-8"),
    ],
)
def test_a_bad_line_is_told(tmp_path: Path, text: str | bytes, told: str):
    with pytest.raises(DataError, match=told):
        load_pairs(written(tmp_path, text))


def test_what_is_not_a_file_is_told(tmp_path: Path):
    with pytest.raises(DataError, match="did you mean 'simlex999'"):
        load_pairs("simlex99")
    with pytest.raises(DataError, match="there is no file"):
        load_pairs(tmp_path / "no.tsv")
    with pytest.raises(DataError, match="is a folder"):
        load_pairs(tmp_path)


@pytest.mark.parametrize(("name", "pairs"), [("wordsim353", 353), ("simlex999", 999)])
def test_the_known_sets_come_with_gensim(monkeypatch, name: str, pairs: int):
    pytest.importorskip("gensim", reason="gensim is not installed (extra: search)")
    monkeypatch.delenv("CELLWRIGHT_DATA", raising=False)
    found = load_pairs(name)
    assert len(found) == pairs
    assert 0 <= found.scores.min() < found.scores.max() <= 10


def test_a_known_set_of_the_data_folder_goes_before_gensims(tmp_path: Path, monkeypatch):
    (tmp_path / "wordsim").mkdir()
    (tmp_path / "wordsim" / "wordsim353.tsv").write_text("tiger\tcat\t7.35\n")
    monkeypatch.setenv("CELLWRIGHT_DATA", str(tmp_path))
    assert len(load_pairs("wordsim353")) == 1


def test_a_known_set_that_is_nowhere_is_told(monkeypatch):
    monkeypatch.delenv("CELLWRIGHT_DATA", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"cellwright\[search\]"):
        load_pairs("wordsim353")
