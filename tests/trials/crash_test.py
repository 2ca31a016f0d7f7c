"""Kill workers, drivers and machines at random moments; every finished trial must be there once.

    python tests/trials/crash_test.py                 # 2 local workers, SQLite
    python tests/trials/crash_test.py --postgresql    # 4 drivers on one study, PostgreSQL
    python tests/trials/crash_test.py --ray           # Ray with two simulated machines, SQLite
    python tests/trials/crash_test.py --tune          # of any of these: trials differ in settings

Worker processes are killed `--workers` times and drivers `--drivers` times, all with the signal
that nobody can catch. A driver that was killed is started again. On Ray, machines vanish as well,
`--machines` times, and new ones come. When the study is complete, its trials and outcomes must be
those of an undisturbed run, told once each. Prints a line for each kill.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from sqlalchemy import func, select  # noqa: E402

from cellwright.cell.zoo import zoo  # noqa: E402
from cellwright.search.blackbox.ask_tell import Method  # noqa: E402
from cellwright.search.blackbox.methods import method  # noqa: E402
from cellwright.spaces import Enas, Interval, Tuned, Varied  # noqa: E402
from cellwright.trials.executors import (  # noqa: E402
    Call,
    Executor,
    InProcess,
    Limits,
    LocalProcesses,
    RayCluster,
)
from cellwright.trials.store import (  # noqa: E402
    Retries,
    Store,
    find_study,
    has_study,
    list_attempts,
    list_trials,
    open_store,
    overview,
    read_curves,
)
from cellwright.trials.store.log import read_log  # noqa: E402
from cellwright.trials.store.tables import attempts  # noqa: E402
from cellwright.trials.study import run_study  # noqa: E402
from trials.executors.simulated import add_machine, remove_machine, simulated_cluster  # noqa: E402

SPACE = Enas(nodes=4)
SETTINGS = Tuned(
    (zoo["lstm"], zoo["gru"]),
    (
        Varied("training.learning_rate", Interval(1e-4, 1e-1, log=True)),
        Varied("model.layers", (1, 2, 3)),
        Varied("model.dropout", Interval(0.0, 0.5), when={"model.layers": (2, 3)}),
    ),
)
NAME = "crash test"
MARK, MARKED = "CELLWRIGHT_CRASH_TEST", str(os.getpid())
"""What the processes of this test have in their environment."""
NO_TRIALS_FAULT = Retries(failures=100, losses=100)
"""Who kills at random must not hold it against the trials."""


def searching(tune: bool) -> Method:
    """What asks for trials."""
    if tune:
        return method("tpe", SETTINGS, startup=10, lag=8)
    return method("aging-evolution", SPACE, population=10, sample=4, lag=8)


def drive(
    place: str,
    trials: int,
    seconds: float,
    address: str | None,
    name: str = NAME,
    *,
    tune: bool = False,
) -> None:
    """Be a driver until the study is complete."""
    limits = Limits(seconds=30 + 10 * seconds, memory=2**30)
    executor: Executor
    if name != NAME:
        executor = InProcess()
    elif address is not None:
        executor = RayCluster(address, limits=limits)
    else:
        executor = LocalProcesses(2, limits=limits)
    with open_store(place) as store, executor:
        run_study(
            store,
            name,
            searching(tune),
            Call("trials.evaluators:evaluate", {"seconds": seconds if name == NAME else 0.0}),
            executor,
            trials=trials,
            retries=NO_TRIALS_FAULT,
            lease=20.0,
        )


# -- the killer ---------------------------------------------------------------------------


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        threads = Path(f"/proc/{pid}/task").iterdir()
        texts = [text, *((thread / "children").read_text() for thread in threads)]
        return sorted({int(word) for text in texts for word in text.split()})
    return []


def workers_of(drivers: list[subprocess.Popen[bytes]], on_ray: bool) -> list[int]:
    """The worker processes there are now; on Ray they are the actors' children."""
    if not on_ray:
        return [pid for driver in drivers for pid in children(driver.pid)]
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line, own = ((folder / file).read_bytes() for file in ("cmdline", "environ"))
            # Other work on this machine has such processes, too.
            if b"cellwright.trials.executors.worker" in line and f"{MARK}={MARKED}".encode() in own:
                found.append(int(folder.name))
    return found


def finished_attempts(place: str) -> int:
    """How many attempts there were so far."""
    with open_store(place) as store:
        return int(
            store.read(lambda c: c.execute(select(func.count(attempts.c.ending))).scalar_one())
        )


class Chaos:
    """Drivers that are started again and again until the study is complete, and what kills."""

    def __init__(self, options: argparse.Namespace, place: str, cluster: Any | None) -> None:
        self.options, self.place, self.cluster = options, place, cluster
        self.rng = random.Random(options.seed)
        self.drivers: list[subprocess.Popen[bytes]] = []
        self.begun = time.monotonic()
        self.killed = {"worker": 0, "driver": 0, "machine": 0}

    def start(self) -> subprocess.Popen[bytes]:
        address = [] if self.cluster is None else ["--address", self.cluster.address]
        trials = ["--trials", str(self.options.trials), "--seconds", str(self.options.seconds)]
        tune = ["--tune"] if self.options.tune else []
        command = [sys.executable, __file__, "--drive", self.place, *trials, *address, *tune]
        return subprocess.Popen(command)

    def run(self) -> None:
        count = 4 if self.options.postgresql else 1
        self.drivers = [self.start() for _ in range(count)]
        plan = ["worker"] * self.options.workers + ["driver"] * self.options.drivers
        plan += ["machine"] * (self.options.machines if self.cluster is not None else 0)
        self.rng.shuffle(plan)
        # The study must last until the last kill: each comes after some more trials have ended.
        step = max(1, int(0.8 * self.options.trials / (len(plan) + 1)))
        for number, what in enumerate(plan, 1):
            while finished_attempts(self.place) < number * step:
                self.look_after_drivers()
                time.sleep(0.05)
            time.sleep(self.rng.uniform(0, 2 * self.options.seconds))
            self.kill(what)
        for driver in self.drivers:
            if driver.wait():
                raise SystemExit(f"a driver failed with {driver.returncode}")

    def look_after_drivers(self) -> None:
        for driver in self.drivers:
            if driver.poll() not in (None, 0):
                raise SystemExit(f"a driver failed with {driver.returncode}")
        if all(driver.poll() == 0 for driver in self.drivers):
            raise SystemExit("the study was over before the last kill: let trials take longer")

    def kill(self, what: str) -> None:
        self.killed[what] += 1
        if what == "machine":
            remove_machine(self.cluster)
            add_machine(self.cluster)
            self.say("a machine vanished, another came")
            return
        if what == "driver":
            place = self.rng.randrange(len(self.drivers))
            victim = self.drivers[place]
            victim.kill()
            victim.wait()
            self.drivers[place] = self.start()
            self.say(f"driver {victim.pid} killed, {self.drivers[place].pid} goes on")
            return
        until = time.monotonic() + 60
        while time.monotonic() < until:
            found = workers_of(self.drivers, self.cluster is not None)
            if found:
                victim = self.rng.choice(found)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
                self.say(f"worker {victim} killed")
                return
            time.sleep(0.05)
        raise SystemExit("there is no worker to kill")

    def say(self, what: str) -> None:
        seconds = time.monotonic() - self.begun
        with open_store(self.place) as store:
            found = overview(store, find_study(store, NAME)) if has_study(store, NAME) else None
        ended = 0 if found is None else found.ended
        print(f"{seconds:6.1f} s  {ended:4} trials ended  {what}", flush=True)


# -- what must hold -----------------------------------------------------------------------


def described(store: Store, name: str) -> list[tuple[Any, ...]]:
    study = find_study(store, name)
    curves = read_curves(store, study)
    return [
        (
            t.number,
            t.cell_id,
            t.fidelity,
            t.seed,
            t.info.get("settings"),
            t.state,
            t.status,
            t.value,
            curves[t.number],
        )
        for t in list_trials(store, study)
    ]


def check(place: str, trials: int, tune: bool) -> None:
    """Compare the study with an undisturbed one, and count."""
    drive(place, trials, 0.0, None, "undisturbed", tune=tune)
    with open_store(place) as store:
        study = find_study(store, NAME)
        found = overview(store, study)
        log = store.read(lambda connection: read_log(connection, study.id))
        assert [trial["number"] for trial in log.trials] == list(range(trials))
        assert sorted(o["number"] for o in log.outcomes) == list(range(trials))
        assert found.states["finished"] == trials, found.states
        tried = list_attempts(store, study)
        finished = [attempt.trial for attempt in tried if attempt.ending == "finished"]
        assert sorted(finished) == list(range(trials))
        assert described(store, NAME) == described(store, "undisturbed")
        endings: dict[str, int] = {}
        for attempt in tried:
            endings[str(attempt.ending)] = endings.get(str(attempt.ending), 0) + 1
        print(
            f"{trials} trials, each finished and told once, equal to an undisturbed run; "
            f"{len(tried)} attempts: {endings}; drivers left: {found.drivers}"
        )


@contextlib.contextmanager
def surroundings(options: argparse.Namespace) -> Iterator[tuple[str, Any | None]]:
    """A store, and a cluster if one is wanted."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        place, cluster = str(Path(folder) / "studies.db"), None
        if options.postgresql:
            from trials.postgres import server

            place = stack.enter_context(server()).url
        if options.ray:
            cluster = stack.enter_context(simulated_cluster(machines=2))
        yield place, cluster


def main() -> None:
    """Kill as often as asked, then look."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--tune", action="store_true", help="TPE over settings")
    parser.add_argument("--workers", type=int, default=20, help="how many workers are killed")
    parser.add_argument("--drivers", type=int, default=5, help="how many drivers are killed")
    parser.add_argument("--machines", type=int, default=2, help="how many machines vanish (Ray)")
    parser.add_argument("--trials", type=int, default=150)
    parser.add_argument("--seconds", type=float, default=0.4, help="the mean length of a trial")
    parser.add_argument("--seed", type=int, default=0, help="of the kills")
    parser.add_argument("--drive", metavar="STORE", help=argparse.SUPPRESS)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.drive:
        drive(options.drive, options.trials, options.seconds, options.address, tune=options.tune)
        return
    os.environ[MARK] = MARKED
    with surroundings(options) as (place, cluster):
        open_store(place).close()
        chaos = Chaos(options, place, cluster)
        try:
            chaos.run()
        finally:
            for driver in chaos.drivers:
                driver.kill()
                driver.wait()
        check(place, options.trials, options.tune)
        print(f"killed: {chaos.killed}")


if __name__ == "__main__":
    main()
