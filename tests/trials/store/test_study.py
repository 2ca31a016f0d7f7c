"""Studies: what came out does not depend on workers, crashes, stops, kills or further drivers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from cellwright.search.blackbox.ask_tell import Method, run
from cellwright.search.blackbox.methods import method, restore
from cellwright.spaces import Enas
from cellwright.tasks.metric import Metric
from cellwright.trials.executors import Call, Executor, InProcess, Limits, LocalProcesses
from cellwright.trials.outcome import Outcome
from cellwright.trials.store import (
    Overview,
    Retries,
    Store,
    find_study,
    list_attempts,
    list_trials,
    open_store,
    overview,
    read_curves,
)
from cellwright.trials.store.drivers import Driver, join_study, lead, leave_study, remove_dead
from cellwright.trials.store.log import read_log
from cellwright.trials.store.tables import studies
from cellwright.trials.study import (
    AttemptFailed,
    Event,
    StudyError,
    StudyStopped,
    TrialFinished,
    TrialStarted,
    run_study,
)
from cellwright.trials.study.opening import open_study
from cellwright.trials.task_label import TaskLabel
from cellwright.trials.trial import Trial
from trials.evaluators import evaluate
from trials.store.helpers import set_driver

SPACE = Enas(nodes=4)
PLAIN = Call("trials.evaluators:evaluate")


def evolution(**settings: Any) -> Method:
    return method("aging-evolution", SPACE, population=6, sample=3, lag=3, **settings)


def greedy() -> Method:
    """A method whose trials depend on who ends first, unless outcomes are told in order."""
    return method("asynchronous-hyperband", SPACE, epochs=9)


def study(
    store: Store,
    method: Method,
    executor: Executor,
    trials: int,
    name: str = "s",
    call: Call = PLAIN,
    **settings: Any,
) -> Overview:
    return run_study(store, name, method, call, executor, trials=trials, **settings)


def kept(store: Store, name: str = "s") -> list[tuple[Any, ...]]:
    """Trials and outcomes, without times."""
    found = find_study(store, name)
    curves = read_curves(store, found)
    return [
        (t.number, t.cell_id, t.fidelity, t.seed, dict(t.info), t.status, t.value, curves[t.number])
        for t in list_trials(store, found)
    ]


def once_each(store: Store, count: int, name: str = "s") -> None:
    """All trials are there, ended, and told exactly once."""
    found = find_study(store, name)
    trials = list_trials(store, found)
    assert [trial.number for trial in trials] == list(range(count))
    assert {trial.state for trial in trials} <= {"finished", "failed"}
    log = store.read(lambda connection: read_log(connection, found.id))
    assert sorted(outcome["number"] for outcome in log.outcomes) == list(range(count))
    finished = [a.trial for a in list_attempts(store, found) if a.ending == "finished"]
    assert sorted(finished) == [trial.number for trial in trials if trial.state == "finished"]


@pytest.fixture(scope="module")
def two() -> Iterator[Executor]:
    """Two processes, and a limit of time for those that hang."""
    with LocalProcesses(2, limits=Limits(seconds=20)) as executor:
        yield executor


def expected(made: Method, trials: int) -> Method:
    """The same search without a store: a plain loop."""

    def in_memory(trial: Trial) -> Outcome:
        return Outcome.from_json(evaluate(trial.to_json()))

    run(made, in_memory, trials)
    return made


def test_a_study_is_the_search_that_a_plain_loop_makes(store: Store):
    found = study(store, evolution(), InProcess(), 25)
    assert found.states == {"waiting": 0, "running": 0, "finished": 25, "failed": 0}
    once_each(store, 25)
    reference = expected(evolution(), 25)
    best = reference.best()
    assert best is not None
    assert found.best is not None
    assert (found.best.number, found.best.value) == (best[0].number, best[1].value)
    kept_study = find_study(store, "s")
    log = store.read(lambda connection: read_log(connection, kept_study.id))
    state = {**kept_study.search, "trials": log.trials, "outcomes": log.outcomes}
    assert restore(state, SPACE).state() == reference.state()


def test_what_the_trials_learn_is_kept(store: Store):
    label = TaskLabel("my_tasks:names", Metric.model_validate({"name": "F1", "form": "percent"}))
    study(store, evolution(), InProcess(), 2, task=label)
    study(store, evolution(), InProcess(), 3, task=label)
    found = find_study(store, "s")
    assert (found.task, found.metric.name) == (label, "F1")


def test_data_that_has_changed_is_described(store: Store):
    metric = Metric.model_validate({"name": "F1", "form": "percent"})
    for data in ("ptb: 9 words", "ptb: 12 words"):
        call = Call("trials.evaluators:evaluate", {"fingerprint": data[-8:]})
        label = TaskLabel("my_tasks:names", metric, data)
        if data.startswith("ptb: 9"):
            open_study(store, "s", evolution(), call, None, 2, label)
            continue
        with pytest.raises(StudyError) as caught:
            open_study(store, "s", evolution(), call, None, 2, label)
    assert str(caught.value) == (
        "study 's' was begun with other data; go on with that, or choose another name\n"
        "it was\nptb: 9 words\nit is\nptb: 12 words"
    )


def test_measures_are_kept(store: Store):
    study(store, evolution(), InProcess(), 3)
    first = list_trials(store, find_study(store, "s"))[0]
    assert set(first.measures) <= {"test"}
    assert first.seconds is not None
    assert first.peak_memory is not None


@pytest.mark.parametrize("kind", ["random", "aging-evolution", "hyperband"])
def test_the_number_of_workers_does_not_matter(store: Store, two: Executor, kind: str):
    settings = {"population": 6, "sample": 3} if kind == "aging-evolution" else {}
    settings |= {"lag": 4} if kind == "aging-evolution" else {}
    for name, executor in (("one", InProcess()), ("two", two)):
        study(store, method(kind, SPACE, epochs=9, **settings), executor, 20, name)
    assert kept(store, "one") == kept(store, "two")


def test_with_a_window_it_matters_for_no_method(store: Store, two: Executor):
    for name, executor in (("one", InProcess()), ("two", two)):
        study(store, greedy(), executor, 25, name, window=4)
    assert kept(store, "one") == kept(store, "two")
    found = find_study(store, "two")
    log = store.read(lambda connection: read_log(connection, found.id))
    assert [outcome["number"] for outcome in log.outcomes] == list(range(25))


def test_a_study_goes_on_with_more_trials(store: Store):
    study(store, evolution(), InProcess(), 9)
    study(store, evolution(), InProcess(), 9)  # nothing to do
    found = study(store, evolution(), InProcess(), 20)
    assert found.attempts == 20
    once_each(store, 20)
    study(store, evolution(), InProcess(), 20, "at once")
    assert kept(store) == kept(store, "at once")


def test_a_method_that_is_finished_ends_the_study(store: Store, two: Executor):
    found = study(store, method("hyperband", SPACE, epochs=3, rounds=1), two, 1000)
    reference = expected(method("hyperband", SPACE, epochs=3, rounds=1), 1000)
    assert found.trials == len(reference.trials)
    once_each(store, found.trials)


@pytest.mark.parametrize("kinds", [["exit", "error"]])
def test_attempts_that_come_to_nothing_are_repeated(
    store: Store, two: Executor, tmp_path: Path, kinds: list[str]
):
    call = Call("trials.evaluators:often_crashing", {"folder": str(tmp_path), "kinds": kinds})
    events: list[Event] = []
    found = study(store, evolution(), two, 13, call=call, watch=events.append)
    once_each(store, 13)
    assert (found.attempts, found.wasted) == (18, 5)
    study(store, evolution(), InProcess(), 13, "undisturbed")
    assert kept(store) == kept(store, "undisturbed")
    failed = [event for event in events if isinstance(event, AttemptFailed)]
    assert sorted(event.number for event in failed) == [0, 3, 6, 9, 12]
    assert all(event.again for event in failed)
    assert {event.ending for event in failed} == {"crashed", "error"}
    assert sum(isinstance(event, TrialStarted) for event in events) == 18
    assert sum(isinstance(event, TrialFinished) for event in events) == 13


def test_trials_that_never_work_fail_and_the_study_goes_on(store: Store):
    call = Call("trials.evaluators:sometimes_broken")
    found = study(store, evolution(), InProcess(), 12, call=call, retries=Retries(failures=1))
    assert found.states == {"waiting": 0, "running": 0, "finished": 9, "failed": 3}
    assert found.attempts == 9 + 2 * 3
    once_each(store, 12)
    failed = list_trials(store, find_study(store, "s"), state="failed")
    assert [trial.number for trial in failed] == [0, 4, 8]
    assert failed[1].error is not None
    assert failed[1].error.startswith("RuntimeError: trial 4 is broken")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("broken", "the last 5 trials of study 's' have all failed; .* RuntimeError: trial"),
        ("nonsense", "an evaluator gives an outcome as JSON values"),
        ("missing", "has no attribute 'missing'"),
    ],
)
def test_a_study_in_which_everything_fails_gives_up(store: Store, function: str, message: str):
    call, retries = Call(f"trials.evaluators:{function}"), Retries(failures=0)
    with pytest.raises(StudyError, match=message):
        study(store, evolution(), InProcess(), 50, call=call, retries=retries, give_up_after=5)
    assert overview(store, find_study(store, "s")).states["failed"] >= 5


def test_a_study_keeps_its_settings(store: Store):
    study(store, evolution(), InProcess(), 2)
    for made, settings, message in (
        (evolution(seed=1), {}, r"search\.settings\.seed = 0, not 1"),
        (evolution(epochs=7), {}, r"search\.settings\.epochs = 20, not 7"),
        (greedy(), {}, r"search\.method = 'aging-evolution', not 'asynchronous-hyperband'"),
        (evolution(), {"window": 4}, "window = None, not 4"),
        (
            evolution(),
            {"call": Call("trials.evaluators:burn", {"steps": 3})},
            "evaluation.function",
        ),
    ):
        with pytest.raises(StudyError, match=message):
            study(store, made, InProcess(), 3, **settings)
    used = evolution()
    used.ask()
    with pytest.raises(StudyError, match="has not been asked yet"):
        study(store, used, InProcess(), 3)
    with pytest.raises(StudyError, match="a study has from 1 to"):
        study(store, evolution(), InProcess(), 0)


@pytest.mark.parametrize("kind", ["in process", "local processes"])
def test_ctrl_c_stops_and_the_next_run_goes_on(store: Store, two: Executor, kind: str):
    executor = two if kind == "local processes" else InProcess()
    seen: list[Event] = []

    def press(event: Event) -> None:
        seen.append(event)
        if sum(isinstance(event, TrialFinished) for event in seen) == 5:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(StudyStopped, match="the same command goes on with study 's'"):
        study(store, evolution(), executor, 15, watch=press)
    found = overview(store, find_study(store, "s"))
    assert found.states["running"] == 0
    assert found.drivers == 0
    assert 5 <= found.states["finished"] < 15
    study(store, evolution(), executor, 15)
    once_each(store, 15)
    study(store, evolution(), InProcess(), 15, "undisturbed")
    assert kept(store) == kept(store, "undisturbed")
    trials = list_trials(store, find_study(store, "s"))
    assert {(trial.failures, trial.losses) for trial in trials} == {(0, 0)}


def test_several_drivers_share_a_study(place: str):
    finished: list[list[int]] = [[], [], []]
    errors: list[BaseException] = []

    def work(mine: list[int]) -> None:
        def note(event: Event) -> None:
            if isinstance(event, TrialFinished):
                mine.append(event.number)

        try:
            with open_store(place) as store:
                study(store, evolution(), InProcess(), 24, watch=note)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in finished]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert sorted(number for mine in finished for number in mine) == list(range(24))
    with open_store(place) as store:
        once_each(store, 24)
        study(store, evolution(), InProcess(), 24, "alone")
        assert kept(store) == kept(store, "alone")
        assert overview(store, find_study(store, "s")).drivers == 0


def test_a_driver_that_is_killed_is_replaced(place: str):
    program = (
        "import os, sys; sys.path[:] = sys.argv[1].split(os.pathsep)\n"
        "from trials.store.test_study import *\n"
        "def note(event):\n"
        "    if isinstance(event, TrialFinished): print(event.number, flush=True)\n"
        "with open_store(sys.argv[2]) as store, LocalProcesses(2) as executor:\n"
        "    study(store, evolution(), executor, 30, watch=note)\n"
    )
    command = [sys.executable, "-c", program, os.pathsep.join(sys.path), place]
    for _ in range(2):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
            assert driver.stdout is not None
            for _ in range(4):
                assert driver.stdout.readline()
            driver.kill()
    with open_store(place) as store:
        assert overview(store, find_study(store, "s")).drivers == 1  # it did not say goodbye
        study(store, evolution(), InProcess(), 30)
        once_each(store, 30)
        study(store, evolution(), InProcess(), 30, "undisturbed")
        assert kept(store) == kept(store, "undisturbed")


def test_a_leader_that_was_thought_dead_writes_nothing_more(store: Store):
    """A driver is taken for dead in the middle of its work; another takes over, then it is back."""

    taken: list[int] = []

    def overtake(event: Event) -> None:
        if isinstance(event, TrialFinished) and event.number == 4:
            found = find_study(store, "s")
            other = join_study(store, found, 1, 1000.0)
            set_driver(store, Driver(leader(store), found.id, other.place, 1.0), alive_until=1.0)
            taken.append(remove_dead(store, other, Retries()))
            assert lead(store, other)
            leave_study(store, other)

    study(store, evolution(), InProcess(), 12, watch=overtake, lease=1.0)
    assert taken == [1]
    once_each(store, 12)
    study(store, evolution(), InProcess(), 12, "undisturbed")
    assert kept(store) == kept(store, "undisturbed")


def leader(store: Store) -> str:
    query = select(studies.c.leader)
    return str(store.read(lambda connection: connection.execute(query).scalar_one()))
