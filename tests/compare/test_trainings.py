"""Whatever happens to trainings of a comparison, those that end come out as if nothing had been."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cellwright as cw
from cellwright.base.errors import UserError
from cellwright.compare import job
from cellwright.compare.contenders import contender
from cellwright.compare.export import write_figures
from cellwright.compare.plan import Plan, make_plan
from cellwright.compare.results import standings
from cellwright.compare.running import Event, missing, train_all
from cellwright.report.comparison.page import write_report
from cellwright.runs.errors import Stopped
from cellwright.runs.runner import train
from cellwright.trials.executors import InProcess, Limits, LocalProcesses, RayCluster
from cellwright.trials.retries import Retries
from runs.support import outcome, small_recipe, small_run

GRU, RNN = contender(cw.zoo["gru"]), contender(cw.zoo["rnn"])
LONG = "training.epochs=25"
"""Some seconds, most of which is waiting for the disk."""

PATIENCE = 60.0
"""Seconds after which a test gives up."""


def plan(folder: Path, texts: Path, *settings: str, cells: Any = (GRU,), seeds: int = 1) -> Plan:
    return make_plan(folder, cells, small_recipe(*settings), seeds, data=str(texts))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, text_folder: Path) -> dict[str, Any]:
    """What comes out of a GRU's long training that nobody disturbed."""
    run = small_run(text_folder, tmp_path_factory.mktemp("whole") / "run", LONG)
    train(run.folder, run.training)
    return outcome(run.folder)


def came_out(here: Plan) -> dict[str, Any]:
    run = here.run("gru", 0)
    assert run is not None
    return outcome(run)


def epochs_ended(event: Event | None) -> bool:
    """Whether a training is somewhere in its middle."""
    return event is not None and event.kind == "moved" and event.values["valid"] is not None


# -- stopping and killing ------------------------------------------------------------------------


def stop(event: Event | None) -> None:
    """As Ctrl-C does, in the middle of a training."""
    if epochs_ended(event):
        os.kill(os.getpid(), signal.SIGTERM)


def test_stopped_trainings_save_their_last_step_and_go_on(
    tmp_path: Path, text_folder: Path, whole: dict[str, Any]
):
    here = plan(tmp_path, text_folder, LONG)
    with pytest.raises(Stopped) as stopped:
        train_all(here, watch=stop)
    assert stopped.value.signal == signal.SIGTERM
    run = here.run("gru", 0)
    assert run is not None
    assert run.info.status == "stopped"  # a training that is killed cannot say so
    assert missing(here) == [("gru", 0)]
    assert not (tmp_path / "progress").exists()

    seen: list[str] = []
    watch = lambda event: seen.append(event.kind if event else "")  # noqa: E731
    assert train_all(here, InProcess(), watch=watch) == []
    assert (seen.count("begun"), seen.count("ended"), seen.count("again")) == (1, 1, 0)
    assert came_out(here) == whole
    assert missing(here) == []
    assert train_all(here) == []  # nothing is left to do


def test_a_worker_that_is_killed_is_replaced(
    tmp_path: Path, text_folder: Path, whole: dict[str, Any]
):
    here = plan(tmp_path, text_folder, LONG)
    kinds: list[str] = []
    with LocalProcesses(1, threads=1) as executor:

        def kill(event: Event | None) -> None:
            if event is not None:
                kinds.append(event.kind)
            if epochs_ended(event) and kinds.count("begun") == 1:
                for pid in executor.pids():
                    os.kill(pid, signal.SIGKILL)

        assert train_all(here, executor, watch=kill) == []
    assert [kind for kind in kinds if kind != "moved"] == ["begun", "again", "begun", "ended"]
    assert came_out(here) == whole


PROGRAM = """
import os, sys
sys.path[:] = sys.argv[2].split(os.pathsep)
from pathlib import Path
from cellwright.compare.plan import read_plan
from cellwright.compare.running import train_all
from cellwright.trials.executors import LocalProcesses

executor = LocalProcesses(1, threads=1)

def tell(event):
    if event is not None and event.kind == "moved" and event.values["valid"] is not None:
        print(executor.pids()[0], flush=True)

train_all(read_plan(Path(sys.argv[1])), executor, watch=tell)
"""


def test_trainings_end_with_a_parent_that_is_killed_and_go_on_with_another(
    tmp_path: Path, text_folder: Path, whole: dict[str, Any]
):
    here = plan(tmp_path, text_folder, LONG)
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), os.pathsep.join(sys.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        watched = os.pidfd_open(worker)  # Linux tells here when a process that is no child ends
        parent.kill()
    assert select.select([watched], [], [], PATIENCE)[0]
    os.close(watched)
    assert missing(here) == [("gru", 0)]
    assert train_all(here, InProcess()) == []
    assert came_out(here) == whole


def test_a_training_in_this_process_is_stopped_and_goes_on(
    tmp_path: Path, text_folder: Path, whole: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    here = plan(tmp_path, text_folder, LONG)

    class Stopping(job.Reporter):
        def __call__(self, event: Any) -> None:
            super().__call__(event)
            if event.epoch == 3:
                os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(job, "Reporter", Stopping)
        with pytest.raises(Stopped):
            train_all(here, InProcess())
    run = here.run("gru", 0)
    assert run is not None
    assert run.info.status == "stopped"
    assert train_all(here, InProcess()) == []
    assert came_out(here) == whole


# -- failures ------------------------------------------------------------------------------------


def test_a_training_that_fails_does_not_stop_the_others(tmp_path: Path, text_folder: Path):
    here = plan(tmp_path, text_folder, cells=(GRU, RNN))
    run = small_run(text_folder, here.run_path("gru", 0))
    (run.folder.path / "last.safetensors").write_bytes(b"damaged")
    events: list[Event] = []
    failures = train_all(here, InProcess(), watch=lambda e: events.append(e) if e else None)
    assert [(f.label, f.seed, f.ending, f.attempts) for f in failures] == [("gru", 0, "error", 3)]
    assert str(failures[0]).startswith("gru, seed 0: ")
    assert [e.kind for e in events if e.label == "gru" and e.kind != "begun"] == [
        "again", "again", "failed"
    ]  # fmt: skip
    assert missing(here) == [("gru", 0)]
    found = standings(here)
    assert [(one.label, one.missing, one.failed) for one in found] == [
        ("rnn", (), ()),
        ("gru", (), tuple(failures)),
    ]
    page = write_report(here, found).read_text()
    assert "gru failed with seed 0: " in page
    value = json.loads((tmp_path / "results.json").read_text())
    assert [cell["failed_seeds"] for cell in value["cells"]] == [[], [0]]

    (run.folder.path / "last.safetensors").unlink()  # the cause is gone
    assert train_all(here, InProcess()) == []
    found = standings(here)
    assert [len(one.runs) for one in found] == [1, 1]
    write_figures(here, found)
    value = json.loads((tmp_path / "results.json").read_text())
    assert [cell["failed_seeds"] for cell in value["cells"]] == [[], []]


@pytest.mark.parametrize(
    ("limits", "ending", "words"),
    [
        (Limits(seconds=0.2), "timeout", "ran for more than its 0.2 seconds"),
        (Limits(memory=10**7), "memory", "more than its 10 MiB"),
    ],
)
def test_limits_are_kept(
    tmp_path: Path, text_folder: Path, limits: Limits, ending: str, words: str
):
    here = plan(tmp_path, text_folder)
    with LocalProcesses(1, threads=1, limits=limits) as executor:
        [failure] = train_all(here, executor, retries=Retries(failures=1))
    assert (failure.ending, failure.attempts) == (ending, 2)
    assert words in failure.why
    assert train_all(here, InProcess()) == []


def test_what_a_killed_attempt_had_finished_is_not_done_again(tmp_path: Path, text_folder: Path):
    here = plan(tmp_path, text_folder)
    arguments = {"folder": str(tmp_path), "label": "gru", "seed": 0}
    assert job.train_run(**arguments) == "ok"
    before = (here.run_path("gru", 0) / "last.safetensors").stat().st_mtime_ns
    assert job.train_run(**arguments) == "ok"
    assert (here.run_path("gru", 0) / "last.safetensors").stat().st_mtime_ns == before


def test_a_machine_that_does_not_have_the_folder_says_so(tmp_path: Path):
    with pytest.raises(UserError, match="a file system that all of them share"):
        job.train_run(str(tmp_path / "elsewhere"), "gru", 0)


# -- clusters ------------------------------------------------------------------------------------


def test_on_a_cluster(tmp_path: Path, text_folder: Path, whole: dict[str, Any]):
    """Stopped in its middle, and gone on with: what is saved is the last step."""
    pytest.importorskip("ray", reason="Ray is not installed")
    from trials.executors.simulated import simulated_cluster

    here = plan(tmp_path, text_folder, LONG)
    with (
        simulated_cluster(machines=1) as cluster,
        RayCluster(cluster.address) as executor,
        pytest.raises(Stopped),
    ):
        train_all(here, executor, watch=stop)
    run = here.run("gru", 0)
    assert run is not None
    assert run.info.status == "stopped"
    assert train_all(here, InProcess()) == []
    assert came_out(here) == whole
