"""A trial is never lost and never counted twice: what every store guarantees."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import select

import cellwright as cw
from cellwright.cell.cell import rename_nodes
from cellwright.trials.store import (
    Retries,
    Store,
    list_attempts,
    list_trials,
    open_store,
    overview,
    read_curves,
)
from cellwright.trials.store.drivers import (
    join_study,
    lead,
    leave_study,
    remove_dead,
    renew,
    situation,
)
from cellwright.trials.store.errors import OvertakenError
from cellwright.trials.store.log import Told, read_ended, read_log
from cellwright.trials.store.places import Place, here
from cellwright.trials.store.tables import cells
from cellwright.trials.store.trials import LOST, STOPPED, Claim, claimed, end_attempt, finish
from trials.store.helpers import LEASE, claims, led_study, move, new_trial, outcome, set_driver

NO_PROCESS = {"pid": 2**22 + 1, "process": "1"}
"""Linux has no process of such a number."""


def end(store: Store, claim: Claim, ending: str = "crashed", retries: Retries | None = None):
    retries = retries or Retries()
    return store.write(
        lambda c: end_attempt(c, claim.trial_id, claim.attempt, ending, "it broke", retries)
    )


def keep(store: Store, claim: Claim, result=None) -> bool:
    return store.write(lambda c: finish(c, claim, result or outcome(), 0.5, 10))


def test_claims_take_the_first_waiting_trials_once(store: Store):
    study, driver = led_study(store, trials=4)
    other = join_study(store, study, 1, LEASE)
    first, second = claims(store, driver, 2), claims(store, other, 5)
    assert [claim.number for claim in first] == [0, 1]
    assert [claim.number for claim in second] == [2, 3]
    assert claims(store, driver, 5) == []
    assert first[0].trial == new_trial(0).trial
    assert {claim.attempt for claim in first + second} == {1}
    assert store.read(lambda c: claimed(c, study.id, driver.id)) == first


def test_an_outcome_counts_once(store: Store):
    study, driver = led_study(store, trials=1)
    (claim,) = claims(store, driver)
    assert keep(store, claim, outcome(1.5, parameters=7, test=1.25, curves={"train": [4.0, None]}))
    assert not keep(store, claim, outcome(9.0))
    assert end(store, claim) is None
    (trial,) = list_trials(store, study)
    assert (trial.state, trial.status, trial.value, trial.cost) == ("finished", "ok", 1.5, 2.0)
    assert (trial.seconds, trial.parameters, trial.peak_memory) == (0.5, 7, 10)
    assert trial.measures == {"test": 1.25}
    assert read_curves(store, study) == {0: (3.0, 1.5)}
    assert read_curves(store, study, [0], "train") == {0: (4.0, None)}
    (attempt,) = list_attempts(store, study)
    assert (attempt.trial, attempt.number, attempt.ending) == (0, 1, "finished")


def test_numbers_that_are_not_finite_are_kept_as_none(store: Store):
    study, driver = led_study(store, trials=1)
    (claim,) = claims(store, driver)
    bad = {"value": float("inf"), "status": "diverged", "curve": [2.0, float("nan")], "x": [1e999]}
    assert keep(store, claim, bad)
    (trial,) = list_trials(store, study)
    assert (trial.value, trial.measures) == (None, {"x": [None]})
    assert read_curves(store, study) == {0: (2.0, None)}


def test_a_failed_attempt_is_retried_up_to_the_limit(store: Store):
    study, driver = led_study(store, trials=1)
    states = []
    for attempt in (1, 2, 3):
        (claim,) = claims(store, driver)
        assert claim.attempt == attempt
        states.append(end(store, claim, "timeout", Retries(failures=2)))
    assert states == ["waiting", "waiting", "failed"]
    assert claims(store, driver) == []
    (trial,) = list_trials(store, study)
    assert (trial.state, trial.status, trial.value, trial.error) == (
        "failed", "failed", None, "it broke"
    )  # fmt: skip
    assert [a.ending for a in list_attempts(store, study)] == ["timeout"] * 3
    (told,) = store.read(lambda c: read_ended(c, study.id))
    assert (told["number"], told["status"], told["curve"]) == (0, "failed", [])


def test_losses_are_counted_apart_and_stops_not_at_all(store: Store):
    study, driver = led_study(store, trials=1)
    retries = Retries(failures=0, losses=1)
    for ending, state in ((STOPPED, "waiting"), (LOST, "waiting"), (STOPPED, "waiting")):
        (claim,) = claims(store, driver)
        assert end(store, claim, ending, retries) == state
    (claim,) = claims(store, driver)
    assert end(store, claim, LOST, retries) == "failed"
    assert list_trials(store, study)[0].losses == 2


def test_a_late_outcome_counts_unless_the_trial_was_begun_again(store: Store):
    _, driver = led_study(store, trials=2)
    first, second = claims(store, driver, 2)
    end(store, first, LOST)
    assert keep(store, first)  # nobody has begun again: what is there is welcome
    end(store, second, LOST)
    (again,) = claims(store, driver)
    assert (again.number, again.attempt) == (1, 2)
    assert not keep(store, second)
    assert end(store, second) is None
    assert keep(store, again)


def test_messages_that_databases_do_not_take_are_kept_as_far_as_possible(store: Store):
    study, driver = led_study(store, trials=1)
    (claim,) = claims(store, driver)
    message = "zero \0 and half a character \ud800" + "x" * 10_000
    store.write(lambda c: end_attempt(c, claim.trial_id, 1, "error", message, Retries(failures=0)))
    (trial,) = list_trials(store, study)
    assert trial.error is not None
    assert trial.error.startswith("zero  and half a character ?xx")


def test_the_log_is_what_was_asked_and_told(store: Store):
    study, driver = led_study(store, trials=3)
    for claim in reversed(claims(store, driver, 3)):
        keep(store, claim, outcome(None if claim.number == 1 else float(claim.number)))
    ended = store.read(lambda c: read_ended(c, study.id))
    assert [o["number"] for o in ended] == [2, 1, 0]
    more = [new_trial(3), new_trial(4)]
    move(store, driver, 3, 0, outcomes=[Told(2, 3), Told(1, 4)], new=more)
    log = store.read(lambda c: read_log(c, study.id))
    assert log.trials == [new_trial(number).trial for number in range(5)]
    assert log.outcomes == [
        {"number": 2, "trials": 3, "value": 2.0, "status": "ok", "cost": 2.0, "curve": [3.0, 1.5]},
        {
            "number": 1, "trials": 4, "value": None, "status": "diverged", "cost": 2.0,
            "curve": [3.0, 1.5],
        },
    ]  # fmt: skip
    now = store.read(lambda c: situation(c, study.id))
    assert (now.asked, now.told, now.waiting, now.ended, now.slots) == (5, 2, 2, 1, 2)


def test_equal_cells_are_kept_once_and_each_as_it_was_written(store: Store):
    gru = new_trial(0, "gru")
    names = {node.name: f"other_{node.name}" for node in cw.zoo["gru"].nodes}
    other = rename_nodes(cw.zoo["gru"], names)
    assert other.id == gru.cell_id
    text = other.to_json(indent=None)
    study, driver = led_study(store)
    move(store, driver, 0, 0, new=[gru, new_trial(1, "gru", cell=text), new_trial(2, "gru")])
    rows = store.read(lambda c: c.execute(select(cells)).all())
    assert rows == [(gru.cell_id, gru.trial["cell"])]
    log = store.read(lambda c: read_log(c, study.id))
    assert [trial["cell"] for trial in log.trials] == [gru.trial["cell"], text, gru.trial["cell"]]


def test_a_step_from_elsewhere_writes_nothing(store: Store):
    study, driver = led_study(store, trials=2)
    other = join_study(store, study, 1, LEASE)
    for who, asked, told in ((other, 2, 0), (driver, 1, 0), (driver, 2, 1), (driver, 3, 0)):
        with pytest.raises(OvertakenError):
            move(store, who, asked, told, new=[new_trial(9)])
    assert [trial.number for trial in list_trials(store, study)] == [0, 1]


def test_there_is_one_leader_until_it_is_gone(store: Store):
    study, driver = led_study(store)
    other = join_study(store, study, 1, LEASE)
    assert lead(store, driver)
    assert not lead(store, other)
    leave_study(store, driver)
    assert store.read(lambda c: situation(c, study.id)).leader is None
    assert lead(store, other)
    with pytest.raises(OvertakenError):
        move(store, driver, 0, 0, new=[new_trial(0)])
    move(store, other, 0, 0, new=[new_trial(0)])


@pytest.mark.parametrize("how", ["lease ran out", "process is gone"])
def test_the_trials_of_a_dead_driver_go_back(store: Store, how: str):
    study, driver = led_study(store, trials=2)
    claims(store, driver, 2)
    other = join_study(store, study, 1, LEASE)
    assert remove_dead(store, other, Retries()) == 0
    assert claims(store, other) == []
    set_driver(store, driver, **({"alive_until": 1.0} if how == "lease ran out" else NO_PROCESS))
    assert remove_dead(store, other, Retries()) == 1
    assert remove_dead(store, other, Retries()) == 0
    assert lead(store, other)
    assert [(c.number, c.attempt) for c in claims(store, other, 5)] == [(0, 2), (1, 2)]
    assert [trial.losses for trial in list_trials(store, study)] == [1, 1]


def test_a_process_elsewhere_is_believed_until_its_lease_runs_out(store: Store):
    study, driver = led_study(store)
    other = join_study(store, study, 1, LEASE)
    set_driver(store, driver, place="another machine", **NO_PROCESS)
    assert remove_dead(store, other, Retries()) == 0


def test_a_driver_that_was_thought_dead_gets_nothing_until_it_is_back(store: Store):
    study, driver = led_study(store, trials=1)
    other = join_study(store, study, 1, LEASE)
    set_driver(store, driver, alive_until=1.0)
    assert remove_dead(store, other, Retries()) == 1
    assert claims(store, driver) == []
    assert not renew(store, driver, slots=2)
    assert renew(store, driver, slots=2)
    assert len(claims(store, driver)) == 1


def test_leaving_puts_trials_back_without_counting(store: Store):
    study, driver = led_study(store, trials=1)
    claims(store, driver)
    leave_study(store, driver)
    (trial,) = list_trials(store, study)
    assert (trial.state, trial.failures, trial.losses) == ("waiting", 0, 0)


def test_many_writers_share_the_trials_without_a_gap_or_a_repeat(place: str):
    count = 40
    with open_store(place) as store:
        study, _ = led_study(store, trials=count)
    kept: list[int] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            with open_store(place) as store:
                driver = join_study(store, study, 2, LEASE)
                while got := claims(store, driver, 2):
                    for claim in got:
                        if keep(store, claim):
                            kept.append(claim.number)
                        assert not keep(store, claim)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert sorted(kept) == list(range(count))
    with open_store(place) as store:
        found = overview(store, study)
    assert found.states == {"waiting": 0, "running": 0, "finished": count, "failed": 0}
    assert (found.attempts, found.wasted) == (count, 0)


def test_a_place_knows_its_own_process_and_its_end():
    assert here().has_ended() is False
    assert Place("h", here().machine, **NO_PROCESS).has_ended() is True
    assert Place("h", here().machine, here().pid, "another start").has_ended() is True
    assert Place("h", "another machine", **NO_PROCESS).has_ended() is None
