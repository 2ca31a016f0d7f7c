"""Classes of the user's own as methods: right ones are methods, wrong ones are named."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import own_methods
from cellwright.base.errors import UserError
from cellwright.search.blackbox.ask_tell import SearchError, run
from cellwright.search.blackbox.methods import METHODS, method, method_kind, restore
from cellwright.search.blackbox.own.guard import OwnMethodError
from cellwright.spaces import Enas, Pool, space
from cellwright.testing import METHOD_CHECKS, check_method, check_space
from cellwright.testing.methods import TRIALS, described, evaluated, work
from cellwright.trials.trial import Trial

FILE = Path(own_methods.__file__)
ENAS = Enas(nodes=4)
RIGHT = ["Climb", "Halving", "Trials", "Own"]


def named(name: str) -> str:
    return f"{FILE}:{name}"


def make(name: str, **settings: Any) -> partial[Any]:
    return partial(method, named(name), ENAS, **settings)


@pytest.mark.parametrize("check", METHOD_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", RIGHT)
def test_right_ones_hold_what_a_method_has_to_hold(name: str, check):
    check(make(name))


@pytest.mark.parametrize("name", ["Climb", "Halving", "Trials"])
def test_the_number_of_workers_does_not_matter(name: str):
    one = described(work(make(name)(seed=3), TRIALS, 1))
    for workers, seed in ((2, 0), (8, 1)):
        other = work(make(name)(seed=3), TRIALS, workers, random.Random(seed))
        assert described(other) == one


@pytest.mark.parametrize("wanted", [named("Climb"), "own_methods:Climb", own_methods.Climb])
def test_a_class_is_named_by_file_by_module_or_is_there(wanted):
    found = method(wanted, ENAS, seed=2, patience=1, epochs=7)
    assert found.source.file == str(FILE)
    assert len(found.source.sha256) == 64
    assert (found.name, found.ask().fidelity) == (f"own_methods{found.name[11:]}", 7)
    assert found.name in ("own_methods.py:Climb", "own_methods:Climb")


def test_check_method_takes_the_class_and_its_settings():
    check_method(own_methods.Climb, patience=1)
    with pytest.raises(UserError, match="has no setting 'patients'; did you mean 'patience'"):
        check_method(named("Climb"), patients=1)


def test_settings_are_kept_and_the_rest_is_the_classes():
    state = json.loads(json.dumps(make("Halving", epochs=27, lag=3)(seed=4).state()))
    assert state["settings"] == {"epochs": 27, "seed": 4, "lag": 3}
    assert state["method"] == "own_methods.py:Halving"
    assert set(state["source"]) == {"file", "sha256"}
    assert method_kind(named("Halving")).epochs == 9  # as its constructor has it
    assert method_kind(named("Climb")).epochs == 50


def test_more_epochs_go_on_with_the_training():
    made = make("Halving", lag=4)(seed=1)
    run(made, evaluated, 13)
    shorter = made.trials[9].info["continues"]
    assert made.trials[9].seed == made.trials[shorter].seed
    assert [trial.fidelity for trial in made.trials[:13]] == [1] * 9 + [3] * 3 + [9]
    assert made._object.nones > 0  # it asked to wait, and that was no end


def test_trials_of_the_classes_own_keep_their_seeds_and_notes():
    trials = work(make("Trials")(seed=1), 3)
    assert [trial.number for trial in trials] == [0, 1, 2]
    assert {trial.info["note"] for trial in trials} == {"mine"}
    assert len({trial.seed for trial in trials}) == 3


def test_a_search_that_says_so_is_finished():
    made = make("Few")(seed=1)
    assert len(work(made, 10)) == 3
    assert made.finished
    assert made.ask() is None


def test_a_state_alone_runs_nobodys_code():
    made = make("Climb")(seed=1)
    work(made, 5)
    with pytest.raises(
        SearchError, match=r"own_methods.py:Climb, a method of one's own: say which"
    ):
        restore(made.state(), ENAS)
    again = restore(made.state(), ENAS, named("Climb"))
    assert described(again.trials) == described(made.trials)


def test_what_is_printed_does_not_go_to_standard_output(capsys):
    work(make("Prints")(seed=1), 2)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Raises", r"ask\(\) for trial 0 raised KeyError: 'no such' \(own_methods.py, line \d+: "
                   r'return \{\}\["no such"\]\)'),
        ("TellRaises", r"tell\(\) for trial 0 raised AttributeError: .*losss.* line \d+: ret"),
        ("Nones", r"ask\(\) for trial 0 gave None, .* finished .*own_methods.py, line \d+"),
        ("NoCell", r"trial 0 gave 'lstm', and should give a Cell.*\(own_methods.py, line \d+\)"),
        ("Outside", r"trial 0 gave a cell that space 'enas' does not have: <Cell 'darts-v1'"),
        ("TooLong", r"wants 51 epochs; .* from 1 to 50 \(own_methods.py, line \d+\)"),
        ("Hangs", r"took more than 0.05 seconds \(own_methods.py, line \d+: .*answer_seconds"),
        ("Leaves", r"ask\(\) for trial 0 raised SystemExit: bye"),
        ("Unmade", r"Unmade\(…\) raised RuntimeError: not today \(own_methods.py, line \d+"),
        ("NoSeed", r"lacks the argument seed; it is made as NoSeed\(space, seed=…, \*\*settings\)"),
        ("NoSpace", r"does not take the space first"),
        ("NoTell", r"has no tell\(\); a search method is a class with ask\(\) and tell\(\)"),
        ("OddTell", r"tell\(cell\) should take two arguments, such as"),
        ("not_a_class", "is 3, and should be a class"),
        ("Broken", r"ask\(\) for trial 0 raised IndexError: .* line \d+: return \[\]\[number\]"),
    ],
)  # fmt: skip
def test_what_a_class_does_wrong_is_named(name: str, says: str):
    with pytest.raises(OwnMethodError, match=says) as caught:
        work(method(named(name), ENAS, seed=1, **({} if name == "Broken" else {"lag": 1})), 3)
    assert str(caught.value).startswith(f"own_methods.py:{name}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "settings", "says"),
    [
        ("Climb", {"patients": 1}, "has no setting 'patients'; did you mean 'patience'"),
        ("Climb", {"lag": 0}, "lag must be a whole number"),
        ("Climb", {"epochs": 0}, "epochs must be a whole number"),
        ("Climb", {"patience": {"a": 1}}, "patience should be a number, a word, a cell or a list"),
        ("Needs", {}, "needs the setting 'temperature', which has no default"),
        ("Own", {"distnct": True}, "did you mean 'distinct'"),
        ("Own", {"distinct": 1}, "distinct must be true or false"),
        ("Clim", {}, "has no attribute 'Clim'; did you mean 'Climb'"),
    ],
)
def test_settings_that_are_wrong_are_named(name, settings, says):
    with pytest.raises(UserError, match=says):
        method(named(name), ENAS, **settings)


def test_draws_that_are_not_the_seeds_are_noticed_when_a_search_goes_on():
    made = make("Chance")(seed=1)
    work(made, 5)
    with pytest.raises(OwnMethodError, match=r"for trial 0, and gave cell .* before"):
        type(made).from_state(made.state(), ENAS)


def test_trials_that_cannot_be_are_refused():
    class Bad(own_methods.Climb):
        info: Any = None

        def ask(self):
            return Trial(0, super().ask(), 5, 7, self.info)

    for info, says in (
        ({"continues": 0}, "cannot go on with trial 0"),
        ({"continues": "0"}, "cannot go on with trial '0'"),
        ({"x": object()}, "should be JSON values"),
    ):
        Bad.info = info
        with pytest.raises(OwnMethodError, match=says):
            method(Bad, ENAS).ask()


def test_a_cell_that_a_table_does_not_have():
    pool = Pool([ENAS.sample(__import__("numpy").random.default_rng(n)) for n in range(3)])
    with pytest.raises(OwnMethodError, match="that space 'pool' does not have"):
        method(named("Outside"), pool).ask()
    with pytest.raises(
        OwnMethodError, match=r"raised SpaceError: this pool has no features.* line"
    ):
        work(method(named("Climb"), pool, lag=1), 3)


def test_names_that_come_with_cellwright_go_first():
    assert method_kind("random") is METHODS["random"]
    assert method_kind(METHODS["random"]) is METHODS["random"]
    with pytest.raises(UserError, match=r"no method 'mine.py'.*named file.py:NAME or module:NAME"):
        method("mine.py", ENAS)


# -- spaces ------------------------------------------------------------------------------------

SPACES = """
from dataclasses import dataclass
from cellwright.spaces import Enas, Space

@dataclass(frozen=True)
class Small(Enas):
    nodes: int = 3

class Unfinished(Space):
    pass

class Fails(Enas):
    def __init__(self, nodes=1):
        raise RuntimeError("no")

number = 3
"""


def test_a_space_of_a_file(tmp_path: Path):
    file = tmp_path / "mine.py"
    file.write_text(SPACES)
    found = space(f"{file}:Small", nodes=2)
    assert (found.name, found.settings()["nodes"]) == ("mine.py:Small", 2)
    check_space(space(f"{file}:Small"))
    before = method("random", found).state()["space"]
    file.write_text(SPACES + "# changed\n")
    after = method("random", space(f"{file}:Small", nodes=2)).state()["space"]
    assert before["sha256"] != after["sha256"]
    for name, says in (
        ("number", "should be a subclass of Space"),
        ("Unfinished", "lacks contains, mutate, sample"),
        ("Fails", r"cannot be made: RuntimeError: no \(mine.py, line 14"),
        ("Smal", "did you mean 'Small'"),
    ):
        with pytest.raises(UserError, match=says):
            space(f"{file}:{name}")
    with pytest.raises(UserError, match="did you mean 'nodes'"):
        space(f"{file}:Small", node=2)
