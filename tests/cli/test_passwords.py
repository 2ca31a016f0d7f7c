"""The password in a store's URL is in nothing that a command prints, writes or keeps."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from sqlalchemy import select

from cellwright.cli.search import study_progress
from cellwright.trials.store import open_store
from cellwright.trials.store.tables import metadata
from cellwright.trials.study import TrialFinished
from cli.test_bench_build import BUILD
from cli.test_search_studies import TINY
from trials.postgres import emptied

SECRET = "geheim"


@pytest.fixture
def url(postgres: str) -> str:
    """With a password, which this server does not ask for."""
    return emptied(postgres).replace("tester@", f"tester:{SECRET}@")


def kept(url: str, folder: Path) -> str:
    """All that is in the store and in the files of a folder."""
    with open_store(url) as store:
        tables = metadata.sorted_tables
        rows = store.read(lambda c: [tuple(row) for t in tables for row in c.execute(select(t))])
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return f"{rows}{files}"


def test_searching(run, corpus, folder, url, monkeypatch):
    command = ["search", "studies-laptop", *TINY, "--name", "s", "--store", url, "--trials"]
    real = study_progress.Pace.add

    def stop(self, event):
        real(self, event)
        if isinstance(event, TrialFinished):
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(study_progress.Pace, "add", stop)
    stopped = run(*command, "2")
    monkeypatch.setattr(study_progress.Pace, "add", real)
    shown = url.replace(f":{SECRET}", "")
    assert f"so far: cellwright studies show s --store {shown}\n" in stopped.err
    assert "the password is not shown; PGPASSWORD or ~/.pgpass can supply it" in stopped.err
    found = run(*command, "1")
    assert f"cellwright studies show s --store {shown}\n" in found.out
    looked = run("studies", "show", "s", "--store", url)
    assert f"plot:   cellwright studies plot s --store {shown}\n" in looked.out
    for done in (stopped, found, looked, run("studies", "show", "none", "--store", url)):
        assert SECRET not in done.out + done.err
    assert SECRET not in kept(url, folder)


def test_building_a_benchmark(run, corpus, folder, url):
    build = [*BUILD, "--executor", "in-process", "--cells", "1", "--seeds", "1", "--store", url]
    done = run(*build)
    assert f"every training is kept in {url.replace(f':{SECRET}', '')}\n" in done.out
    Path("other.bench").touch()
    taken = run(*build, "-o", "other.bench")
    assert "other.bench is there already" in taken.err
    assert SECRET not in done.out + done.err + taken.err
    assert SECRET not in kept(url, folder)
