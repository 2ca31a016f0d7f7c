"""What a tagger gets wrong adds up: each span is right, mistaken, missed or invented."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.base.errors import UserError
from cellwright.data.tagged import TagSet
from cellwright.data.vocabulary import Vocabulary
from cellwright.tasks.tagging.by_frequency import Heard, by_frequency, check_same
from cellwright.tasks.tagging.guesses import Guesses
from cellwright.tasks.tagging.mistakes import Mistakes, mistakes
from cellwright.tasks.tally import Tally

TAGS = TagSet("IOBES", ("LOC", "ORG", "PER"))
WORDS = Vocabulary(["a", "b", "c", "d"], [0, 3, 20, 400])


def found(rows: list[tuple[str, str, str]], *lengths: int) -> Mistakes:
    words, true, said = zip(*rows, strict=True)
    numbers = np.array([WORDS[word] for word in words])
    ends = lengths or (len(rows),)
    return mistakes(
        TAGS,
        WORDS,
        Guesses(
            numbers,
            TAGS.encode(true).astype(np.int64),
            TAGS.encode(said).astype(np.int64),
            np.cumsum([0, *ends]),
        ),
    )


@pytest.mark.parametrize(
    ("true", "said", "kinds"),
    [
        ("S-PER O", "O O", ["missed"]),
        ("O O", "O S-PER", ["invented"]),
        ("S-PER O", "S-LOC O", ["mistyped"]),
        ("B-PER E-PER", "S-PER O", ["wrong borders"]),
        ("B-PER E-PER", "S-LOC O", ["borders and type"]),
        ("B-ORG I-ORG E-ORG", "B-LOC E-LOC S-ORG", ["wrong borders", "invented"]),
        ("S-PER S-PER", "B-PER E-PER", ["wrong borders", "missed"]),
        ("S-PER S-LOC", "S-PER S-LOC", []),
    ],
)
def test_what_is_wrong(true: str, said: str, kinds: list[str]) -> None:
    rows = [("b", one, other) for one, other in zip(true.split(), said.split(), strict=True)]
    assert [mistake.kind for mistake in found(rows).found] == kinds


def test_the_table_of_confusions_and_the_unseen() -> None:
    rows = [("a", "S-PER", "S-LOC"), ("b", "O", "O"), ("c", "B-ORG", "O"), ("a", "E-ORG", "O")]
    result = found(rows, 2, 2)
    assert result.types == ("LOC", "ORG", "PER", "O")
    assert result.confusion.tolist() == [[0, 0, 0, 0], [0, 0, 0, 2], [1, 0, 0, 0], [0, 0, 0, 1]]
    assert result.unseen == {"LOC": Tally(0, 1, 0), "ORG": Tally(0, 0, 1), "PER": Tally(0, 0, 1)}
    assert result.words(1) == ["c", "a"]
    assert [mistake.sentence for mistake in result.found] == [0, 1]


SENTENCES = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from(WORDS.tokens), st.sampled_from(TAGS.names), st.sampled_from(TAGS.names)
        ),
        min_size=1,
        max_size=8,
    ),
    min_size=1,
    max_size=5,
)


@given(SENTENCES)
def test_everything_adds_up(sentences: list[list[tuple[str, str, str]]]) -> None:
    rows = [row for sentence in sentences for row in sentence]
    result = found(rows, *map(len, sentences))
    total, by_type = result.counts.total, result.by_type()
    kinds = {kind: sum(ways[kind] for ways in by_type.values()) for ways in by_type.values()
             for kind in ways}  # fmt: skip
    right, missed, invented = (kinds.get(kind, 0) for kind in ("right", "missed", "invented"))
    mistaken = sum(kinds.values()) - right - missed - invented
    assert (right + mistaken + missed, right + mistaken + invented) == (total.true, total.guessed)
    assert result.confusion.sum() == len(rows)
    assert Tally(*(sum(column) for column in zip(Tally(), *result.unseen.values(), strict=True))) \
        == result.counts.unseen  # fmt: skip
    classes = by_frequency(Heard(TAGS, WORDS, result.guesses))
    assert sum(one.words for one in classes) == len(rows)
    assert sum(one.words_right for one in classes) == result.counts.words_right
    sums = zip(*(one.spans for one in classes), strict=True)
    assert Tally(*map(sum, sums)) == total
    assert classes[0].label == "never"
    assert classes[0].spans == result.counts.unseen


def test_a_span_counts_for_its_rarest_word() -> None:
    rows = [("d", "B-PER", "B-PER"), ("b", "E-PER", "E-PER"), ("c", "S-LOC", "O"), ("d", "O", "O")]
    classes = by_frequency(Heard(TAGS, WORDS, found(rows).guesses))
    assert [one.label for one in classes] == ["never", "1 to 9", "10 to 99", "100 or more"]
    assert [tuple(one.spans) for one in classes] == [(0, 0, 0), (1, 1, 1), (0, 0, 1), (0, 0, 0)]
    assert [(one.words, one.words_right) for one in classes] == [(0, 0), (1, 1), (1, 0), (2, 2)]


def test_only_taggers_of_the_same_data_are_compared() -> None:
    first = found([("b", "S-PER", "O")]).guesses
    other = found([("b", "S-LOC", "O")]).guesses
    check_same(Heard(TAGS, WORDS, first), Heard(TAGS, WORDS, first))
    with pytest.raises(UserError, match="different sentences or tags"):
        check_same(Heard(TAGS, WORDS, first), Heard(TAGS, WORDS, other))
