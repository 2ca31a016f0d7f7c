"""How fast a benchmark of the paper's size opens, and how fast simulated training is.

The table is made up: 14,000 architectures of 50 epochs, once with one run of each and once with
three. The cells are real draws of the paper's generator, each listed several times under other
names, because drawing 14,000 different ones would take minutes and change nothing that is measured.
Opening is timed in fresh processes, as a user's first call is; what the process holds then is read
from the system.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

WANTED_SECONDS, WANTED_BYTES, WANTED_CALLS = 0.5, 300e6, 200_000
DISTINCT = 200

OPENING = """
import json, pathlib, resource, sys, time
import numpy
before = time.perf_counter()
from cellwright.bench import Environment, load
imported = time.perf_counter()
benchmark = load(sys.argv[1])
opened = time.perf_counter()
environment = Environment(benchmark)
ready = time.perf_counter()
status = pathlib.Path("/proc/self/status")
if status.exists():  # Linux counts into ru_maxrss what the parent held when it started this one
    [line] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
    peak = 1024 * int(line.split()[1])
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([imported - before, opened - imported, ready - opened, peak]))
"""


def make(path: Path, architectures: int, epochs: int, runs: int) -> None:
    """Write a made-up benchmark of that size."""
    from cellwright.bench import Architecture, assemble, save
    from cellwright.bench.synthetic import synthetic

    seeds = synthetic(min(DISTINCT, architectures), epochs=epochs, runs=runs)
    drawn = [seeds.architecture(number) for number in range(len(seeds))]
    rows = [
        Architecture(
            f"{drawn[n % len(drawn)].name}-{n // len(drawn)}",
            drawn[n % len(drawn)].cell,
            drawn[n % len(drawn)].runs,
        )
        for n in range(architectures)
    ]
    save(assemble(rows, title=f"{architectures} x {epochs} x {runs}"), path)


def opening(path: Path, times: int) -> tuple[float, float, float, float]:
    """Seconds to import, to open and to make an environment, and bytes at the peak: the best."""
    found = []
    for _ in range(times):
        done = subprocess.run(
            [sys.executable, "-c", OPENING, str(path)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ,
        )
        found.append(json.loads(done.stdout))
    imported, opened, ready, peak = (min(column) for column in zip(*found, strict=True))
    return imported, opened, ready, peak


def calls_per_second(path: Path, calls: int, times: int) -> dict[str, float]:
    """Simulated calls in a second, through the Python interface, in one process: the best."""
    from cellwright.bench import Environment, Evaluator, load
    from cellwright.trials.trial import Trial

    benchmark = load(path)
    environment, evaluate = Environment(benchmark), Evaluator(benchmark)
    rng = random.Random(0)
    plan = [
        (rng.randrange(len(benchmark)), rng.randint(1, benchmark.most_epochs)) for _ in range(calls)
    ]
    cells = [benchmark.cell(number) for number in range(min(DISTINCT, len(benchmark)))]
    trials = [
        Trial(number, cells[place % len(cells)], epochs, place)
        for number, (place, epochs) in enumerate(plan)
    ]

    def train() -> None:
        environment.reset()
        for place, epochs in plan:
            environment.train(place, epochs)

    def train_and_ask() -> None:
        environment.reset()
        for place, epochs in plan:
            environment.train(place, epochs)
            environment.metrics(place, min(epochs, environment.reached(place)))

    def evaluations() -> None:
        evaluate.reset()
        for trial in trials:
            evaluate(trial)

    works: dict[str, Callable[[], None]] = {
        "train": train,
        "train, then metrics": train_and_ask,
        "trials of an evaluator": evaluations,
    }
    best = dict.fromkeys(works, 0.0)
    for _ in range(times):  # they take turns, so that a slow minute hits all of them
        for name, work in works.items():
            start = time.perf_counter()
            work()
            best[name] = max(best[name], calls / (time.perf_counter() - start))
    return best


def main() -> None:
    """Print every measurement, and what was wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--architectures", type=int, default=14_000)
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 3])
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--times", type=int, default=5, help="the best of so many counts")
    chosen = parser.parse_args()
    if min(chosen.architectures, chosen.epochs, *chosen.runs, chosen.calls, chosen.times) < 1:
        parser.error("every number must be at least 1")
    with tempfile.TemporaryDirectory() as folder:
        for runs in chosen.runs:
            path = Path(folder, f"{runs}.bench")
            make(path, chosen.architectures, chosen.epochs, runs)
            size = f"{chosen.architectures:,} architectures, {chosen.epochs} epochs, seeds: {runs}"
            print(f"{size}; a file of {path.stat().st_size / 1e6:.0f} MB")
            imported, opened, ready, peak = opening(path, chosen.times)
            print(f"  import of the package: {imported:.2f} s (numpy is there already)")
            print(f"  opening: {opened:.3f} s; under {WANTED_SECONDS} s wanted")
            print(f"  environment: {ready:.3f} s")
            print(f"  memory of the process: {peak / 1e6:.0f} MB; "
                  f"under {WANTED_BYTES / 1e6:.0f} MB wanted")  # fmt: skip
            for name, rate in calls_per_second(path, chosen.calls, chosen.times).items():
                note = f"; at least {WANTED_CALLS:,} wanted" if name == "train" else ""
                print(f"  {name}: {rate:,.0f} a second{note}")


if __name__ == "__main__":
    main()
