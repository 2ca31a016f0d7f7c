"""What spans tags mark, in which scheme they are, and the same spans in another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.data import DataError
from cellwright.data.tagged import TagSet, convert, spans_of
from cellwright.data.tagged.schemes import Recognition, scheme_named
from cellwright.data.tagged.spans import Marks

TYPES = ("LOC", "PER")


def spans(tags: str) -> str:
    """Spans as a word each: `PER:0-2` is of the words 0 and 1."""
    return " ".join(f"{type}:{start}-{end}" for type, start, end in spans_of(tags.split()))


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        # Found with a pencil from conlleval's rules for the start and the end of a chunk.
        ("O O", ""),
        ("B-PER I-PER O B-LOC", "PER:0-2 LOC:3-4"),
        ("I-PER I-PER O", "PER:0-2"),  # I after the sentence's start
        ("O I-PER I-PER", "PER:1-3"),  # I after O
        ("B-LOC I-PER", "LOC:0-1 PER:1-2"),  # I of another type
        ("I-LOC I-PER I-PER I-LOC", "LOC:0-1 PER:1-3 LOC:3-4"),
        ("B-PER B-PER I-PER", "PER:0-1 PER:1-3"),
        ("I-PER B-PER", "PER:0-1 PER:1-2"),
        ("B-PER I-PER B-LOC I-LOC", "PER:0-2 LOC:2-4"),
        ("B-PER O I-PER", "PER:0-1 PER:2-3"),
        ("S-PER S-PER", "PER:0-1 PER:1-2"),
        ("B-PER I-PER E-PER", "PER:0-3"),
        ("B-PER E-PER B-PER E-PER", "PER:0-2 PER:2-4"),
        ("B-PER", "PER:0-1"),  # open at the end
        ("B-PER I-PER", "PER:0-2"),
        ("B-PER S-PER", "PER:0-1 PER:1-2"),
        ("I-PER S-LOC E-LOC", "PER:0-1 LOC:1-2 LOC:2-3"),
        ("E-PER E-PER", "PER:0-1 PER:1-2"),
        ("E-PER I-PER E-PER", "PER:0-1 PER:1-3"),
        ("S-PER I-PER", "PER:0-1 PER:1-2"),
        ("O E-PER O", "PER:1-2"),
        ("B-PER E-LOC", "PER:0-1 LOC:1-2"),
        ("B-creative-work I-creative-work", "creative-work:0-2"),
        ("B I O", ":0-2"),  # spans of one type without a name
    ],
)
def test_spans_as_conlleval_counts_them(tags: str, found: str):
    assert spans(tags) == found


@st.composite
def sentences(draw: st.DrawFn) -> list[tuple[str, int, int]]:
    """Spans with words outside between some of them; the last is the end of the sentence."""
    found, at = [], 0
    for gap, length, type in draw(
        st.lists(
            st.tuples(st.integers(0, 2), st.integers(1, 4), st.sampled_from(TYPES)), max_size=6
        )
    ):
        found.append((type, at + gap, at + gap + length))
        at += gap + length
    return [*found, ("", at + draw(st.integers(0 if at else 1, 2)), 0)]


@given(sentences())
def test_spans_are_the_same_in_all_schemes(sentence: list[tuple[str, int, int]]):
    *found, (_, words, _) = sentence
    iob2 = ["O"] * words
    for type, start, end in found:
        iob2[start:end] = [f"B-{type}", *(end - start - 1) * [f"I-{type}"]]
    assert spans_of(iob2) == found
    for scheme in ("IOB1", "IOBES"):
        other = convert(iob2, scheme)
        assert spans_of(other) == found
        assert convert(other, "IOB2", scheme) == iob2
        assert convert(convert(other, "IOB1"), scheme) == other


@given(st.lists(st.sampled_from(["O", *(f"{a}-{b}" for a in "BIES" for b in TYPES)]), min_size=1))
def test_broken_tags_become_sound_ones_with_the_same_spans(tags: list[str]):
    for scheme in ("IOB1", "IOB2", "IOBES"):
        sound = convert(tags, scheme)
        assert spans_of(sound) == spans_of(tags)
        seen = recognised([sound], scheme)
        assert (seen.scheme, seen.count) == (scheme, 0)


@pytest.mark.parametrize(
    ("scheme", "tags"),
    [
        ("IOB1", "I-PER I-PER B-PER I-LOC O I-LOC"),
        ("IOB2", "B-PER I-PER B-PER B-LOC O B-LOC"),
        ("IOBES", "B-PER E-PER S-PER S-LOC O S-LOC"),
    ],
)
def test_each_scheme_as_it_is_written(scheme: str, tags: str):
    assert " ".join(convert(["B-PER", "I-PER", "B-PER", "B-LOC", "O", "B-LOC"], scheme)) == tags


def test_other_letters_mean_the_same():
    for tags in ("B-X I-X L-X U-X O", "B-X M-X E-X W-X O", "B-X M-X E-X S-X O"):
        assert convert(tags.split(), "IOBES") == ["B-X", "I-X", "E-X", "S-X", "O"]
    assert {scheme_named(name) for name in ("bilou", "BMEWO", "BIOES", "iobes")} == {"IOBES"}
    assert (scheme_named("bio"), scheme_named("iob")) == ("IOB2", "IOB1")
    with pytest.raises(DataError, match=r"unknown scheme of tags 'IOB3'; did you mean 'IOB"):
        scheme_named("IOB3")


@pytest.mark.parametrize("tag", ["NN", "B-", "-PER", "b-PER", "X-PER", "", "BPER", "0"])
def test_what_is_no_tag(tag: str):
    with pytest.raises(DataError, match=r"is no tag of any scheme"):
        spans_of(["O", tag])
    assert spans_of(["O", tag], "plain") == [("O", 0, 1), (tag, 1, 2)]


def test_a_tag_of_another_scheme_than_the_given_one():
    with pytest.raises(DataError, match=r"'E-PER' is no tag of IOB2, as O, B-TYPE or I-TYPE"):
        spans_of(["B-PER", "E-PER"], "IOB2")


def recognised(tags: list[list[str]], given: str | None = None) -> Recognition:
    names = TagSet("IOBES", TYPES)
    seen = Recognition(given)
    for sentence in tags:
        ids = names.encode(sentence)
        seen.add(names.marks(ids, np.array([0, len(ids)])), lambda at: f"word {at}")
    return seen


@pytest.mark.parametrize(
    ("tags", "scheme", "wrong"),
    [
        ("O O", "IOB2", 0),
        ("B-PER I-PER O", "IOB2", 0),
        ("I-PER I-PER O", "IOB1", 0),
        ("I-PER B-PER O I-LOC", "IOB1", 0),
        ("B-PER I-PER O B-PER I-LOC", "IOB2", 1),
        ("I-PER O I-PER O B-PER", "IOB1", 1),
        ("S-PER O", "IOBES", 0),
        ("B-PER I-PER O S-LOC", "IOBES", 1),
        ("S-PER B-PER I-PER", "IOBES", 1),  # open at the end
        ("E-PER O B-LOC", "IOBES", 2),
    ],
)
def test_recognition(tags: str, scheme: str, wrong: int):
    seen = recognised([tags.split()])
    assert (seen.scheme, seen.count) == (scheme, wrong)
    assert bool(seen.example) == bool(wrong)


def test_the_numbers_of_tags():
    tags = TagSet("IOBES", ("LOC", ""))
    assert tags.names == ("O", "B-LOC", "I-LOC", "E-LOC", "S-LOC", "B", "I", "E", "S")
    assert tags.decode(tags.encode(["S-LOC", "O", "E"])) == ["S-LOC", "O", "E"]
    ids = np.arange(len(tags))
    assert tags.ids(tags.marks(ids, np.array([0, 9]))).tolist() == ids.tolist()
    assert TagSet("plain", ("DT", "NN")).names == ("DT", "NN")
    assert "B-LOC" in tags
    assert "B-PER" not in tags
    with pytest.raises(KeyError):
        tags["B-PER"]


def test_a_sentence_does_not_go_on_in_the_next():
    tags = TagSet("IOB2", TYPES)
    ids = tags.encode(["B-PER", "I-PER", "I-PER", "O", "I-PER"])
    found = tags.spans(ids, np.array([0, 2, 2, 3, 5, 5]))  # empty sentences among them
    assert list(zip(found.start.tolist(), found.end.tolist(), strict=True)) == [
        (0, 2),
        (2, 3),
        (4, 5),
    ]
    nothing = tags.spans(ids[:0], np.array([0]))
    assert len(nothing.start) == 0
    assert isinstance(tags.marks(ids, np.array([0, 5])), Marks)
