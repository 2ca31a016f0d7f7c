"""The F1 of spans: against seqeval, against conlleval's rules word by word, and by hand."""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence

import numpy as np
import pytest

from cellwright.base.errors import UserError
from cellwright.data.tagged import TagSet, convert
from cellwright.tasks.tagging.metric import F1, NOTHING, Counts, count
from cellwright.tasks.tally import NONE, Tally
from effort import many

TYPES = ("LOC", "MISC", "PER")
SCHEMES = {"IOB2": "BI", "IOBES": "BIES"}


def counts(
    scheme: str,
    true: Sequence[Sequence[str]],
    guessed: Sequence[Sequence[str]],
    unseen: Sequence[bool] | None = None,
) -> Counts:
    tags = TagSet(scheme, TYPES)
    ids = [tags.encode([tag for sentence in each for tag in sentence]) for each in (true, guessed)]
    offsets = np.cumsum([0, *map(len, true)])
    return count(tags, *ids, offsets, None if unseen is None else np.array(unseen))


def random_tags(rng: random.Random, letters: str, words: int) -> list[str]:
    """Any tags: most sequences of them are broken."""
    choices = ["O", *(f"{letter}-{type}" for letter in letters for type in TYPES)]
    return [rng.choice(choices) if rng.random() < 0.7 else "O" for _ in range(words)]


def sentence_pairs(scheme: str, number: int) -> list[tuple[list[str], list[str]]]:
    """True tags, sound in half of the cases, and guesses that have many of them."""
    rng = random.Random(f"{scheme} {number}")
    pairs = []
    for at in range(number):
        true = random_tags(rng, SCHEMES[scheme], rng.randint(1, 12))
        if at % 2:
            true = convert(true, scheme)
        other = random_tags(rng, SCHEMES[scheme], len(true))
        pairs.append(
            (true, [a if rng.random() < 0.6 else b for a, b in zip(true, other, strict=True)])
        )
    return pairs


@pytest.mark.parametrize("scheme", SCHEMES)
def test_f1_is_that_of_seqeval(scheme: str):
    metrics = pytest.importorskip("seqeval.metrics", reason="needs seqeval")
    pairs = sentence_pairs(scheme, many(1000))
    for first in range(0, len(pairs), 10):
        true, guessed = (list(each) for each in zip(*pairs[first : first + 10], strict=True))
        found = counts(scheme, true, guessed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of types that were not guessed
            report = metrics.classification_report(true, guessed, output_dict=True)
            assert found.f1 == pytest.approx(metrics.f1_score(true, guessed), abs=1e-12)
        assert found.accuracy == pytest.approx(metrics.accuracy_score(true, guessed))
        assert found.total.precision == pytest.approx(report["micro avg"]["precision"])
        assert found.total.recall == pytest.approx(report["micro avg"]["recall"])
        for type, tally in found.by_type.items():
            assert tally.f1 == pytest.approx(report[type]["f1-score"])
            assert tally.true == report[type]["support"]


ENDS = {"B": "BSO", "I": "BSO", "E": "BIESO", "S": "BIESO"}
"""Between a letter and which of the next conlleval ends a chunk of the same type."""

STARTS = {"O": "BIES", "B": "BS", "I": "BS", "E": "BIES", "S": "BIES"}
"""Between a letter and which of the next it starts one."""


def conlleval(true: list[str], guessed: list[str]) -> tuple[int, int, int]:
    """Right, guessed and true chunks, a word at a time, as the script goes through a file."""
    right = of_guessed = of_true = 0
    open_since: int | None = None
    before = [("O", ""), ("O", "")]
    for at in range(len(true) + 1):
        now = [_split(each[at]) if at < len(each) else ("O", "") for each in (true, guessed)]
        steps = list(zip(before, now, strict=True))
        ended = [b[0] != "O" and (n[0] in ENDS[b[0]] or b[1] != n[1]) for b, n in steps]
        started = [n[0] != "O" and (n[0] in STARTS[b[0]] or b[1] != n[1]) for b, n in steps]
        if open_since is not None:
            if all(ended) and before[0][1] == before[1][1]:
                right += 1
                open_since = None
            elif ended[0] != ended[1] or now[0][1] != now[1][1]:
                open_since = None
        if all(started) and now[0][1] == now[1][1]:
            open_since = at
        of_true += started[0]
        of_guessed += started[1]
        before = now
    return right, of_guessed, of_true


def _split(tag: str) -> tuple[str, str]:
    letter, _, type = tag.partition("-")
    return letter, type


@pytest.mark.parametrize("scheme", SCHEMES)
def test_counts_are_those_of_conlleval(scheme: str):
    pairs = sentence_pairs(scheme, many(1000))
    for true, guessed in pairs:
        assert counts(scheme, [true], [guessed]).total == conlleval(true, guessed), (true, guessed)


@pytest.mark.parametrize(
    ("true", "guessed", "right", "guesses", "truths"),
    [
        # Counted with a pencil.
        ("B-PER I-PER O", "B-PER I-PER O", 1, 1, 1),
        ("B-PER I-PER O", "I-PER I-PER O", 1, 1, 1),  # an I that begins is a begin
        ("B-PER I-PER O", "B-PER O O", 0, 1, 1),  # too short
        ("B-PER O O", "B-PER I-PER O", 0, 1, 1),  # too long
        ("B-PER I-PER", "B-LOC I-LOC", 0, 1, 1),  # another type
        ("B-PER I-PER", "B-PER I-LOC", 0, 2, 1),  # a change of type begins a span
        ("B-PER I-PER", "B-PER B-PER", 0, 2, 1),
        ("B-PER B-PER", "B-PER I-PER", 0, 1, 2),
        ("B-PER B-PER", "I-PER B-PER", 2, 2, 2),
        ("B-PER O B-PER", "B-PER O I-PER", 2, 2, 2),
        ("O O O", "O B-LOC I-LOC", 0, 1, 0),
        ("B-LOC I-LOC O", "O O O", 0, 0, 1),
        ("O O", "O O", 0, 0, 0),
    ],
)
def test_corner_cases(true: str, guessed: str, right: int, guesses: int, truths: int):
    found = counts("IOB2", [true.split()], [guessed.split()])
    assert found.total == Tally(right, guesses, truths) == conlleval(true.split(), guessed.split())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_batches_add_up(scheme: str):
    pairs = sentence_pairs(scheme, 60)
    rng = random.Random(0)
    words = sum(len(true) for true, _ in pairs)
    unseen = [rng.random() < 0.3 for _ in range(words)]
    whole = counts(scheme, [a for a, _ in pairs], [b for _, b in pairs], unseen)
    total, at = NOTHING, 0
    for true, guessed in pairs:
        total += counts(scheme, [true], [guessed], unseen[at : at + len(true)])
        at += len(true)
    assert total == whole
    assert whole.words == words
    assert list(whole.by_type) == list(TYPES)
    assert 0 < whole.unseen.f1 < 1


def test_spans_with_words_that_training_has_not_seen():
    true = ["B-PER", "I-PER", "O", "B-LOC", "O", "B-LOC"]
    guessed = ["B-PER", "I-PER", "O", "B-PER", "B-LOC", "B-LOC"]
    found = counts("IOB2", [true], [guessed], [False, True, True, True, False, False])
    assert found.unseen == Tally(right=1, guessed=2, true=2)
    assert counts("IOB2", [true], [guessed]).unseen == NONE
    assert counts("IOB2", [true], [guessed], [False] * 6).unseen.f1 == 0


def test_figures_by_hand():
    true = [["B-PER", "I-PER", "O", "B-LOC"], ["B-LOC", "O"]]
    guessed = [["B-PER", "I-PER", "O", "O"], ["B-PER", "O"]]
    found = counts("IOB2", true, guessed)
    assert found.total == Tally(right=1, guessed=2, true=3)
    assert found.loss == pytest.approx(1 - 0.4)
    assert F1.shown(found.loss) == "40.00"
    assert F1.higher_is_better
    figures = found.figures()
    assert figures.pop("accuracy") == pytest.approx(4 / 6)
    assert figures.pop("precision") == 0.5
    assert figures.pop("recall") == pytest.approx(1 / 3)
    assert figures == {
        "F1 of unseen words": 0.0,
        "F1 of LOC": 0.0,
        "F1 of PER": pytest.approx(2 / 3),
    }


def test_nothing_is_no_division_by_zero():
    assert (NOTHING.f1, NOTHING.loss, NOTHING.accuracy) == (0.0, 1.0, 0.0)
    empty = counts("IOB2", [["O"]], [["O"]])
    assert (empty.total.precision, empty.total.recall, empty.f1) == (0.0, 0.0, 0.0)
    assert empty.accuracy == 1.0


def test_plain_labels_have_an_f1_that_is_their_accuracy():
    tags = TagSet("plain", ("DT", "NN", "VB"))
    true, guessed = tags.encode(["DT", "NN", "VB", "NN"]), tags.encode(["DT", "NN", "NN", "NN"])
    found = count(tags, true, guessed, [0, 2, 4])
    assert found.f1 == found.accuracy == 0.75


def test_a_tag_is_missing():
    tags = TagSet("IOB2", TYPES)
    ids = tags.encode(["O", "O"])
    with pytest.raises(UserError, match=r"1 tags were guessed for 2 words in sentences of 2"):
        count(tags, ids, ids[:1], [0, 2])
