"""Settings as a space: what is drawn is what the table allows, and says so in the trial."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cellwright import zoo
from cellwright.search.blackbox.random_search import RandomSearch
from cellwright.search.blackbox.tpe import Tpe
from cellwright.spaces import Drawn, Interval, SpaceError, Tuned, Varied
from cellwright.trials.outcome import Outcome

CELLS = (zoo["lstm"], zoo["gru"])


def drawn(*varied: Varied, many: int = 300) -> list[Drawn]:
    space, rng = Tuned(CELLS, varied), np.random.default_rng(1)
    return [space.draw(rng) for _ in range(many)]


def test_every_cell_and_every_option_is_drawn():
    found = drawn(Varied("training.batch", (16, 32, 64)))
    assert {one.cell.name for one in found} == {"lstm", "gru"}
    assert {one.settings["training.batch"] for one in found} == {16, 32, 64}


def test_numbers_stay_within_their_range_and_are_spread_as_it_says():
    found = drawn(
        Varied("a", Interval(0.5, 2.0)),
        Varied("b", Interval(1e-4, 1e-2, log=True)),
        Varied("c", Interval(1, 3, whole=True)),
        Varied("d", Interval(1, 1000, log=True, whole=True)),
        many=2000,
    )
    for name, low, high in (("a", 0.5, 2.0), ("b", 1e-4, 1e-2), ("c", 1, 3), ("d", 1, 1000)):
        assert all(low <= one.settings[name] <= high for one in found)
    assert np.mean([one.settings["a"] for one in found]) == pytest.approx(1.25, abs=0.05)
    logs = [math.log10(one.settings["b"]) for one in found]
    assert np.mean(logs) == pytest.approx(-3, abs=0.05)
    assert {type(one.settings["c"]) for one in found} == {int}
    assert {one.settings["c"] for one in found} == {1, 2, 3}
    below = np.mean([one.settings["d"] < 32 for one in found])  # the middle of the logarithms
    assert below == pytest.approx(0.5, abs=0.06)


def test_a_setting_follows_another():
    found = drawn(
        Varied("hidden", (50, 75)), Varied("wide", tied_to="hidden", times=1.5),
        Varied("same", tied_to="hidden"),
    )  # fmt: skip
    assert {(one.settings["hidden"], one.settings["wide"]) for one in found} == {
        (50, 75),
        (75, 112),
    }
    assert all(one.settings["same"] == one.settings["hidden"] for one in found)


def test_a_condition_decides_whether_a_setting_is_varied():
    found = drawn(
        Varied("layers", (1, 2, 3)),
        Varied("between", Interval(0.0, 0.5), when={"layers": (2, 3)}),
        Varied("also", tied_to="between"),
    )
    for one in found:
        assert (
            ("between" in one.settings) == (one.settings["layers"] > 1) == ("also" in one.settings)
        )


def test_options_may_be_lists_and_nothing():
    found = drawn(
        Varied("task.embeddings", (["glove-50d"], [{"kind": "table"}])), Varied("b", (None, 1))
    )
    assert {str(one.settings["task.embeddings"]) for one in found} == {
        "['glove-50d']", "[{'kind': 'table'}]",
    }  # fmt: skip
    assert {one.settings["b"] for one in found} == {None, 1}


def test_what_is_trained_alike_has_the_same_key():
    one = Drawn(CELLS[0], {"a": 1, "b": 2})
    assert one.key == Drawn(CELLS[0], {"b": 2, "a": 1}).key
    assert len({one.key, Drawn(CELLS[0], {"a": 1}).key, Drawn(CELLS[1], {"a": 1, "b": 2}).key}) == 3
    assert Drawn(CELLS[0]).info == {}


def test_settings_cannot_be_mutated():
    with pytest.raises(SpaceError, match="tune with tpe, random or hyperband"):
        Tuned(CELLS, ()).mutate(CELLS[0], np.random.default_rng(0))


def test_a_condition_holds_for_one_value_and_through_others_too():
    space = Tuned(
        CELLS,
        (
            Varied("hidden", (100, 200)),
            Varied("dropout", (0.5,), when={"hidden": (200,)}),
            Varied("more", (1, 2), when={"dropout": (0.5,)}),
            Varied("gru only", (1,), when={"cell": ("gru",)}),
        ),
    )
    for make in (Tpe, RandomSearch):
        search = make(space, seed=1)
        for _ in range(30):
            trial = search.ask()
            if trial is None:  # all have been drawn
                break
            own = trial.info["settings"]
            wide = own["hidden"] == 200
            assert ("dropout" in own) == ("more" in own) == wide
            assert ("gru only" in own) == (trial.cell.name == "gru")
            search.tell(trial, Outcome(0.5))
