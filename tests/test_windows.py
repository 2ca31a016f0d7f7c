"""What Windows does not have is missed by nothing that can do without it.

The modules and calls that it lacks are hidden in a process of its own; there every module of ours
is imported, and a training, its lock and a worker process work.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cellwright.base.names import file_stem, without_forbidden
from cellwright.trials.executors.executor import Call, Job, Limits
from cellwright.trials.executors.worker_channel import Loopback
from cellwright.trials.executors.worker_process import WorkerProcess
from runs.support import write_corpus

HIDDEN = """
import os, select, signal, sys
import numpy, safetensors.torch, sqlalchemy, torch, typer  # what is not ours may use what it likes
os.environ["OMP_NUM_THREADS"] = "1"
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None
for module, names in (
    (os, "O_NOCTTY O_NOFOLLOW O_NONBLOCK fork geteuid getpgid getuid killpg pread pwrite "
         "sched_getaffinity setsid sysconf uname"),
    (signal, "SIGALRM SIGHUP SIGKILL SIGPIPE SIGSTOP SIGUSR1 SIGUSR2 getitimer pthread_sigmask "
             "setitimer ITIMER_REAL"),
    (select, "poll epoll"),
):
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
"""

EVERYTHING = """
import importlib, pkgutil
import cellwright
modules = [m.name for m in pkgutil.walk_packages(cellwright.__path__, "cellwright.")]
for name in modules:
    if not name.endswith("__main__") and not name.startswith("cellwright.engine._native"):
        importlib.import_module(name)
print(len(modules))
"""

WORK = """
from pathlib import Path
from cellwright.base.locks import exclusive, is_held, training_lock
from cellwright.base.memory import memory_there, peak_memory
from cellwright.runs.runner import train
from cellwright.search.blackbox.own.guard import _time_limit
from cellwright.trials.executors.worker_channel import Loopback, readable
from cellwright.trials.store.places import here
from runs.support import small_run  # pytest's own process has `resource`, this one need not

print(peak_memory() > 0, memory_there() is None or memory_there() > 0, here().has_ended())
with training_lock(Path("text")), exclusive(Path("other.lock")), _time_limit(1.0):
    print(Path("text/lock").read_text().strip() == str(os.getpid()))
made = small_run(Path("text"), Path("run"), "training.epochs=1")
print(train(made.folder, made.training).status, made.folder.state)
print(readable(Loopback()._listening, 0.0))
"""


def test_nothing_of_ours_needs_what_windows_does_not_have(tmp_path: Path):
    write_corpus(tmp_path / "text")
    here = Path(__file__).parent
    program = f"{HIDDEN}\nsys.path.append({str(here)!r})\n{EVERYTHING}\n{WORK}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    many, *rest = done.stdout.splitlines()
    assert int(many) > 600
    assert rest == ["True True False", "True", "ok finished", "False"]


def test_a_worker_that_inherits_no_socket_connects_with_a_key(monkeypatch: pytest.MonkeyPatch):
    """As on Windows: somebody without the key is sent away, and the worker gets in."""
    import socket

    class Disturbed(Loopback):
        def __init__(self) -> None:
            super().__init__()
            with socket.create_connection(self._listening.getsockname()) as stranger:
                stranger.sendall(b"0" * 64)

    monkeypatch.setattr("cellwright.trials.executors.worker_process.offered", Disturbed)
    worker = WorkerProcess(1, Limits())
    try:
        ended = worker.run(Job(0, Call("posixpath:join", {"a": "b"})))
        assert ended is not None
        assert ended.kind == "done", ended.message
        assert ended.value == "b"
    finally:
        worker.close()


@pytest.mark.parametrize(
    ("name", "stem", "kept"),
    [
        ("a:b", "a_b", "a-b"),
        ("aux", "aux_", "aux_"),
        ("COM1.svg", "COM1.svg_", "COM1.svg_"),
        ("com10", "com10", "com10"),
        ('what? "é" <x>|*', "what_x", "what- -é- -x"),
        ("ends with a dot.", "ends_with_a_dot", "ends with a dot"),
    ],
)
def test_names_of_files_are_allowed_everywhere(name: str, stem: str, kept: str):
    assert file_stem(name, "cell") == stem
    assert without_forbidden(name) == kept
