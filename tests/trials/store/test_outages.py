"""Stores that go away while a study runs: it is said, tried again, and can be stopped."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import event as database_events

from cellwright.trials.executors import Ended, InProcess, LocalProcesses
from cellwright.trials.store import Store, StoreError, find_study, open_store, overview, patience
from cellwright.trials.store import connect as connecting
from cellwright.trials.store.errors import StoreAwayError
from cellwright.trials.study import (
    Event,
    StoreBack,
    StoreLost,
    StudyStopped,
    TrialFinished,
    TrialStarted,
    driver,
)
from cellwright.trials.study.unwritten import Unwritten
from trials.postgres import NoServerError, Server, emptied, server
from trials.store.test_study import evolution, kept, once_each, study

TRIALS = 8


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "_LAST", 0.05)


@pytest.fixture(scope="module")
def postgres_server() -> Iterator[Server]:
    """A server of these tests alone, which stop it."""
    try:
        context = server()
        found = context.__enter__()
    except NoServerError as error:
        pytest.skip(str(error))
    try:
        yield found
    finally:
        context.__exit__(None, None, None)


@pytest.fixture
def store(postgres_server: Server) -> Iterator[Store]:
    """A new store on it."""
    with open_store(emptied(postgres_server.url)) as opened:
        yield opened


class Watch:
    """Does something when trial 3 has ended, and when the store is lost; keeps what was said."""

    def __init__(self, then: Callable[[], None], lost: Callable[[], None]) -> None:
        self._then, self._lost = then, lost
        self.said: list[StoreLost | StoreBack] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, TrialFinished) and event.number == 3:
            self._then()
        if isinstance(event, StoreLost | StoreBack):
            self.said.append(event)
        if isinstance(event, StoreLost):
            self._lost()


def ignore() -> None:
    pass


def press(number: signal.Signals = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


def goes_on_as_if_nothing_had_been(store: Store) -> None:
    study(store, evolution(), InProcess(), TRIALS)
    once_each(store, TRIALS)
    study(store, evolution(), InProcess(), TRIALS, "undisturbed")
    assert kept(store) == kept(store, "undisturbed")


# -- a server that is gone -----------------------------------------------------------------------


def test_a_server_that_comes_back(store: Store, postgres_server: Server):
    watch = Watch(postgres_server.stop, postgres_server.start)
    study(store, evolution(), InProcess(), TRIALS, watch=watch)
    lost, back = watch.said
    assert isinstance(lost, StoreLost)
    assert lost.seconds == patience.AT_WORK
    assert lost.message.startswith(f"the store {store.title} does not answer: ")
    assert "is it running" in lost.message
    assert lost.message.endswith("it is tried again for 5 min 00 s")
    assert isinstance(back, StoreBack)
    assert back.message.startswith(f"the store {store.title} is back, after ")
    goes_on_as_if_nothing_had_been(store)
    assert overview(store, find_study(store, "s")).attempts == TRIALS  # nothing was run twice


def test_what_ends_meanwhile_is_written_when_it_is_back(store: Store, postgres_server: Server):
    """The workers go on without the store."""
    started: list[int] = []

    def watch(event: Event) -> None:
        if isinstance(event, TrialStarted):
            started.append(event.number)
            if event.number == 3:
                postgres_server.stop()
        if isinstance(event, StoreLost):
            postgres_server.start()

    with LocalProcesses(2) as executor:
        study(store, evolution(), executor, TRIALS, watch=watch)
    assert sorted(started) == list(range(TRIALS))
    goes_on_as_if_nothing_had_been(store)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_wants_to_stop_need_not_wait_for_it(
    store: Store, postgres_server: Server, number: signal.Signals
):
    watch = Watch(postgres_server.stop, lambda: press(number))
    try:
        with pytest.raises(StudyStopped, match="the same command goes on with study 's'") as stop:
            study(store, evolution(), InProcess(), TRIALS, watch=watch)
    finally:
        postgres_server.start()
    assert "is it running" in stop.value.lost
    goes_on_as_if_nothing_had_been(store)


def test_it_is_given_up_after_the_stated_time(
    store: Store, postgres_server: Server, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(driver, "AT_WORK", 0.0)
    try:
        with pytest.raises(StoreAwayError) as away:
            study(
                store, evolution(), InProcess(), TRIALS, watch=Watch(postgres_server.stop, ignore)
            )
    finally:
        postgres_server.start()
    first, rest = str(away.value).splitlines()
    assert first.startswith(f"cannot use the store {store.title}: ")
    assert rest == "once the store is back, the same command goes on with study 's'"
    goes_on_as_if_nothing_had_been(store)


@pytest.mark.parametrize("connected", [True, False])
def test_a_server_that_never_answers(
    store: Store, postgres_server: Server, monkeypatch: pytest.MonkeyPatch, connected: bool
):
    """Neither to a question, nor to who wants to connect."""
    monkeypatch.setattr(patience, "QUIET", 0.2)

    def pause() -> None:
        if not connected:
            store.close()
        postgres_server.pause()

    watch = Watch(pause, press)
    try:
        with pytest.raises(StudyStopped) as stop:
            study(store, evolution(), InProcess(), TRIALS, watch=watch)
    finally:
        postgres_server.resume()
    assert "no word from it for 0.2 seconds" in stop.value.lost
    goes_on_as_if_nothing_had_been(store)
    again = Watch(pause, postgres_server.resume)
    study(store, evolution(), InProcess(), TRIALS, "again", watch=again)
    assert [type(event) for event in again.said] == [StoreLost, StoreBack]
    assert kept(store, "again") == kept(store, "undisturbed")


def test_what_could_not_be_written_is_counted():
    done, lost = Ended(1, "done", {}), Ended(2, "lost")
    unwritten = Unwritten()
    assert str(unwritten) == ""
    unwritten.add([done, lost])
    assert str(unwritten) == "; a trial that had ended could not be written, and will be run again"
    unwritten.add([done])
    assert "2 trials that had ended" in str(unwritten)
    unwritten.clear()
    assert str(unwritten) == ""


# -- a file --------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store in a file, which does not wait long for others."""
    monkeypatch.setattr(connecting, "BUSY_SECONDS", 0.01)
    monkeypatch.setattr(patience, "_LOCKED", 0.0)
    with open_store(tmp_path / "studies.db") as opened:
        yield opened


def test_a_file_that_others_keep_locked(file: Store):
    other = sqlite3.connect(file.title, isolation_level=None)
    watch = Watch(lambda: other.execute("BEGIN IMMEDIATE"), lambda: other.rollback())
    study(file, evolution(), InProcess(), TRIALS, watch=watch)
    assert [type(event) for event in watch.said] == [StoreLost, StoreBack]
    assert "is locked: database is locked (another process has kept it" in watch.said[0].message
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StudyStopped) as stop:
        study(file, evolution(), InProcess(), TRIALS + 1, watch=Watch(ignore, press))
    assert "database is locked" in stop.value.lost
    other.close()
    goes_on_as_if_nothing_had_been(file)


def test_a_disk_that_is_full(file: Store):
    most = [2**30]  # pages

    @database_events.listens_for(file._engine, "checkout")
    def limit(connection, *_) -> None:
        connection.execute(f"PRAGMA max_page_count = {most[0]}")

    def fill() -> None:
        most[0] = 1  # no fewer than it has

    def make_room() -> None:
        most[0] = 2**30

    watch = Watch(fill, make_room)
    study(file, evolution(), InProcess(), 20, watch=watch)
    assert {type(event) for event in watch.said} == {StoreLost, StoreBack}
    assert "cannot be written: database or disk is full (make room" in watch.said[0].message
    once_each(file, 20)
    study(file, evolution(), InProcess(), 20, "undisturbed")
    assert kept(file) == kept(file, "undisturbed")
    fill()
    large = "CREATE TABLE large AS SELECT randomblob(1000000)"
    with pytest.raises(StoreError, match="make room and try again"):  # nobody waits at a prompt
        file.write(lambda connection: connection.exec_driver_sql(large))
