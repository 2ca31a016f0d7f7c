"""Train in a folder on a small disk of its own, which is filled on the way.

unshare -rm sh -c 'mount -t tmpfs -o size=400k none /mnt && python tests/runs/full_disk.py /mnt'
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from cellwright.base.errors import FileError
from cellwright.runs.checkpoints import load_state
from cellwright.runs.folder import RunFolder
from cellwright.runs.run import resume
from cellwright.runs.runner import train
from runs.support import outcome, small_run, write_corpus


def fails(says: str, work: Callable[[], object]) -> None:
    """Do something that has to fail with these words."""
    try:
        work()
    except FileError as error:
        if says not in str(error):
            raise
        print(error)
    else:
        raise SystemExit(f"nothing failed with {says!r}")


def fill(path: Path) -> None:
    """Write a file until the disk has room for a few bytes at most."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(bytes(100)):
            pass


def main(disk: Path, elsewhere: Path) -> None:
    """Fill the disk in the middle of a run; make room; compare with a run that had room."""
    corpus = write_corpus(elsewhere / "text")
    whole = small_run(corpus, elsewhere / "whole")
    train(whole.folder, whole.training)

    run = small_run(corpus, disk / "run")
    path, filler = run.folder.path, disk / "filler"
    left = iter(range(12, -1, -1))

    def watch(event: object) -> None:
        if next(left) == 0:
            fill(filler)

    how = {"watch": watch, "checkpoint_steps": 1}
    fails("the disk is full: make room", lambda: train(run.folder, run.training, **how))
    before = load_state(path / "last.safetensors")
    assert before["position"]["steps"] > 10
    assert not list(path.glob(".*"))

    fails("the disk is full", lambda: small_run(corpus, disk / "another"))
    assert sorted(entry.name for entry in disk.iterdir()) == ["filler", "run"]

    filler.unlink()
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    fails("read-only file system", lambda: resume(path))
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)

    assert load_state(path / "last.safetensors") == before
    resume(path)
    assert outcome(RunFolder.open(path)) == outcome(whole.folder)
    print("resumed and equal")


if __name__ == "__main__":
    with TemporaryDirectory() as name:
        main(Path(sys.argv[1]), Path(name))
