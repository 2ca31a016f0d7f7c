"""Kill a training process at random moments, with the signal that nobody can catch.

    python tests/runs/kill_test.py --kills 20

A run without disturbance comes first. Then processes train the same run and are killed, each at a
random moment, from the making of the folder to the last file, every other one in the middle of a
write; the next one goes on. After each kill every file must be whole, and every run that comes to
its end must equal the first one bit for bit: last and best weights, optimizer, curve, metrics.
Prints a line for each kill.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch

import cellwright as cw
from cellwright.runs.checkpoints import load_checkpoint
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RunFolder
from cellwright.runs.listing import list_runs
from cellwright.runs.metrics_file import read_metrics
from cellwright.runs.recipes import load_recipe
from cellwright.runs.run import fresh_run, resume
from cellwright.runs.runner import train
from runs.support import outcome

SETTINGS = (
    "model.hidden=12",
    "training.batch=256",
    "training.evaluation_batch=200",
    "training.epochs=6",
    # Steps so wide that progress stops, after the fifth epoch, and weights are averaged.
    "training.optimizer=sgd",
    "training.learning_rate=100",
    "training.average_after=1",
)
HOW = {"checkpoint_steps": 2, "metrics_steps": 3}


def work(path: Path, settings: list[str]) -> None:
    """Train in a folder, to the end: from the start, or from wherever the last process was."""
    if path.exists():
        try:
            resume(path, **HOW)
        except RunError as error:
            if "nothing to resume" not in str(error):
                raise
    else:
        run = fresh_run(cw.zoo["darts-v1"], load_recipe("laptop", settings), path=path)
        train(run.folder, run.training, **HOW)


def start(path: Path, settings: list[str]) -> int:
    """The same in a process of its own; its number."""
    number = os.fork()
    if number == 0:
        code = 1
        try:
            work(path, settings)
            code = 0
        finally:
            os._exit(code)
    return number


def killed_after(number: int, seconds: float, writing: Path | None) -> bool:
    """Let a process work for so long, then kill it; whether it was still there.

    Args:
        number: of the process.
        seconds: how long it may work.
        writing: a run's folder, to wait further until a file in it is half-written.
    """
    end = time.monotonic() + seconds
    while not _ended(number, os.WNOHANG):
        late = time.monotonic() >= end
        if late and (writing is None or any(writing.glob(".*.tmp"))):
            os.kill(number, signal.SIGKILL)
            return not _ended(number, 0)
        if not late:
            time.sleep(0.001)
    return False


def _ended(number: int, options: int) -> bool:
    """Whether a process has come to its end; an error if that was not a good one."""
    found, status = os.waitpid(number, options)
    if found == 0 or os.WIFSIGNALED(status):
        return False
    if os.WEXITSTATUS(status):
        raise SystemExit(f"a process failed with {os.WEXITSTATUS(status)}")
    return True


def check_files(path: Path) -> str:
    """Read every file of a run that was killed; how far it was."""
    listing = list_runs(path.parent)
    if not path.exists():  # but for what a kill while it was made has left, which the listing names
        assert all("half-made" in why for why in listing.skipped.values()), listing.skipped
        return "not made yet"
    assert not listing.skipped, listing.skipped
    folder = RunFolder.open(path)
    folder.cell()
    load_recipe(path / "recipe.toml")
    read_metrics(path / "metrics.jsonl")
    for file in path.glob("[!.]*.safetensors"):
        load_checkpoint(file)
    last = folder.last()
    if last is None:
        return "made"
    position = last.state["position"]
    half = [file.name for file in path.glob(".*")] + [file.name for file in path.glob("*.next.*")]
    return f"{position['steps']} steps {folder.state} {' '.join(half)}".rstrip()


def main() -> None:
    """Kill as often as asked, and compare whatever comes to its end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--set", action="append", default=[], help="a setting of the recipe")
    options = parser.parse_args()
    settings = [*SETTINGS, *options.set]
    rng = random.Random(options.seed)
    # Else every process would spend a second on what torch imports when it is first needed.
    torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "runs"
        begun = time.monotonic()
        os.waitpid(start(place / "undisturbed", settings), 0)
        seconds = time.monotonic() - begun
        expected = outcome(RunFolder.open(place / "undisturbed"))
        kills = runs = 0
        while kills < options.kills:
            path = place / f"run{runs}"
            # So long that about eight kills, or all that are left, meet one run.
            longest = 2 * seconds / (1 + min(8, options.kills - kills))
            writing = path if kills % 2 else None
            if killed_after(start(path, settings), rng.uniform(0, longest), writing):
                kills += 1
                print(f"kill {kills} in run {runs}: {check_files(path)}", flush=True)
                if kills < options.kills:
                    continue
            os.waitpid(start(path, settings), 0)
            if outcome(RunFolder.open(path)) != expected:
                raise SystemExit(f"run {runs} came out differently")
            print(f"run {runs}: equal", flush=True)
            runs += 1
    averaged = any(point["averaged"] for point in expected["curve"])
    print(f"{kills} kills, {runs} runs, all equal; averaged: {averaged}")


if __name__ == "__main__":
    main()
