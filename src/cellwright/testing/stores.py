"""What every store has to hold: a trial is never lost, and never counted twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cellwright.cell.zoo import zoo
from cellwright.trials.store import (
    Retries,
    Store,
    StoreError,
    Study,
    create_study,
    find_study,
    has_study,
    list_studies,
    list_trials,
    open_store,
    read_curves,
)
from cellwright.trials.store.drivers import Driver, join_study, lead
from cellwright.trials.store.errors import OvertakenError
from cellwright.trials.store.log import NewTrial, Step, Told, read_ended, read_log, write_step
from cellwright.trials.store.trials import Claim, claim, end_attempt, finish

LEASE = 1000.0


def new_trial(number: int, name: str = "gru") -> NewTrial:
    """Trial `number` of a cell of the zoo."""
    cell = zoo[name]
    values = {"number": number, "cell": cell.to_json(indent=None), "fidelity": 3,
              "seed": 2**62 + number, "info": {"parent": number - 1}}  # fmt: skip
    return NewTrial(cell.id, values)


def led_study(store: Store, name: str, trials: int) -> tuple[Study, Driver]:
    """A study with so many waiting trials, and the driver that leads it."""
    study = create_study(store, name, {"method": "none"}, {"function": "a:b", "arguments": {}})
    driver = join_study(store, study, slots=2, lease=LEASE)
    assert lead(store, driver), "a driver cannot lead a study that nobody leads"
    _move(store, driver, Step(0, 0, [], [new_trial(n) for n in range(trials)], False))
    return study, driver


def outcome(value: float) -> dict[str, Any]:
    """What an evaluator gives."""
    return {"value": value, "status": "ok", "cost": 2.0, "curve": [3.0, value], "test": value + 1}


def _move(store: Store, driver: Driver, step: Step) -> None:
    store.write(lambda c: write_step(c, driver.study_id, driver.id, step))


def _claims(store: Store, driver: Driver, most: int = 1) -> list[Claim]:
    return store.write(lambda c: claim(c, driver.study_id, driver.id, "here", most))


# -- the suite -----------------------------------------------------------------------------------


def studies_are_found_by_name(place: str) -> None:
    """A name is that of one study, here and for whoever opens the store again."""
    with open_store(place) as store:
        made = create_study(store, "found", {"method": "x"}, {"function": "a:b"}, window=3)
        try:
            create_study(store, "found", {}, {})
        except StoreError:
            pass
        else:
            raise AssertionError("two studies have one name")
    with open_store(place) as store:
        assert find_study(store, "found") == made, "a study came back as another one"
        assert has_study(store, "found"), "a study was lost"
        assert not has_study(store, "never made"), "there is a study that nobody made"
        assert "found" in [study.name for study in list_studies(store)], "a study is not listed"


def trials_are_claimed_once(place: str) -> None:
    """Two drivers never get the same trial."""
    with open_store(place) as store, open_store(place) as other_store:
        study, driver = led_study(store, "claimed", 4)
        other = join_study(other_store, study, 1, LEASE)
        first, second = _claims(store, driver, 2), _claims(other_store, other, 5)
        assert [c.number for c in first] == [0, 1], "claims do not take the first trials"
        assert [c.number for c in second] == [2, 3], "a trial was claimed twice, or not at all"
        assert _claims(store, driver, 5) == [], "there is more than was asked"
        assert first[0].trial == new_trial(0).trial, "a trial came back as another one"


def an_outcome_counts_once(place: str) -> None:
    """The first outcome of a trial stays; curves and measures come back as they were."""
    with open_store(place) as store:
        study, driver = led_study(store, "counted", 1)
        (mine,) = _claims(store, driver)
        assert store.write(lambda c: finish(c, mine, outcome(1.5), 0.5, 10)), "it does not count"
        again = store.write(lambda c: finish(c, mine, outcome(9.0), 0.5, 10))
        assert not again, "a second outcome of a trial counts"
        (trial,) = list_trials(store, study)
        assert (trial.state, trial.value, trial.cost) == ("finished", 1.5, 2.0), "another outcome"
        assert trial.measures == {"test": 2.5}, "what else was measured is lost"
        assert read_curves(store, study) == {0: (3.0, 1.5)}, "the curve is lost"


def a_failed_attempt_is_tried_again_up_to_the_limit(place: str) -> None:
    """Then the trial has failed, and is told as such."""
    with open_store(place) as store:
        study, driver = led_study(store, "failed", 1)
        states = []
        for _ in range(3):
            (mine,) = _claims(store, driver)
            states.append(
                store.write(
                    lambda c, mine=mine: end_attempt(  # type: ignore[misc]
                        c, mine.trial_id, mine.attempt, "crashed", "broke", Retries(failures=2)
                    )
                )
            )
        assert states == ["waiting", "waiting", "failed"], f"attempts led to {states}"
        assert _claims(store, driver) == [], "a trial that has failed is handed out"
        (told,) = store.read(lambda c: read_ended(c, study.id))
        assert told["status"] == "failed", "a failed trial is not told as such"


def the_log_moves_on_once(place: str) -> None:
    """Who was overtaken writes nothing; the log comes back in its order."""
    with open_store(place) as store:
        study, driver = led_study(store, "log", 2)
        for mine in _claims(store, driver, 2):
            value = 2.0 - mine.number
            store.write(lambda c, m=mine, v=value: finish(c, m, outcome(v), 0.1, 1))  # type: ignore[misc]
        step = Step(2, 0, [Told(1, 2), Told(0, 2)], [new_trial(2, "lstm")], False)
        _move(store, driver, step)
        try:
            _move(store, driver, step)
        except OvertakenError:
            pass
        else:
            raise AssertionError("a step of the log was written twice")
        log = store.read(lambda c: read_log(c, study.id))
        assert [told["number"] for told in log.outcomes] == [1, 0], "told in another order"
        assert [trial["number"] for trial in log.trials] == [0, 1, 2], "trials are lost"


STORE_CHECKS: tuple[Callable[[str], None], ...] = (
    studies_are_found_by_name,
    trials_are_claimed_once,
    an_outcome_counts_once,
    a_failed_attempt_is_tried_again_up_to_the_limit,
    the_log_moves_on_once,
)


def check_store(place: str) -> None:
    """All that a store has to hold.

    Args:
        place: a file that is not there yet, or the URL of an empty database.
    """
    for check in STORE_CHECKS:
        check(place)
