"""What a loss is shown as: values, words, axes, and what a controller is paid."""

import math
import subprocess
import sys

import pytest
from pydantic import ValidationError

from cellwright.tasks.language.metric import PERPLEXITY, perplexity
from cellwright.tasks.metric import LOSS, Metric

LOSSES = [0.0, 0.0825, 0.5, 1.0]
FORMS = {
    "plain": Metric(name="squared error"),
    "exponential": PERPLEXITY,
    "complement": Metric(name="Pearson", form="complement"),
    "percent": Metric(name="F1", form="percent", unit="share", items="sentences"),
}


@pytest.mark.parametrize(
    ("form", "values"),
    [
        ("plain", [0.0, 0.0825, 0.5, 1.0]),
        ("exponential", [1.0, 1.0859986616, 1.6487212707, 2.7182818285]),
        ("complement", [1.0, 0.9175, 0.5, 0.0]),
        ("percent", [100.0, 91.75, 50.0, 0.0]),
    ],
)
def test_values(form, values):
    assert [FORMS[form].value(loss) for loss in LOSSES] == pytest.approx(values)


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("plain", ["0.0000", "0.0825", "0.5000", "1.0000"]),
        ("exponential", ["1.0", "1.1", "1.6", "2.7"]),
        ("complement", ["1.000", "0.917", "0.500", "0.000"]),
        ("percent", ["100.00", "91.75", "50.00", "0.00"]),
    ],
)
def test_values_for_people(form, shown):
    assert [FORMS[form].shown(loss) for loss in LOSSES] == shown


@pytest.mark.parametrize("form", FORMS)
def test_a_lower_loss_is_better_and_shows_as_such(form):
    metric = FORMS[form]
    better, worse = metric.value(0.2), metric.value(0.3)
    assert (better > worse) == metric.higher_is_better
    assert metric.higher_is_better == (form in ("complement", "percent"))
    assert metric.best_word == ("highest" if better > worse else "lowest")
    assert metric.better_word == ("higher" if better > worse else "lower")
    assert metric.reward(0.2) > metric.reward(0.3)


@pytest.mark.parametrize(
    ("form", "name", "axis_grows", "learned_from"),
    [
        ("plain", "squared error", False, True),
        ("exponential", "log perplexity", True, True),
        ("complement", "1 − Pearson", False, False),
        ("percent", "1 − F1", False, False),
    ],
)
def test_words(form, name, axis_grows, learned_from):
    metric = FORMS[form]
    assert (metric.loss_name, metric.axis_grows) == (name, axis_grows)
    assert metric.is_learned_from == learned_from


def test_the_loss_itself():
    assert PERPLEXITY.loss_shown(4.123456) == "4.1235 nats a word"
    assert FORMS["percent"].loss_shown(0.0825) == "0.0825 share"
    assert FORMS["plain"].loss_shown(0.5) == ""  # its value says it already
    assert FORMS["complement"].loss_shown(0.5) == ""  # it has no unit


def test_a_loss_of_training_is_shown_as_what_it_is():
    assert PERPLEXITY.train_shown(1.0) == "2.7"
    assert FORMS["percent"].train_shown(1.25) == "1.2500"
    assert FORMS["percent"].train_shown(math.inf) == "∞"
    assert FORMS["percent"].train_shown(math.nan) == "–"


@pytest.mark.parametrize(
    ("form", "infinite", "shown"),
    [
        ("plain", math.inf, "∞"),
        ("exponential", math.inf, "∞"),
        ("complement", -math.inf, "-∞"),
        ("percent", -math.inf, "-∞"),
    ],
)
def test_losses_that_are_no_finite_numbers(form, infinite, shown):
    metric = FORMS[form]
    assert metric.value(math.inf) == infinite
    assert metric.shown(math.inf) == shown
    assert math.isnan(metric.value(math.nan))
    assert metric.shown(math.nan) == "–"


def test_values_that_are_too_large():
    assert perplexity(709.0) == PERPLEXITY.value(1e300) == math.inf
    assert PERPLEXITY.shown(20.0) == "5e+08"
    assert PERPLEXITY.shown(-1e300) == "0.0"
    assert PERPLEXITY.written(-3.25) == "-3.2"  # a difference of two
    assert FORMS["plain"].written(-2e6) == "-2e+06"


# -- rewards -------------------------------------------------------------------------------


def test_rewards():
    """ENAS: 80 / perplexity (Pham et al. 2018); of a share, the share itself."""
    assert PERPLEXITY.reward(math.log(40.0)) == pytest.approx(2.0)
    assert PERPLEXITY.reward(math.log(40.0), 5.0) == pytest.approx(0.125)
    for form in ("complement", "percent"):
        assert FORMS[form].reward(0.25) == 0.75
        assert FORMS[form].reward(0.25, 10.0) == 7.5
    assert FORMS["plain"].reward(0.25) == -0.25
    assert FORMS["plain"].reward(0.25, 4.0) == -1.0


@pytest.mark.parametrize("form", FORMS)
def test_an_infinite_loss_earns_no_more_than_any_other(form):
    metric = FORMS[form]
    if form == "plain":
        assert metric.reward(math.inf) == -math.inf
    else:
        assert metric.reward(math.inf) == metric.reward(math.inf, 3.0) == 0.0
    assert metric.reward(math.inf) <= metric.reward(0.999)
    assert math.isnan(metric.reward(math.nan))


# -- as data -------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_a_metric_goes_through_json(form):
    assert Metric.model_validate_json(FORMS[form].model_dump_json()) == FORMS[form]


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"name": ""},
        {"name": "F1" * 50},
        {"name": "F1", "form": "ratio"},
        {"name": "F1", "higher_is_better": True},
    ],
)
def test_what_is_no_metric(values):
    with pytest.raises(ValidationError):
        Metric.model_validate(values)


def test_what_was_measured_by_nobody_knows_what():
    assert (LOSS.name, LOSS.shown(1.5), LOSS.higher_is_better) == ("loss", "1.5000", False)


def test_metrics_need_no_torch():
    code = "import sys, cellwright.tasks.language.metric; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
