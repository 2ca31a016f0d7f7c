"""What temperature, k and p do to a model's chances, against rules written out plainly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.base.errors import UserError
from cellwright.tasks.language.word_choice import WordChoice

SCORES = np.log([0.1, 0.4, 0.05, 0.3, 0.15])


def plainly(scores: list[float], temperature: float, k: int, p: float) -> list[float]:
    """The same, word by word."""
    top = max(scores)
    weights = [math.exp((score - top) / temperature) for score in scores]
    order = sorted(range(len(scores)), key=lambda word: (-weights[word], word))
    kept = order[:k] if k else order
    if p < 1:
        total, taken, few = sum(weights[word] for word in kept), 0.0, []
        for word in kept:
            if few and taken >= p:
                break
            few.append(word)
            taken += weights[word] / total
        kept = few
    total = sum(weights[word] for word in kept)
    return [weights[word] / total if word in kept else 0.0 for word in range(len(scores))]


@given(
    scores=st.lists(st.integers(-40, 40), min_size=1, max_size=12),
    temperature=st.sampled_from([0.25, 1.0, 3.0]),
    k=st.integers(0, 14),
    p=st.sampled_from([0.0, 0.3, 0.55, 0.9, 1.0]),
)
def test_chances_are_those_of_the_rules(scores, temperature, k, p):
    scores = [score / 7 for score in scores]
    found = WordChoice(temperature, k, p).chances(np.array(scores))
    wanted = plainly(scores, temperature, k, p)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(
    "choice",
    [WordChoice(0), WordChoice(top_k=1), WordChoice(top_p=0), WordChoice(1e-300),
     WordChoice(0, top_k=3, top_p=0.5)],
)  # fmt: skip
def test_greedy_in_every_way(choice: WordChoice):
    assert choice.chances(SCORES).tolist() == [0, 1, 0, 0, 0]
    ties = np.array([1.0, 2.0, 2.0, 2.0])
    if choice.temperature != 1e-300:
        assert choice.chances(ties).tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("choice", [WordChoice(), WordChoice(top_k=0), WordChoice(top_k=99)])
def test_no_limit_is_the_softmax(choice: WordChoice):
    np.testing.assert_allclose(choice.chances(SCORES), [0.1, 0.4, 0.05, 0.3, 0.15], rtol=1e-12)


def test_p_takes_as_few_words_as_have_the_share():
    assert np.count_nonzero(WordChoice(top_p=0.39).chances(SCORES)) == 1
    assert np.count_nonzero(WordChoice(top_p=0.41).chances(SCORES)) == 2
    assert np.count_nonzero(WordChoice(top_p=0.84).chances(SCORES)) == 3
    # of the two that k leaves, the first has 4/7
    both = WordChoice(top_k=2, top_p=0.6).chances(SCORES)
    np.testing.assert_allclose(both, [0, 4 / 7, 0, 3 / 7, 0], rtol=1e-12)
    assert np.count_nonzero(WordChoice(top_k=2, top_p=0.55).chances(SCORES)) == 1


def test_what_is_forbidden_has_no_chance():
    np.testing.assert_allclose(
        WordChoice().chances(SCORES, [1]), np.array([0.1, 0, 0.05, 0.3, 0.15]) / 0.6, rtol=1e-12
    )
    assert WordChoice(0).chances(SCORES, [1]).argmax() == 3
    assert np.count_nonzero(WordChoice(top_k=4).chances(SCORES, [1])) == 4
    with pytest.raises(UserError, match="every word of the model is forbidden"):
        WordChoice(0).chances(SCORES, range(5))


def test_draws_are_as_frequent_as_their_chances():
    random = np.random.default_rng(0)
    choice = WordChoice(top_k=3)
    found = np.bincount([choice.draw(SCORES, random) for _ in range(4000)], minlength=5) / 4000
    wanted = choice.chances(SCORES)
    assert found[wanted == 0].sum() == 0
    spread = 4 * np.sqrt(wanted * (1 - wanted) / 4000)
    assert (np.abs(found - wanted) <= spread).all()


def test_a_number_at_the_very_end_still_draws_a_word_that_has_a_chance():
    class Last:
        def random(self) -> float:
            return float(np.nextafter(1, 0))

    words = {WordChoice(top_k=k).draw(SCORES, Last()) for k in range(1, 5)}  # type: ignore[arg-type]
    assert words == {1, 3, 4}


def test_scores_that_are_no_numbers_are_told():
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(UserError, match="not finite"):
            WordChoice().chances(np.array([0.0, bad]))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"temperature": -0.1}, "a temperature is a number from 0 on, not -0.1"),
        ({"temperature": math.nan}, "not nan"),
        ({"temperature": math.inf}, "not inf"),
        ({"temperature": "hot"}, "not 'hot'"),
        ({"top_k": -1}, "top_k is a whole number from 0 on, not -1"),
        ({"top_k": 1.5}, "top_k"),
        ({"top_k": True}, "top_k"),
        ({"top_p": 1.01}, "top_p is a number from 0 to 1, not 1.01"),
        ({"top_p": -0.5}, "top_p"),
        ({"top_p": Fraction(1, 2)}, "top_p"),
    ],
)
def test_what_cannot_be_is_told(setting, message: str):
    with pytest.raises(UserError, match=message):
        WordChoice(**setting)
