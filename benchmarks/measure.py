"""Measuring side by side: interleaved timing, the rate of a large matrix product, peak memory."""

from __future__ import annotations

import contextlib
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

SLOT = 0.03  # seconds that a contender has at each of its turns: short runs are done many times
PATIENCE = 3
CLOSE = 1.05
PRODUCT = 2048
PRODUCT_FLOPS = 2 * PRODUCT**3


@dataclass(frozen=True)
class Timing:
    """Seconds of all runs of one contender: the best, the median, and how many there were."""

    best: float
    median: float
    runs: int


def timed(
    work: Callable[[], object],
    before: Callable[[], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
):
    """A function that does `work` once and returns its seconds; `before` does not count."""

    def run() -> float:
        if before is not None:
            before()
        start = clock()
        work()
        return clock() - start

    return run


def interleaved(
    contenders: Mapping[str, Callable[[], float]],
    seconds: float,
    least: int = 3,
    patience: float = PATIENCE,
) -> dict[str, Timing]:
    """Let the contenders take turns, so that noise hits all alike.

    Args:
        contenders: each runs once when called, and returns its seconds (see `timed`).
        seconds: how long to go on.
        least: there are at least so many rounds.
        patience: where noise is such that somebody's best time stands alone, it goes on for up to
            so many times as long.
    """
    for run in contenders.values():  # the first run pays for caches, threads and memory
        run()
    times: dict[str, list[float]] = {name: [] for name in contenders}
    start = time.perf_counter()
    rounds = 0
    while rounds < least or time.perf_counter() - start < seconds * _patience(times, patience):
        for name, run in contenders.items():
            turn = time.perf_counter()
            while True:
                times[name].append(run())
                if time.perf_counter() - turn >= SLOT:
                    break
        rounds += 1
    return {
        name: Timing(min(found), statistics.median(found), len(found))
        for name, found in times.items()
    }


def _patience(times: Mapping[str, list[float]], most: float) -> float:
    """A best time counts once a second run came close to it."""
    settled = all(second <= CLOSE * best for best, second, *_ in map(sorted, times.values()))
    return 1 if settled else most


def matrix_product() -> Callable[[], object]:
    """A 2048-cubed matrix product, whose rate is the limit for everything made of products."""
    a, b = torch.randn(PRODUCT, PRODUCT), torch.randn(PRODUCT, PRODUCT)
    result = torch.empty(PRODUCT, PRODUCT)
    return lambda: torch.mm(a, b, out=result)


# -- load ----------------------------------------------------------------------------------

BUSY_NICENESS = (0, 19, 0, 19)
BUSY = """
import os, sys
os.nice(int(sys.argv[1]))
while os.getppid() == int(sys.argv[2]):  # also ends when its parent was killed
    for _ in range(1_000_000):
        pass
"""


@contextlib.contextmanager
def busy_processes() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Four processes that compute without end, two of them at the lowest priority."""
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for niceness in BUSY_NICENESS:
            command = [sys.executable, "-c", BUSY, str(niceness), str(os.getpid())]
            processes.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        yield processes
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


# -- memory --------------------------------------------------------------------------------


def peak_memory(work: Callable[[], object]) -> int:
    """The bytes by which `work` raises this process' resident memory at its peak.

    For a fresh process that has not yet done such work: memory that was used before and given
    back to the allocator, but not to the system, would not be seen.
    """
    status = Path("/proc/self/status")
    if not status.exists():  # no Linux: the peak so far is all that can be known
        unit = 1 if sys.platform == "darwin" else 1024
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        work()
        return unit * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)

    def now(field: str) -> int:
        [line] = [line for line in status.read_text().splitlines() if line.startswith(field)]
        return 1024 * int(line.split()[1])

    with contextlib.suppress(OSError):  # where it may not be written, nothing was larger yet
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = now("VmRSS")
    work()
    return now("VmHWM") - before


def in_fresh_process(script: Path, *arguments: str) -> str:
    """What a script prints when a new interpreter runs it."""
    command = [sys.executable, os.fspath(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{script.name} {' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout.strip()
