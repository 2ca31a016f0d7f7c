"""The release's WikiText-2 logs, against what the raw JSON says.

The raw side of every comparison reads the zip file itself and knows nothing of the importer.
"""

from __future__ import annotations

import csv
import json
import math
import os
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cellwright.bench import Benchmark, Environment, attach_features, import_logs, load, save
from cellwright.bench.export import logs_zip
from cellwright.bench.summary import of_architectures, of_runs
from cellwright.cell import formats

DATA = Path(os.environ.get("CELLWRIGHT_DATA", "")) / "nas-bench-nlp"
LOGS = DATA / "train_logs_wikitext-2.zip"
FEATURES = DATA / "graph2vec_features_10d.csv"
pytestmark = pytest.mark.skipif(
    "CELLWRIGHT_DATA" not in os.environ or not LOGS.exists(),
    reason="CELLWRIGHT_DATA does not point to a folder with nas-bench-nlp/",
)


@pytest.fixture(scope="module")
def raw() -> list[dict[str, Any]]:
    with zipfile.ZipFile(LOGS) as archive:
        return [json.loads(archive.read(name)) for name in archive.namelist()]


@pytest.fixture(scope="module")
def by_recipe(raw) -> dict[str, list[dict[str, Any]]]:
    groups = defaultdict(list)
    for log in sorted(raw, key=lambda log: log["recepie_id"]):
        groups[log["recepie"]].append(log)
    return dict(groups)


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    found = import_logs([LOGS])
    assert found.skipped == found.remarks == ()
    assert found.logs == 197
    return found.benchmark


def finite(values: list[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def test_counts(benchmark, raw, by_recipe):
    assert len(raw) == benchmark.run_count == 197
    assert len(by_recipe) == len(benchmark) == 169
    assert len(set(benchmark.graphs)) == 156
    assert sum(log["status"] != "OK" for log in raw) == 3
    assert benchmark.has_status("diverged").sum() == 3
    assert benchmark.has_status("ok").sum() == 194
    assert benchmark.most_epochs == 50
    assert (benchmark.title, benchmark.corpus) == ("wikitext-2", "wikitext-2")
    repeats = sorted(len(logs) for logs in by_recipe.values())
    assert sorted(np.diff(benchmark.first_run).tolist()) == repeats


def test_every_number_of_every_log(benchmark, by_recipe):
    for recipe, logs in by_recipe.items():
        number = benchmark.find(str(logs[0]["recepie_id"]))
        architecture = benchmark.architecture(number)
        assert formats.write(architecture.cell, "nas-bench-nlp").split() == (
            formats.write(formats.read(recipe)[0], "nas-bench-nlp").split()
        )
        assert len(architecture.runs) == len(logs)
        for run, log in zip(architecture.runs, logs, strict=True):
            assert run.label == str(log["recepie_id"])
            assert run.parameters == log["num_params"]
            assert run.message == log["status"]
            for values, key in (
                (run.valid, "val_losses"),
                (run.test, "test_losses"),
                (run.train, "train_losses"),
                (run.seconds, "wall_times"),
            ):
                assert np.array_equal(values, log[key], equal_nan=True)


def test_best_values(benchmark, raw, by_recipe):
    runs = of_runs(benchmark)
    labels = {label: number for number, label in enumerate(benchmark.label)}
    for log in raw:
        number = labels[str(log["recepie_id"])]
        valid = finite(log["val_losses"])
        assert runs.seconds[number] == pytest.approx(math.fsum(log["wall_times"]))
        if not valid:
            assert runs.best_epoch[number] == 0
            assert math.isnan(runs.valid[number])
            continue
        epoch = log["val_losses"].index(min(valid))
        assert runs.best_epoch[number] == epoch + 1
        assert runs.valid[number] == log["val_losses"][epoch]
        assert runs.test[number] == log["test_losses"][epoch]
        assert runs.lowest_test[number] == min(finite(log["test_losses"]))
    lowest = min(min(finite(log["test_losses"]), default=math.inf) for log in raw)
    assert Environment(benchmark).lowest_test == lowest
    figures = of_architectures(benchmark)
    for number, logs in enumerate(by_recipe.values()):
        fine = [log for log in logs if log["status"] == "OK"]
        assert figures.ok[number] == len(fine)
        if fine:
            mean = sum(min(log["val_losses"]) for log in fine) / len(fine)
            assert figures.valid[number] == pytest.approx(mean)


def test_training_everything_costs_all_wall_time_and_finds_the_best(benchmark, raw):
    environment = Environment(benchmark)
    for number in range(len(benchmark)):
        for seed in environment.seeds(number):
            for epochs in (3, 10, 50):
                environment.train(number, epochs, seed)
    assert environment.seconds == pytest.approx(sum(math.fsum(log["wall_times"]) for log in raw))
    best = min(raw, key=lambda log: min(finite(log["val_losses"]), default=math.inf))
    epoch = best["val_losses"].index(min(best["val_losses"]))
    found = environment.best
    assert benchmark.label[benchmark.runs_of(found.architecture)[found.seed]] == str(
        best["recepie_id"]
    )
    assert (found.epoch, found.valid) == (epoch + 1, best["val_losses"][epoch])
    assert found.test == best["test_losses"][epoch]


def test_the_features_of_the_release(benchmark):
    with open(FEATURES) as file:
        rows = {row["recepie_id"]: row for row in csv.DictReader(file)}
    assert len(rows) == 14322
    found, covered = attach_features(benchmark, FEATURES)
    labels = list(benchmark.label)
    for number in range(len(benchmark)):
        known = [labels[run] for run in benchmark.runs_of(number) if labels[run] in rows]
        row = found.features["graph2vec_features_10d"][number]
        if known:
            assert row.tolist() == [float(rows[known[0]][f"v{i:02}"]) for i in range(10)]
        else:
            assert np.isnan(row).all()
    assert covered == 67


def test_file_and_logs_bring_it_back(benchmark, tmp_path):
    from bench_tables import same

    assert same(load(save(benchmark, tmp_path / "w.bench")), benchmark)
    (tmp_path / "logs.zip").write_bytes(logs_zip(benchmark))
    again = import_logs([tmp_path / "logs.zip"]).benchmark
    assert same(again, benchmark)
