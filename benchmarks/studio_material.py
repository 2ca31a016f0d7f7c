"""A large folder for the studio: many runs and a study of many trials, by cellwright's own writers.

    python benchmarks/studio_material.py FOLDER --runs 200 --trials 20000

The figures are made up; the files are what trainings and studies write.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, insert, update

import cellwright as cw
from cellwright.cell import Cell
from cellwright.runs.folder import METRICS, RunFolder
from cellwright.runs.info import CellInfo, DataInfo, RunInfo
from cellwright.runs.metrics_file import MetricsWriter
from cellwright.runs.recipes import load_recipe
from cellwright.spaces import Enas
from cellwright.tasks.metric import Metric
from cellwright.training.results import EpochDone, EpochRecord, Result, StepDone, best_of
from cellwright.trials.store import Store, Study, create_study, open_store
from cellwright.trials.store.tables import attempts, cells, curves, studies, trials
from cellwright.trials.task_label import TaskLabel

PERPLEXITY = Metric(name="perplexity", form="exponential", unit="nats a word", items="words")
REASONS = (
    "out of memory: the worker was killed after it had taken 7.9 GB",
    "the machine was away for longer than its lease",
    "CUDA error: device-side assert triggered",
)
STEP = 5000


def write_run(path: Path, cell: Cell, epochs: int, seed: int, ended: bool = True) -> RunFolder:
    """A run of made-up figures, with steps and epochs."""
    rng = random.Random(seed)
    recipe = load_recipe("laptop", [f"training.epochs={epochs}"])
    info = RunInfo(
        cell=CellInfo(name=cell.name, id=cell.id),
        metric=PERPLEXITY,
        data=DataInfo(name="made-up", fingerprint="0" * 64, description="made-up: 10,000 words"),
        seed=seed,
        recipe=recipe,
        threads=1,
        created=datetime.now(timezone.utc) - timedelta(minutes=10 * seed),
    )
    folder = RunFolder.create(info, cell, path=path)
    writer = MetricsWriter(folder.path / METRICS, 0)
    curve = []
    for epoch in range(1, epochs + 1 if ended else max(2, epochs // 2)):
        for step in range(20, 101, 20):
            loss = 4 + 3 * math.exp(-(epoch + step / 100) / 4) + rng.gauss(0, 0.08)
            done = StepDone(epoch, step, 100, 700, loss, 0.01, 5e4, 30.0 * epoch)
            writer.append(done.to_record())
        valid = 4.1 + 2.4 * math.exp(-epoch / 4) + rng.gauss(0, 0.02)
        record = EpochRecord(
            epoch, valid - 0.1, valid, valid - 0.05, 0.01, 30.0 * epoch, 400 * 2**20, False
        )
        curve.append(record)
        writer.append(EpochDone(record, best_of(tuple(curve)) is record).to_record())
    writer.close()
    best = best_of(tuple(curve))
    if ended and best is not None:
        last = 30.0 * epochs
        result = ("ok", tuple(curve), best.epoch, best.valid, best.test, last, 10**6, 400 * 2**20)
        folder.write_result(Result(*result))
        folder.set_status("finished")
    return folder


def write_study(store: Store, name: str, count: int, distinct: int = 400) -> Study:
    """A study of so many trials, put there at once: an evolution, of which some trials fail."""
    rng, drawn = random.Random(name), np.random.default_rng(list(name.encode()))
    space = Enas(nodes=6)
    found: dict[str, str] = {}
    while len(found) < min(distinct, count):
        cell = space.sample(drawn)
        found[cell.id] = cell.to_json(indent=None)
    ids = list(found)
    label = TaskLabel("language", PERPLEXITY, "made-up: 10,000 words")
    search = {
        "method": "aging-evolution",
        "settings": {"population": 100},
        "space": {"name": "enas"},
    }
    made = create_study(store, name, search, {}, target=count, task=label)
    begun = time.time() - 30 * count

    def row(number: int) -> dict[str, Any]:
        parent = rng.randrange(max(0, number - 100), number) if number >= 100 else None
        at = begun + 30 * number
        kind = rng.random()
        state, status, error = "finished", "ok", None
        if kind < 0.03:
            state, status, error = "failed", "failed", rng.choice(REASONS)
        elif kind < 0.1:
            status = "loss is nan"
        value = 4.2 + 1.5 * math.exp(-number / (count / 4)) + abs(rng.gauss(0, 0.25))
        return {
            "id": made.id * 10**7 + number, "study_id": made.id, "number": number,
            "cell_id": rng.choice(ids), "fidelity": 5, "seed": number,
            "info": json.dumps({} if parent is None else {"parent": parent}), "state": state,
            "attempt": 1, "failures": int(state == "failed"), "losses": 0, "asked_at": at,
            "started_at": at, "ended_at": at + 25, "told": number, "told_after": number + 1,
            "status": status, "value": value if status == "ok" else None, "cost": 24.0,
            "seconds": 25.0, "parameters": rng.randrange(10**5, 10**6), "peak_memory": 10**9,
            "measures": json.dumps({"test": value, "epochs": 5}) if status == "ok" else None,
            "error": error,
        }  # fmt: skip

    def write(connection: Connection) -> None:
        connection.execute(insert(cells), [{"id": i, "json": text} for i, text in found.items()])
        for first in range(0, count, STEP):
            some = [row(number) for number in range(first, min(first + STEP, count))]
            connection.execute(insert(trials), some)
            drawn = [
                {
                    "trial_id": each["id"], "name": "valid",
                    "numbers": json.dumps([each["value"] + 1 / n for n in range(1, 6)]),
                }
                for each in some
                if each["value"] is not None
            ]  # fmt: skip
            connection.execute(insert(curves), drawn)
            tried = [
                {
                    "trial_id": each["id"], "number": 1, "driver_id": "d", "host": "h",
                    "started_at": each["started_at"], "ended_at": each["ended_at"],
                    "ending": "finished" if each["state"] == "finished" else "error",
                    "message": each["error"],
                }
                for each in some
            ]  # fmt: skip
            connection.execute(insert(attempts), tried)
        counts = {"asked": count, "told": count}
        connection.execute(update(studies).filter_by(id=made.id).values(**counts))

    store.write(write)
    return made


def write_folder(folder: Path, runs: int, count: int, epochs: int = 20) -> None:
    """Runs in `runs`, and a study in `studies.db`."""
    zoo = [cw.zoo[name] for name in ("gru", "lstm", "rnn", "darts-v1", "enas")]
    for number in range(runs):
        cell = zoo[number % len(zoo)]
        path = folder / "runs" / f"{cell.name}-{number:03}"
        write_run(path, cell, epochs, number, ended=number % 7 != 0)
    if count:
        with open_store(folder / "studies.db") as store:
            write_study(store, "evolution", count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--trials", type=int, default=20_000)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    write_folder(given.folder, given.runs, given.trials)


if __name__ == "__main__":
    main()
