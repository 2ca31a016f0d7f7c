"""Methods by name: the paper's settings, other settings, and what is refused."""

from __future__ import annotations

import pytest

from cellwright.base.errors import UserError
from cellwright.bench import BenchError, pool_of
from cellwright.bench.compare.entries import Entry, check_labels, entry, paper_entries
from cellwright.bench.synthetic import synthetic
from cellwright.search.blackbox.methods import METHODS


def test_the_papers_methods_have_its_settings():
    found = paper_entries()
    assert [one.label for one in found.values()] == [
        "RS 10E", "RS 50E", "HB", "BO 10D", "BO 50D", "AE", "TPE", "SMAC",
    ]  # fmt: skip
    assert found["rs-10e"].settings == {"epochs": 10}
    assert found["rs-50e"].settings == {"epochs": 50}
    assert found["hyperband"].settings == {"epochs": 50, "eta": 3}
    assert found["bo-10d"].settings == found["bo-50d"].settings
    assert found["bo-50d"].settings == {
        "epochs": 50, "initial": 20, "batch": 10, "beta": 2.0, "regressors": 14, "trees": 100,
        "depth": 15,
    }  # fmt: skip
    assert found["ae"].settings == {
        "epochs": 50, "population": 20, "sample": 10, "replacement": False, "lag": 1,
    }  # fmt: skip
    dimensions = {"bo-10d": 10, "bo-50d": 50, "ae": 10, "tpe": 50, "smac": 10}
    for name, one in found.items():
        expected = f"graph2vec-{dimensions[name]}" if name in dimensions else None
        assert one.features == expected


def test_short_trainings_are_in_proportion_on_a_shorter_table():
    found = paper_entries(epochs=5)
    assert (found["rs-10e"].label, found["rs-10e"].settings) == ("RS 1E", {"epochs": 1})
    assert (found["rs-50e"].label, found["rs-50e"].settings) == ("RS 5E", {"epochs": 5})


def test_names_and_settings():
    assert entry("RS 10E") == entry("rs-10e") == paper_entries()["rs-10e"]
    other = entry("bo-10d: beta=1, features=50")
    assert other.label == "bo-10d: beta=1, features=50"
    assert (other.settings["beta"], other.settings["trees"]) == (1, 100)
    assert other.features == "graph2vec-50"
    assert entry("aging-evolution").settings == {"epochs": 50, "lag": 1}
    assert entry("random:distinct=false,label=with repeats").settings["distinct"] is False
    assert entry("tpe:features=mine").features == "mine"
    assert {entry(name).method for name in METHODS} == set(METHODS)


def test_an_entry_makes_its_method():
    made = entry("random:epochs=3").make(pool_of(synthetic(5, epochs=4)), seed=7)
    assert (made.epochs, made.seed) == (3, 7)
    with pytest.raises(UserError, match="epoch"):
        entry("random:epoch=3").make(made.space, 0)
    for name in ("name", "space", "self"):
        with pytest.raises(UserError, match=f"has no setting '{name}'; it has epochs"):
            entry(f"random:{name}=x").make(made.space, 0)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("hyperbad", "no method 'hyperbad'; did you mean 'hyperband'"),
        ("", "no method ''; there are"),
        ("random:epochs", "settings are setting=value"),
        ("random:=3", "settings are setting=value"),
        ("random:seed=3", "every method runs with every seed"),
        ("random:epochs=3,epochs=4", "epochs is given twice"),
        ("random:epochs=60", "has 50 epochs, not 60"),
        ("tpe:features=1.5", "features are a name or a number"),
    ],
)
def test_what_is_refused(text, problem):
    with pytest.raises(BenchError) as caught:
        entry(text)
    assert problem in str(caught.value)


def test_two_methods_of_one_label_are_refused():
    with pytest.raises(BenchError, match="two methods are called 'a'"):
        check_labels([Entry("a", "random"), Entry("b", "random"), Entry("a", "hyperband")])
