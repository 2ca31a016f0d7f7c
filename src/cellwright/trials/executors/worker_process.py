"""`WorkerProcess`: a process that runs calls, within limits, and is replaced when it dies.

Own processes instead of `concurrent.futures`: there the death of one process breaks the whole
pool, loses all jobs that wait, and does not tell which job it was. And they are new interpreters
instead of forks, since a fork of a process in which torch has started threads can hang.

Time and memory are watched from outside. `RLIMIT_AS` would bound addresses, not memory: torch
and its thread pools reserve several GB that they never touch, and memory-mapped corpora count in
full, so that a limit which lets a trial begin does not stop one that grows. What is watched is
what the system would have to swap or kill for: private and shared memory without file pages, of
the process and its children. It is looked at ten times a second, so a trial can exceed the limit
for that long.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import site
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence

from cellwright.base.module_path import working_folder_last
from cellwright.trials.executors.executor import Ended, Job, Kind, Limits
from cellwright.trials.executors.memory import memory_of
from cellwright.trials.executors.messages import receive, send
from cellwright.trials.executors.worker_channel import offered, readable

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PROGRAM = """
import json, site, sys
sys.path[:] = json.loads(sys.argv[1])
if json.loads(sys.argv[2]):
    site.addsitedir(site.getusersitepackages())
from cellwright.trials.executors.worker import main
main(sys.argv[3], int(sys.argv[4]))
"""
"""Runs isolated (`python -I`), so that until the path is set nothing is found but what is
installed; `-c` alone would have the working directory first. What a user has installed for
themselves without rights on the machine is on the path, and hooks of it are run as Python does."""

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_LOOK_SECONDS = 0.1
_START_SECONDS = 120.0
_LAST_WORDS = 2000


class WorkerProcess:
    """Runs one call at a time. Its process starts with the first, and lasts for many: importing
    torch takes longer than some trials do.

    Args:
        threads: how many torch may use in it.
        limits: of each call.
        path: where it looks for modules; where this process does unless said. The working
            directory comes last, if it is there at all.
    """

    def __init__(self, threads: int, limits: Limits, path: Sequence[str] | None = None) -> None:
        self._threads, self._limits, self._path = threads, limits, path
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._stop = threading.Event()
        self._patient_until = 0.0
        # What it prints is kept for when it dies, and would spoil the driver's screen.
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115
        if fcntl is not None:  # where it is emptied, it is written from its beginning again
            flags = fcntl.fcntl(self._printed, fcntl.F_GETFL)
            fcntl.fcntl(self._printed, fcntl.F_SETFL, flags | os.O_APPEND)

    @property
    def pid(self) -> int | None:
        """The process' number, while there is one."""
        process = self._process
        return None if process is None else process.pid

    def run(self, job: Job) -> Ended | None:
        """Run a job to its end; None if it was stopped."""
        if self._stop.is_set():
            return None
        if job.alone:
            self._kill()
        ended = self._ending(job)
        if self._stop.is_set() or job.alone:
            self._kill()
        return None if self._stop.is_set() else ended

    def _ending(self, job: Job) -> Ended | None:
        """How a job ends; None if it is being stopped."""
        try:
            connection = self._start()
            send(connection, {"function": job.call.function, "arguments": dict(job.call.arguments)})
        except (OSError, EOFError) as error:
            if self._stop.is_set():
                return None
            if self._process is None:
                return Ended(job.key, "crashed", message=f"its process did not start: {error}")
            return self._died(job, 0.0)
        begun = time.monotonic()
        while True:
            if self._stop.is_set():
                self._await_end(connection)
                return None
            seconds = time.monotonic() - begun
            exceeded = self._exceeded(seconds)
            if exceeded is not None:
                self._kill()
                return Ended(job.key, *exceeded, seconds=seconds)
            if readable(connection, _LOOK_SECONDS):
                try:
                    return Ended(job.key, **receive(connection))
                except EOFError:
                    return self._died(job, time.monotonic() - begun)

    def stop(self, patience: float = 0.0) -> None:
        """End the job that runs, if one does, and take no more; from any thread.

        Args:
            patience: the job is asked to end, and has so many seconds until it is killed.
        """
        self._patient_until = time.monotonic() + patience
        self._stop.set()

    def resume(self) -> None:
        """Take jobs again after `stop`."""
        self._stop.clear()

    def close(self) -> None:
        """End the process."""
        self._kill()
        self._printed.close()

    def _await_end(self, connection: socket.socket) -> None:
        """Ask the job to end, and wait until it has answered or died, as long as there is
        patience. (That may be taken away meanwhile.) Windows has no signal that asks."""
        if os.name != "posix":
            return
        if time.monotonic() < self._patient_until and self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGTERM)
        while time.monotonic() < self._patient_until:
            if readable(connection, _LOOK_SECONDS):
                return

    def _start(self) -> socket.socket:
        if self._connection is not None and self._process is not None:
            if self._process.poll() is None:
                os.ftruncate(self._printed.fileno(), 0)
                return self._connection
            self._kill()  # it died between two jobs, which is nobody's failure
        os.ftruncate(self._printed.fileno(), 0)
        with contextlib.closing(offered()) as channel:
            threads = dict.fromkeys(_THREADS, str(self._threads))
            path = working_folder_last(list(sys.path if self._path is None else self._path))
            user = bool(site.ENABLE_USER_SITE)
            arguments = [json.dumps(path), json.dumps(user), channel.where, str(self._threads)]
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _PROGRAM, *arguments],
                env={**os.environ, **threads, **channel.environment},
                stdin=subprocess.DEVNULL,
                stdout=self._printed,
                stderr=self._printed,
                **channel.options,
            )
            until = time.monotonic() + _START_SECONDS
            while (connection := channel.accepted(_LOOK_SECONDS)) is None:
                self._check_start(until)
        self._connection = connection
        while not readable(connection, _LOOK_SECONDS):
            self._check_start(until)
        receive(connection)
        return connection

    def _check_start(self, until: float) -> None:
        """Give up waiting for a process that takes too long, or has ended."""
        ended = self._process is None or self._process.poll() is not None
        if self._stop.is_set() or ended or time.monotonic() > until:
            raise EOFError

    def _exceeded(self, seconds: float) -> tuple[Kind, None, str] | None:
        """The limit that was passed, and in words."""
        limits = self._limits
        if limits.seconds is not None and seconds > limits.seconds:
            return "timeout", None, f"ran for more than its {limits.seconds:g} seconds"
        if limits.memory is not None and self._process is not None:
            memory = memory_of(self._process.pid)
            if memory > limits.memory:
                most = f"{limits.memory / 2**20:,.0f} MiB"
                return "memory", None, f"held {memory / 2**20:,.0f} MiB, more than its {most}"
        return None

    def _died(self, job: Job, seconds: float) -> Ended:
        """The end of a job whose process is gone, or does not answer."""
        process = self._process
        if process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1.0)
        code = None if process is None else process.returncode
        self._kill()
        message = f"its process {_cause(code)}"
        printed = self._last_words()
        return Ended(
            job.key, "crashed", None, f"{message}\n{printed}" if printed else message, seconds
        )

    def _last_words(self) -> str:
        size = os.fstat(self._printed.fileno()).st_size
        self._printed.seek(max(0, size - _LAST_WORDS))
        return self._printed.read(_LAST_WORDS).decode("utf-8", "replace").strip("\0 \t\r\n")

    def _kill(self) -> None:
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if connection is not None:
            connection.close()
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.name == "posix":
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
            process.wait()


def _cause(code: int | None) -> str:
    """Why a process is gone, by its exit code."""
    if code is None:
        return "does not answer"
    if code >= 0:
        return f"ended by itself, with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    memory = ", as the system does when memory runs out" if -code == signal.SIGKILL else ""
    return f"was killed by {name}{memory}"
