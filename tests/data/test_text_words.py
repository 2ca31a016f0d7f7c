"""What a word is, in any script."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.data.texts.words import LONGEST, SPACE, TOKENS, marks, tokenizer


def words(text: str, tokens: str = "words", lower: bool = False, numbers: bool = False) -> str:
    lines = tokenizer(tokens, lower, numbers)(text)
    return " | ".join(" ".join(line) for line in lines)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, world!", "Hello , world !"),
        ("don't stop -- it’s well-known", "don't stop - - it’s well-known"),
        ("'quoted' and-", "' quoted ' and -"),
        ("3,000.50 at 1.5, v1.x", "3,000.50 at 1.5 , v1 . x"),
        ("snake_case <unk> <eos>", "snake _ case < unk > < eos >"),
        ("cafe\u0301 nai\u0308ve", "cafe\u0301 nai\u0308ve"),
        ("中文很好。OK", "中 文 很 好 。 OK"),
        ("日本語のテスト", "日 本 語 の テ ス ト"),
        ("한국어 문장", "한국어 문장"),
        ("हिन्दी भाषा", "हिन्दी भाषा"),
        ("สวัสดี 25", "ส วั ส ดี 25"),
        ("مرحبا، بالعالم", "مرحبا ، بالعالم"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("ok ❤\ufe0f👍", "ok ❤\ufe0f 👍"),
        ("a\u00a0b\u3000c\u2028d\x0ce", "a b c d e"),
        (" \t ", ""),
    ],
)
def test_words(text: str, expected: str):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("tokens", "text", "expected"),
    [
        ("spaces", "As it, stands.  <unk>", "As it, stands. <unk>"),
        ("spaces", "one <eos> two <eos>", "one | two"),
        ("spaces", "<eos>", ""),
        ("characters", "  To  be\t", f"T o {SPACE} b e"),
        ("characters", "<unk>", "< u n k >"),
    ],
)
def test_other_ways(tokens: str, text: str, expected: str):
    assert words(text, tokens) == expected


@pytest.mark.parametrize("tokens", ["words", "spaces"])
def test_lower_case_and_numbers(tokens: str):
    text = "In 1987 THE 30-year bonds ٣٤ N"
    assert words(text, tokens, lower=True, numbers=True) == "in N the N-year bonds N n"
    assert words("a 12", "characters", numbers=True) == f"a {SPACE} N"


def test_what_is_too_long_for_a_word_is_unknown():
    assert words("a " + "b" * LONGEST) == "a " + "b" * LONGEST
    assert words("a " + "b" * (LONGEST + 1)) == "a <unk>"


def test_all_marks_of_unicode_are_known():
    every = {
        code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code))[0] == "M"
    }
    found: set[int] = set()
    text = marks()
    for at in range(0, len(text), 3):
        found |= set(range(ord(text[at]), ord(text[at + 2]) + 1))
    assert found == every


@settings(max_examples=40)
@given(st.text(max_size=30), st.sampled_from(TOKENS), st.booleans(), st.booleans())
def test_words_have_no_white_space_and_nothing_is_lost(
    text: str, tokens: str, lower: bool, numbers: bool
):
    lines = tokenizer(tokens, lower, numbers)(text)
    for word in (word for line in lines for word in line):
        assert word.split() == [word]
    if not (lower or numbers or "<eos>" in text):
        joined = "".join(word for line in lines for word in line)
        assert joined.replace(SPACE, "") == "".join(text.split()).replace(SPACE, "")
