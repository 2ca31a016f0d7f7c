"""Sentences without tags: any bytes become words, and nothing of them is lost."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.data.errors import DataError
from cellwright.data.tagged import untagged
from cellwright.data.tagged.untagged import column_sentences, lines_of, text_sentences
from cellwright.data.tagged.words_of_text import words_of


@given(st.text(max_size=200))
def test_words_are_all_of_a_line_but_white_space(line: str) -> None:
    words = words_of(line)
    assert "".join(words) == "".join(line.split())
    assert all(words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Ann's dog (Rex) barked!", "Ann 's dog ( Rex ) barked !"),
        ("I can't; they’re in the U.S. now...", "I ca n't ; they ’re in the U.S. now ..."),
        ("Dr. J. R. Smith--of St. Louis", "Dr. J. R. Smith -- of St. Louis"),
        ("@ann likes #oslo, https://a.no/b?c=1.", "@ann likes #oslo , https://a.no/b?c=1 ."),
        ("$3,000.50 on 1996-08-22 at 12:30, 5%", "$ 3,000.50 on 1996-08-22 at 12:30 , 5 %"),
        ("write to a.b@c.org or example.com.", "write to a.b@c.org or example.com ."),
        ("नमस्ते दुनिया", "नमस्ते दुनिया"),
        ("O'Brien 's well-known rock'n'roll", "O'Brien 's well-known rock'n'roll"),
    ],
)
def test_words_of_text(line: str, words: str) -> None:
    assert words_of(line) == words.split(" ")
    assert words_of(words) == words.split(" ")  # what is split already stays as it is


def test_lines_of_any_bytes() -> None:
    data = b"\xef\xbb\xbfAnn\r\n\r\nB\xffb \0\x1b[1m\nlast"
    assert list(lines_of(io.BytesIO(data))) == ["Ann", "", "B�b \0\x1b[1m", "last"]


def test_lines_and_sentences_without_end_are_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untagged, "LONGEST_LINE", 8)
    monkeypatch.setattr(untagged, "MOST_WORDS", 3)
    assert list(lines_of(io.BytesIO(b"a b c d e f\ng"))) == ["a b c d ", "e f", "g"]
    assert [*text_sentences(["a b c d", ""], "spaces")] == [["a", "b", "c"], ["d"], []]
    assert [*column_sentences("abcd", 1)] == [["a", "b", "c"], ["d"]]


def test_columns() -> None:
    rows = ["-DOCSTART- -X- O", "", "1 Ann PER", "2 left O", " ", "", "1 Bob\tPER"]
    assert [*column_sentences(rows, 2)] == [["Ann", "left"], ["Bob"]]
    assert [*column_sentences(rows, -1)] == [["PER", "O"], ["PER"]]
    with pytest.raises(DataError, match="line 3 has no column 4: '1 Ann PER'"):
        list(column_sentences(rows, 4))
    with pytest.raises(DataError, match="counted from 1"):
        list(column_sentences(rows, 0))
