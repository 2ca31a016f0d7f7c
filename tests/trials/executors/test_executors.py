"""What every executor does: each job ends once, however it ends."""

from __future__ import annotations

import ast
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cellwright.trials.executors import (
    Call,
    Ended,
    Executor,
    ExecutorError,
    Job,
    Limits,
    LocalProcesses,
    RayCluster,
)
from trials.executors.conftest import LIMITS

PATIENCE = 60.0
"""Seconds after which a test gives up."""


def call(name: str, **arguments: Any) -> Call:
    return Call(f"trials.executors.jobs:{name}", arguments)


def run(executor: Executor, *calls: Call) -> list[Ended]:
    """The endings of jobs 0, 1, …, in the order in which they came."""
    for key, each in enumerate(calls):
        executor.submit(Job(key, each))
    return collect(executor, len(calls))


def collect(executor: Executor, count: int) -> list[Ended]:
    ended: list[Ended] = []
    while len(ended) < count:
        new = executor.wait(PATIENCE)
        assert new, "nothing ended in time"
        ended += new
    assert executor.wait(0.0) == []
    return ended


def first_line(ended: Ended) -> str:
    return ended.message.splitlines()[0]


# -- any executor -----------------------------------------------------------------------


def test_a_job_gives_what_its_function_gives(executor: Executor):
    (ended,) = run(executor, call("echo", a=[1, None, "ä"], b={"c": 0.1}))
    assert (ended.key, ended.kind, ended.message) == (0, "done", "")
    assert ended.value == {"a": [1, None, "ä"], "b": {"c": 0.1}}
    assert ended.seconds >= 0
    assert ended.peak_memory is not None
    assert ended.peak_memory > 2**20


def test_a_function_of_a_file(executor: Executor, tmp_path: Path):
    (tmp_path / "jobs_beside.py").write_text("more = 1\n")
    file = tmp_path / "my jobs.py"
    file.write_text("import jobs_beside\n\n\ndef add(a, b):\n    return a + b + jobs_beside.more\n")
    [ended] = run(executor, Call(f"{file}:add", {"a": 2, "b": 3}))
    assert (ended.kind, ended.value) == ("done", 6)
    [lost] = run(executor, Call(f"{tmp_path}/nowhere.py:add"))
    assert lost.message == f"there is no file {tmp_path}/nowhere.py"


def test_many_small_jobs_all_end_once(executor: Executor):
    ended = run(executor, *[call("add", a=number, b=1) for number in range(60)])
    assert sorted((end.key, end.value) for end in ended) == [(n, n + 1) for n in range(60)]


def test_a_function_that_raises_is_an_error(executor: Executor):
    ended = {
        end.key: end for end in run(executor, call("fail", message="no"), call("add", a=1, b=2))
    }
    assert (ended[0].kind, first_line(ended[0])) == ("error", "RuntimeError: no")
    assert "in fail" in ended[0].message
    assert ended[1].value == 3


def test_an_error_for_people_is_said_without_a_traceback(executor: Executor):
    (ended,) = run(executor, call("refuse", message="the text is empty"))
    assert (ended.kind, ended.message) == ("error", "the text is empty")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("trials.executors.jobs:nothing", "has no attribute 'nothing'"),
        ("trials.executors.missing:add", "trials.executors.missing cannot be imported"),
        ("trials.executors.jobs:PATIENT", "has no attribute 'PATIENT'"),
        ("trials.executors.jobs:not_json", "not JSON serializable"),
        ("trials.executors.jobs:say_goodbye", "SystemExit: 3"),
    ],
)
def test_functions_that_are_none(executor: Executor, name: str, message: str):
    (ended,) = run(executor, Call(name))
    assert ended.kind == "error"
    assert message in first_line(ended)


def test_free_slots_are_counted(executor: Executor):
    while executor.free < executor.slots:  # a process of Ray's may have to start again
        executor.wait(PATIENCE)
    before = executor.free
    assert before >= 1
    executor.submit(Job(0, call("add", a=1, b=1)))
    assert executor.free == before - 1
    collect(executor, 1)
    assert executor.free == before


def test_cancelled_jobs_do_not_end(executor: Executor):
    for key in range(5):
        executor.submit(Job(key, call("add", a=key, b=0)))
    executor.cancel()
    assert executor.wait(0.0) == []
    assert run(executor, call("add", a=1, b=1))[0].value == 2


# -- executors with processes of their own -----------------------------------------------


@pytest.mark.parametrize(
    ("job", "kind", "message"),
    [
        (call("leave", code=3), "crashed", "its process ended by itself, with exit code 3"),
        (call("kill_self"), "crashed", "was killed by SIGKILL"),
        (call("hog", limit=LIMITS.memory), "memory", "more than its 200 MiB"),
    ],
)
def test_a_job_that_goes_wrong_ends_as_such_and_the_others_go_on(
    outside: Executor, job: Call, kind: str, message: str
):
    good = [call("add", a=number, b=0) for number in range(6)]
    ended = {end.key: end for end in run(outside, good[0], job, *good[1:])}
    assert ended[1].kind == kind
    assert message in first_line(ended[1])
    assert [ended[key].value for key in (0, 2, 3, 4, 5, 6)] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("kind", ["local processes", "Ray"])
def test_a_job_that_hangs_is_ended(kind: str, request: pytest.FixtureRequest):
    limits = Limits(seconds=0.5)
    made: Executor
    if kind == "Ray":
        made = RayCluster(request.getfixturevalue("ray_address"), workers=1, limits=limits)
    else:
        made = LocalProcesses(1, limits=limits)
    with made as executor:
        (ended,) = run(executor, call("hang"))
        assert (ended.kind, ended.message) == ("timeout", "ran for more than its 0.5 seconds")
        (ended,) = run(executor, call("hang"))  # the next process has the limit too
        assert ended.kind == "timeout"


def test_last_words_are_kept(outside: Executor):
    (ended,) = run(outside, call("leave", code=3))
    assert ended.message.endswith("last words")


def test_workers_are_kept_and_have_their_threads(outside: Executor):
    ended = run(outside, *[call("where")] * 8)
    assert {end.value["omp"] for end in ended} == {"1"}
    assert len({end.value["pid"] for end in ended}) <= 2
    assert os.getpid() not in {end.value["pid"] for end in ended}


def test_a_worker_that_is_killed_between_jobs_is_replaced(outside: Executor):
    for end in run(outside, call("where"), call("where")):
        os.kill(end.value["pid"], signal.SIGKILL)
    ended = run(outside, *[call("add", a=n, b=0) for n in range(4)])
    # One that had not quite died when it got its job takes that along.
    assert {end.kind for end in ended} <= {"done", "crashed"}
    assert all(end.kind == "done" for end in run(outside, call("add", a=1, b=0)))


def test_a_worker_that_is_killed_during_a_job_has_crashed(outside: Executor, tmp_path: Path):
    marker = tmp_path / "pid"
    outside.submit(Job(7, call("hang_once", marker=str(marker))))
    while not marker.exists() or not marker.read_text():
        assert outside.wait(0.01) == []
    os.kill(int(marker.read_text()), signal.SIGKILL)
    (ended,) = collect(outside, 1)
    assert (ended.key, ended.kind) == (7, "crashed")
    (again,) = run(outside, call("hang_once", marker=str(marker)))
    assert again.value == "answered"


def test_a_job_may_have_a_process_of_its_own(outside: Executor):
    used = {end.value["pid"] for end in run(outside, *[call("where")] * 4)}
    for key in range(4):
        outside.submit(Job(key, call("where"), alone=True))
    alone = [end.value["pid"] for end in collect(outside, 4)]
    assert len({*alone}) == 4
    assert used.isdisjoint(alone)
    after = {end.value["pid"] for end in run(outside, *[call("where")] * 4)}
    assert after.isdisjoint(alone)


@pytest.mark.parametrize(
    ("patience", "saved"), [(PATIENCE, True), (0.0, False)], ids=["patient", "at once"]
)
def test_jobs_that_are_cancelled_are_asked_first_where_there_is_patience(
    outside: Executor, tmp_path: Path, patience: float, saved: bool
):
    outside.submit(Job(0, call("save_when_asked", folder=str(tmp_path))))
    while not (tmp_path / "begun").exists():
        assert outside.wait(0.01) == []
    outside.cancel(patience)
    assert (tmp_path / "saved").exists() == saved
    assert outside.wait(0.0) == []
    assert run(outside, call("add", a=1, b=1))[0].value == 2


def test_a_job_that_does_not_listen_is_killed_when_patience_ends(outside: Executor, tmp_path: Path):
    outside.submit(Job(0, call("hang_in", folder=str(tmp_path))))
    begun = tmp_path / "begun"
    while not begun.exists() or not begun.read_text():
        assert outside.wait(0.01) == []
    outside.cancel(0.3)
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), 0)
    assert run(outside, call("add", a=1, b=1))[0].value == 2


# -- local processes ---------------------------------------------------------------------


def test_one_worker_takes_jobs_in_order():
    with LocalProcesses(1) as executor:
        ended = run(executor, *[call("add", a=n, b=0) for n in range(20)])
    assert [end.key for end in ended] == list(range(20))


def test_torch_uses_as_many_threads_as_it_may():
    with LocalProcesses(1, threads=1) as executor:
        (lazily,) = run(executor, call("torch_threads"))  # torch is imported within the function
        (again,) = run(executor, call("torch_threads"))
    assert (lazily.value, again.value) == (1, 1)


def test_children_of_a_job_end_with_it(tmp_path: Path):
    marker = tmp_path / "child"
    with LocalProcesses(1) as executor:
        executor.submit(Job(0, call("start_child", marker=str(marker))))
        while not marker.exists():
            executor.wait(0.01)
        executor.cancel()
    child = int(marker.read_text())
    until = time.monotonic() + 30  # a signal takes a moment on a busy machine
    while is_running(child) and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_running(child)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_workers_end_when_their_driver_is_killed():
    program = (
        "import os, sys; sys.path[:] = sys.argv[1].split(os.pathsep)\n"
        "from cellwright.trials.executors import *\n"
        "executor = LocalProcesses(1)\n"
        "executor.submit(Job(0, Call('trials.executors.jobs:where')))\n"
        "[end] = executor.wait(60)\n"
        "executor.submit(Job(1, Call('trials.executors.jobs:hang')))\n"
        "print(end.value['pid'], flush=True)\n"
        "executor.wait(600)\n"
    )
    path = os.pathsep.join(sys.path)
    command = [sys.executable, "-c", program, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        worker = int(driver.stdout.readline())
        watched = os.pidfd_open(worker)  # Linux tells here when a process that is no child ends
        driver.kill()
    assert select.select([watched], [], [], PATIENCE)[0]
    os.close(watched)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LocalProcesses(0), "the number of workers must be a whole number from 1 on"),
        (lambda: LocalProcesses(1, threads=0), "the number of threads must be"),
        (lambda: Limits(seconds=0), "the limit of seconds must be more than 0"),
        (lambda: Limits(seconds=float("inf")), "the limit of seconds must be more than 0"),
        (lambda: Limits(memory=-1), "the limit of memory must be more than 0"),
        (lambda: Call("no function"), "is named as package.module:function, not 'no function'"),
        (lambda: Call("__main__:f"), "move it into a module of its own"),
        (lambda: Call("m:f", {"x": object()}), "must be JSON values"),
    ],
)
def test_mistakes_are_named(make: Any, message: str):
    with pytest.raises(ExecutorError, match=message):
        make()


# -- Ray ---------------------------------------------------------------------------------


def test_ray_that_is_not_installed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ExecutorError, match=r"pip install 'cellwright\[cluster\]'"):
        RayCluster()


def test_a_worker_starts_without_what_takes_long_to_import():
    """A process for every trial that is killed, or that ends, must not cost seconds."""
    code = (
        "import sys, cellwright.trials.executors.worker\n"
        "print({name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names))\n"
        "print({name.split('.')[1] for name in sys.modules if name.startswith('cellwright.')})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    others, ours = map(ast.literal_eval, done.stdout.splitlines())
    assert not others & {"torch", "numpy", "pydantic", "sqlalchemy", "ray"}
    assert ours == {"base", "trials"}


# -- what lies in the working directory --------------------------------------------------


@pytest.fixture
def trapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with files that are called as modules are, and a plug-in."""
    for name in ("json", "site", "cellwright", "difflib"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('was run')")
    (tmp_path / "plugin_beside.py").write_text("def answer():\n    return 42\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_worker_runs_nothing_that_lies_in_the_working_directory(
    trapped: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    with LocalProcesses(1) as executor:
        added, beside = run(executor, call("add", a=1, b=2), Call("plugin_beside:answer"))
    assert (added.kind, added.value) == ("done", 3)
    assert "No module named 'plugin_beside'" in first_line(beside)


@pytest.mark.parametrize("place", ["", "absolute"])
def test_plug_ins_beside_a_notebook_are_found_but_hide_nothing(
    trapped: Path, monkeypatch: pytest.MonkeyPatch, place: str
):
    monkeypatch.setattr(sys, "path", [place and str(trapped), *sys.path])
    with LocalProcesses(1) as executor:
        added, beside = run(executor, call("add", a=1, b=2), Call("plugin_beside:answer"))
    assert (added.value, beside.value) == (3, 42)


def test_ray_does_not_look_for_modules_in_the_working_directory(ray_cluster: Executor):
    import ray

    def path() -> list[str]:
        return sys.path

    found = ray.get(ray.remote(num_cpus=0)(path).remote())
    assert os.getcwd() not in found
    assert "" not in found
