"""Runs that take a moment: a small text, a narrow model, a few steps."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

import cellwright as cw
from cellwright.runs.folder import RunFolder
from cellwright.runs.recipes import Recipe, load_recipe
from cellwright.runs.run import Run, fresh_run

TIMES = ("seconds", "peak_memory", "speed")
"""What no run has twice."""

SETTINGS = (
    "model.hidden=6",
    "training.batch=8",
    "training.evaluation_batch=4",
    "task.bptt=7",
    "task.bptt_spread=2",
    "task.bptt_shortest=3",
    "training.epochs=3",
)


def write_corpus(folder: Path) -> Path:
    """A corpus of a few hundred words."""
    rng = random.Random(0)
    words = [f"w{number}" for number in range(20)]
    folder.mkdir(parents=True, exist_ok=True)
    for part, lines in (("train", 60), ("valid", 15), ("test", 15)):
        text = [" ".join(rng.choices(words, k=rng.randint(2, 9))) for _ in range(lines)]
        (folder / f"{part}.txt").write_text("\n".join(text) + "\n")
    return folder


def small_recipe(*settings: str) -> Recipe:
    """A recipe of some thirty steps."""
    return load_recipe("laptop", [*SETTINGS, *settings])


def small_run(corpus: Path, path: Path, *settings: str, seed: int = 0, cell: str = "gru") -> Run:
    """A new run in the folder `path`."""
    return fresh_run(cw.zoo[cell], small_recipe(*settings), seed, data=str(corpus), path=path)


def outcome(folder: RunFolder) -> dict[str, Any]:
    """All that has to be equal in two runs of one seed, whatever happened to them."""
    last, best, result = folder.last(), folder.best(), folder.result()
    assert last is not None
    assert best is not None
    assert result is not None
    return {
        "last": as_bytes(last.tensors),
        "best": as_bytes(best.tensors),
        "best_epoch": best.state["epoch"],
        "curve": [_timeless(vars(record)) for record in result.curve],
        "metrics": [_timeless(record) for record in folder.metrics()],
        "status": (folder.info.status, result.status),
    }


def as_bytes(tensors: Any) -> dict[str, tuple[Any, ...]]:
    """Tensors in a form that compares bit for bit."""
    return {
        name: (t.dtype, tuple(t.shape), t.contiguous().reshape(-1).view(torch.uint8).tolist())
        for name, t in tensors.items()
    }


def _timeless(record: Any) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in TIMES}


@contextlib.contextmanager
def largest_file(size: int) -> Iterator[None]:
    """The system refuses to let files grow beyond `size` bytes, as a full disk does."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
