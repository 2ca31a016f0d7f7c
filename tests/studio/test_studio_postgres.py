"""A PostgreSQL store through the studio: followed while it is written to, and when it is away."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from studio_server import api, ask, serving

from cellwright.base.errors import UserError
from cellwright.search.blackbox.methods import method
from cellwright.spaces import Enas
from cellwright.studio import server as studio_server_module
from cellwright.studio.watch import Watch
from cellwright.trials.executors import Call, InProcess
from cellwright.trials.store import find_study, open_store, overview, patience
from cellwright.trials.study import run_study
from cellwright.trials.study.events import TrialFinished
from trials.postgres import NoServerError, Server, emptied, server

SECRET = "geheim"
STUDY = "store:1"


@pytest.fixture(scope="module")
def machine() -> Iterator[Server]:
    """A server of these tests alone, which stop it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(studio_server_module, "LOOK_SECONDS", 0.02)
        try:
            context = server()
            found = context.__enter__()
        except NoServerError as error:
            pytest.skip(str(error))
        try:
            yield found
        finally:
            context.__exit__(None, None, None)


def url_of(machine: Server) -> str:
    """With two passwords, which this server does not ask for."""
    return f"{machine.url.replace('tester@', f'tester:{SECRET}@')}?sslpassword={SECRET}"


def work(url: str, trials: int, watch: Any = None) -> None:
    with open_store(url) as store:
        evolution = method("aging-evolution", Enas(nodes=4), population=3, sample=2, lag=1)
        call = Call("trials.evaluators:evaluate")
        run_study(store, "live", evolution, call, InProcess(), trials=trials, watch=watch)


@pytest.fixture
def url(machine: Server) -> str:
    """The store, with a study of four trials."""
    found = url_of(machine)
    emptied(machine.url)
    work(found, 4)
    return found


class Following:
    """The stream of events that a page has open."""

    def __init__(self, address: str) -> None:
        place = urlsplit(address)
        self._connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=300)
        self._connection.request("GET", "/api/events")
        self._answer = self._connection.getresponse()
        self.text = ""

    def until(self, wanted: Any) -> dict[str, Any]:
        """The first event from here on that `wanted` says yes to."""
        while True:
            line = self._answer.readline().decode()
            assert line, "the stream has ended"
            self.text += line
            if line.startswith("data: ") and wanted(found := json.loads(line[6:])):
                return found

    def close(self) -> None:
        self._connection.close()


@contextmanager
def following(address: str) -> Iterator[Following]:
    found = Following(address)
    try:
        yield found
    finally:
        found.close()


def row_in(event: dict[str, Any]) -> dict[str, Any]:
    return next((row for row in event["rows"] if row["id"] == STUDY), {})


def test_a_study_of_a_server_is_followed_while_it_runs(url: str, caplog: pytest.LogCaptureFixture):
    go = threading.Event()

    def pause(event: Any) -> None:
        if isinstance(event, TrialFinished) and event.number == 6:
            go.wait(300)

    with serving(url) as address, following(address) as page:
        assert row_in(page.until(lambda event: event["rows"]))["state"] == "finished"
        thread = threading.Thread(target=work, args=(url, 9, pause))
        thread.start()
        try:
            now = row_in(page.until(lambda event: row_in(event).get("done") == 7))
            assert (now["state"], now["total"]) == ("running", 9)
            assert api(address, "item", id=STUDY)["row"]["state"] == "running"
            answer = api(address, "trials", id=STUDY, since=0)
            assert set(range(7)) <= set(answer["columns"]["number"])
        finally:
            go.set()
            thread.join()
        page.until(lambda event: row_in(event).get("state") == "finished")
        with open_store(url) as store:
            best = overview(store, find_study(store, "live")).best
        assert best is not None
        detail = api(address, "trial", id=STUDY, number=best.number)
        assert detail["cell_id"] == best.cell_id == api(address, "list")["rows"][0]["cell"]
        cell = ask(address, f"/api/cell?id={STUDY}&trial={best.number}")
        bodies = [
            ask(address, f"/api/{name}").body.decode() for name in ("list", f"item?id={STUDY}")
        ]
        assert SECRET not in page.text + "".join(bodies) + cell.body.decode() + caplog.text
        assert api(address, "list")["title"] == url.split("?")[0].replace(f":{SECRET}", "")


@pytest.mark.parametrize("how", ["gone", "silent"])
def test_a_server_that_goes_away_and_comes_back(
    machine: Server, url: str, how: str, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):  # fmt: skip
    """Gone, or there and without an answer; what was known stays, and is asked for again after."""
    leave, come = (
        (machine.stop, machine.start) if how == "gone" else (machine.pause, machine.resume)
    )
    with serving(url) as address, following(address) as page:
        before = row_in(page.until(lambda event: event["rows"]))
        monkeypatch.setattr(patience, "QUIET", 0.3)
        leave()
        try:
            lost = page.until(lambda event: event["trouble"])
            assert lost["trouble"].startswith("cannot use the store postgresql://tester@127.0.0.1")
            assert lost["gone"] == []
            listed = api(address, "list")
            assert listed["rows"] == [before]
            assert "cannot use the store" in listed["trouble"]  # the reason may be another by now
            assert "cannot use the store" in api(address, "item", id=STUDY)["error"]
            refused = ask(address, f"/api/trials?id={STUDY}")
            assert (refused.status, list(refused.value)) == (422, ["error"])
            with pytest.raises(UserError) as failed:
                Watch(url)
        finally:
            monkeypatch.setattr(patience, "QUIET", 300.0)  # a slow machine is no silent one
            come()
        back = page.until(lambda event: not event["trouble"])
        assert row_in(back)["done"] == 4  # though nothing has changed: pages show an error by now
        assert api(address, "item", id=STUDY).get("error") is None
        work(url, 5)
        assert page.until(lambda event: row_in(event).get("done") == 5)["trouble"] is None
        shown = [page.text, refused.body.decode(), json.dumps(listed), str(failed.value)]
        assert SECRET not in "".join(shown) + caplog.text
