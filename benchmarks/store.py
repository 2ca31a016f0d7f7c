"""What the store and the executors cost: per trial, for an overview, and against more workers.

    python benchmarks/store.py
    python benchmarks/store.py --only overhead --ray
    python benchmarks/store.py --only workers --seconds 60
    python benchmarks/store.py --store postgresql://me@127.0.0.1/lab

- overhead: a study of trials that take no time, against the same search as a plain loop in memory;
  the difference, for each trial, is what scheduling and storing cost.
- overview: a study of 100,000 trials with curves; the time of what `studies show` asks for.
- workers: trials of pure arithmetic in one thread, with one worker and with two, in turns.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from sqlalchemy import Connection, insert, update  # noqa: E402

import cellwright as cw  # noqa: E402
from cellwright.search.blackbox.ask_tell import Method, run  # noqa: E402
from cellwright.search.blackbox.methods import method  # noqa: E402
from cellwright.spaces import Enas  # noqa: E402
from cellwright.trials.executors import (  # noqa: E402
    Call,
    Executor,
    InProcess,
    LocalProcesses,
    RayCluster,
)
from cellwright.trials.outcome import Outcome  # noqa: E402
from cellwright.trials.store import (  # noqa: E402
    Store,
    best_trials,
    create_study,
    list_attempts,
    list_trials,
    open_store,
    overview,
    overviews,
    read_curves,
    read_ledger,
)
from cellwright.trials.store.tables import attempts, cells, curves, studies, trials  # noqa: E402
from cellwright.trials.study import run_study  # noqa: E402
from cellwright.trials.trial import Trial  # noqa: E402

STORED = 100_000
EPOCHS = 20
STEP = 5000


def evaluate(trial: dict[str, Any], steps: int = 0) -> dict[str, Any]:
    """An outcome that depends on the trial alone, after so many steps of arithmetic."""
    x = 0.5
    for _ in range(steps):
        x = 3.7 * x * (1 - x)
    value = 4 + (trial["seed"] % 1000) / 1000
    return {"value": value, "status": "ok", "cost": 1.0, "curve": [value + 1, value], "x": x}


def evolution() -> Method:
    return method("aging-evolution", Enas(), population=50, sample=10)


def study(store: Store, executor: Executor, count: int, name: str, steps: int = 0) -> float:
    """Run a study of so many trials; its seconds, without the start of its workers."""
    call = Call("store:evaluate", {"steps": steps})

    def go(trials: int) -> None:
        run_study(store, name, evolution(), call, executor, trials=trials)

    go(max(2, executor.slots))  # so that the workers are there, and all modules imported
    begun = time.perf_counter()
    go(max(2, executor.slots) + count)
    return time.perf_counter() - begun


def in_memory(count: int) -> float:
    """The same search as a plain loop."""

    def outcome(trial: Trial) -> Outcome:
        return Outcome.from_json(evaluate(trial.to_json()))

    searching = evolution()
    run(searching, outcome, 2)
    begun = time.perf_counter()
    run(searching, outcome, 2 + count)
    return time.perf_counter() - begun


# -- overhead ------------------------------------------------------------------------------


def overhead(store: Store, count: int, on_ray: bool) -> None:
    """Milliseconds for each trial, three times each, in turns; the median counts."""
    makers: dict[str, Callable[[], Executor]] = {
        "in process": InProcess,
        "local processes, 1 worker": lambda: LocalProcesses(1),
        "local processes, 2 workers": lambda: LocalProcesses(2),
    }
    if on_ray:
        makers["Ray, 2 workers"] = lambda: RayCluster(workers=2)
    loops, times = [], {name: [] for name in makers}
    for turn in range(3):
        loops.append(in_memory(count))
        for name, make in makers.items():
            with make() as executor:
                while not executor.slots:
                    time.sleep(0.1)
                times[name].append(study(store, executor, count, f"{name} {turn} {time.time()}"))
    plain = 1000 * statistics.median(loops) / count
    print(f"\noverhead of each trial, {count} trials, {store.title.partition(':')[0]}")
    print(f"{'a plain loop in memory':32} {plain:8.2f} ms")
    for name, found in times.items():
        each = 1000 * statistics.median(found) / count
        print(f"{name:32} {each:8.2f} ms, {each - plain:6.2f} ms more")


# -- overview ------------------------------------------------------------------------------


def fill(store: Store) -> Any:
    """A study of many trials, put there all at once."""
    made = create_study(store, f"large {time.time()}", {"method": "none"}, {}, target=STORED)
    zoo = [cw.zoo[name] for name in ("gru", "lstm", "rnn", "darts-v1", "darts-v2", "enas")]
    texts = {cell.id: cell.to_json(indent=None) for cell in zoo}
    names = [f"cell {number}" for number in range(STORED)]
    text = max(texts.values(), key=len)
    numbers = "[" + ", ".join(["5.1234567"] * EPOCHS) + "]"

    def rows(first: int) -> list[dict[str, Any]]:
        return [
            {
                "id": made.id * 10**7 + number, "study_id": made.id, "number": number,
                "cell_id": f"{made.id} {names[number]}", "fidelity": EPOCHS, "seed": number,
                "info": '{"parent": 17}', "state": "finished", "attempt": 1, "failures": 0,
                "losses": 0, "asked_at": 1.7e9 + number, "started_at": 1.7e9 + number,
                "ended_at": 1.7e9 + number + 60, "told": number, "told_after": number + 1,
                "status": "diverged" if number % 5 == 0 else "ok",
                "value": None if number % 5 == 0 else 4 + (number * 7919 % 10007) / 10007,
                "cost": 60.0, "seconds": 61.0, "parameters": 10**6, "peak_memory": 10**9,
                "measures": '{"test": 5.0, "epochs": 20, "begun_at": 0}',
            }
            for number in range(first, first + STEP)
        ]  # fmt: skip

    def write(connection: Connection) -> None:
        for first in range(0, STORED, STEP):
            some = rows(first)
            kept = [{"id": row["cell_id"], "json": text} for row in some]
            connection.execute(insert(cells), kept)
            connection.execute(insert(trials), some)
            drawn = [{"trial_id": r["id"], "name": "valid", "numbers": numbers} for r in some]
            connection.execute(insert(curves), drawn)
            tried = [
                {
                    "trial_id": row["id"], "number": 1, "driver_id": "d", "host": "h",
                    "started_at": row["started_at"], "ended_at": row["ended_at"],
                    "ending": "finished",
                }
                for row in some
            ]  # fmt: skip
            connection.execute(insert(attempts), tried)
        counts = {"asked": STORED, "told": STORED}
        connection.execute(update(studies).filter_by(id=made.id).values(**counts))

    store.write(write)
    return made


def stored(store: Store, place: str) -> None:
    """Seconds of what people ask of a large study."""
    begun = time.perf_counter()
    made = fill(store)
    print(f"\n{STORED:,} stored trials (filled in {time.perf_counter() - begun:.1f} s)")
    questions: dict[str, Callable[[], object]] = {
        "overview of the study": lambda: overview(store, made),
        "overviews of all studies": lambda: overviews(store),
        "its compute ledger": lambda: read_ledger(store, made),
        "its 10 best trials": lambda: best_trials(store, made),
        "curves of the 10 best": lambda: read_curves(
            store, made, [trial.number for trial in best_trials(store, made)]
        ),
        "all curves": lambda: read_curves(store, made),
        "all trials": lambda: list_trials(store, made),
        "all attempts": lambda: list_attempts(store, made),
        "'cellwright studies show', in all": lambda: show(made.name, place),
    }
    for name, ask in questions.items():
        times = []
        for _ in range(3):
            begun = time.perf_counter()
            ask()
            times.append(time.perf_counter() - begun)
        print(f"{name:32} {statistics.median(times):8.3f} s")


def show(name: str, place: str) -> None:
    """The whole command, from the start of its process."""
    command = [sys.executable, "-m", "cellwright", "studies", "show", name, "--store", place]
    subprocess.run(command, check=True, capture_output=True)


# -- workers -------------------------------------------------------------------------------


def workers(store: Store, seconds: float) -> None:
    """Trials per hour with one worker and with two, in turns."""
    begun = time.perf_counter()
    evaluate({"seed": 1}, steps=2_000_000)
    each = time.perf_counter() - begun
    steps = int(2_000_000 * 0.5 / each)  # about half a second a trial
    count = max(4, int(seconds / 3 / 0.5))
    rates: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(3):
        for number, found in rates.items():
            with LocalProcesses(number, threads=1) as executor:
                name = f"{number} workers {turn} {time.time()}"
                found.append(3600 * count / study(store, executor, count, name, steps))
    one, two = (statistics.median(found) for found in rates.values())
    print(f"\ntrials of about half a second, one thread each, {count} of them, three times")
    print(f"1 worker  {one:8.0f} trials an hour")
    print(f"2 workers {two:8.0f} trials an hour, {two / one:.2f} times as many")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["overhead", "overview", "workers"])
    parser.add_argument("--store", help="a file or a URL; a temporary SQLite file unless said")
    parser.add_argument("--trials", type=int, default=200, help="of each study of the overhead")
    parser.add_argument("--seconds", type=float, default=30.0, help="about, for 'workers'")
    parser.add_argument("--ray", action="store_true", help="measure the overhead on Ray too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = options.store or str(Path(folder) / "studies.db")
        measure(place, options)


def measure(place: str, options: argparse.Namespace) -> None:
    """Everything that was asked for."""
    with open_store(place) as store:
        if options.only in (None, "overhead"):
            overhead(store, options.trials, options.ray)
        if options.only in (None, "workers"):
            workers(store, options.seconds)
        if options.only in (None, "overview"):
            stored(store, place)


if __name__ == "__main__":
    main()
