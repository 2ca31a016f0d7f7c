"""Frozen language models as encoders, from start to end."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cellwright as cw
from cellwright.api import EncoderComparison
from cellwright.base.errors import UserError
from cellwright.base.threads import threads_for
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RunFolder
from cellwright.runs.trained import load_trained
from cellwright.tasks.sentences.use import Predictor
from runs.support import outcome
from tiny_models import tiny_run
from tiny_suite import tiny_suite


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two language models of one text."""
    first, second = (tiny_run(tmp_path_factory.mktemp(name)) for name in ("one", "two"))
    return [str(first), str(second.rename(second.with_name("second")))]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CELLWRIGHT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("CELLWRIGHT_CACHE", str(tmp_path / "cache"))
    tiny_suite(tmp_path)
    with threads_for(1):
        yield


def compare(runs: list[str], out: str = "out", **more: Any) -> EncoderComparison:
    usual = {"executor": "in-process", "progress": False, "baselines": False}
    return cw.compare_encoders(runs, "s.toml", out=out, **{**usual, **more})


def test_from_start_to_end_with_baselines(runs: list[str]):
    pytest.importorskip("gensim", reason="gensim is not installed (extra: search)")
    found = compare(runs, baselines=True, seeds=2, tasks=["pairs"], epochs=1)
    assert found.status == "ok"
    labels = [Path(runs[0]).name, "second", "sgns-bow-text-6", "sgns-lstm-text-6"]
    assert {row["encoder"] for row in found.rows()} == set(labels)
    document = json.loads(Path("out/results.json").read_text())
    assert [one["label"] for one in document["encoders"]] == labels[:2]
    assert document["encoders"][0]["perplexity"] > 1
    with open("out/table.csv", newline="") as file:
        table = {row["measure"]: row for row in csv.DictReader(file)}
    assert list(table) == ["pairs accuracy", "pairs F1", "average", "flat mean"]
    tests = []
    for label in labels[:2]:
        results = [RunFolder.open(f"out/pairs/runs/{label}-seed{n}").result() for n in (0, 1)]
        tests.append(sum(1 - one.test for one in results) / 2)
    assert float(table["pairs accuracy"]["mean"]) == pytest.approx(sum(tests) / 2)
    assert float(table["pairs accuracy"]["max"]) == pytest.approx(max(tests))
    for name in ("index.html", "table.md", "table.tex", "encoders.csv", "encoders.tex"):
        assert Path("out", name).stat().st_size
    kept = json.loads(Path("out/pairs/runs/second-seed0/run.json").read_text())
    assert kept["recipe"]["task"]["embeddings"][0]["run"] == runs[1]
    assert kept["cell"]["id"] == cw.zoo["gru"].id


def test_runs_tasks_and_seeds_may_be_added(runs: list[str]):
    compare(runs[:1], tasks=["who"], epochs=1)
    done = Path("out/who/runs", f"{Path(runs[0]).name}-seed0", "result.json")
    before = done.stat().st_mtime_ns
    found = compare(runs, seeds=2, epochs=1)
    assert done.stat().st_mtime_ns == before
    assert len(found.figures.encoders) == 2
    assert len(list(Path("out").rglob("result.json"))) == 8
    with pytest.raises(UserError, match="made with other settings"):
        compare(runs, epochs=1, settings={"model.projection": 5})


def test_a_head_that_was_killed_goes_on_to_the_same_bits(runs: list[str]):
    """From its last checkpoint, in another process."""
    longer = {"tasks": ["who"], "epochs": 120, "settings": {"training.patience": 120}}
    compare(runs[:1], out="whole", **longer)
    arguments = [
        "encoders", runs[0], "--suite", "s.toml", "--tasks", "who", "--no-baselines", "-o", "out",
        "--executor", "in-process",
        "--set", "training.patience=120", "--set", "training.epochs=120",
    ]  # fmt: skip
    label = f"{Path(runs[0]).name}-seed0"
    metrics = Path("out/who/runs", label, "metrics.jsonl")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-m", "cellwright", *arguments],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        until = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < until:
            if metrics.exists() and metrics.read_bytes().count(b"\n") >= 3:
                break
            time.sleep(0.005)
        process.kill()
    run = RunFolder.open(Path("out/who/runs", label))
    assert not run.ended
    compare(runs[:1], **longer)
    again = outcome(RunFolder.open(Path("out/who/runs", label)))
    assert again == outcome(RunFolder.open(Path("whole/who/runs", label)))


def test_what_is_wrong_is_said_before_anything_is_trained(runs: list[str]):
    with pytest.raises(RunError, match="nowhere"):
        compare(["nowhere"])
    with pytest.raises(UserError, match="unknown suite"):
        cw.compare_encoders(runs, "glew", progress=False)
    compare(runs[:1], tasks=["who"], out="done")
    head = next(Path("done/who/runs").iterdir())
    with pytest.raises(RunError, match="has learned the task 'sentences'"):
        compare([str(head)])
    with pytest.raises(UserError, match="rte: rte is not on this machine"):
        cw.compare_encoders(
            runs, "glue-laptop", tasks=["rte"], progress=False, executor="in-process", out="out"
        )
    assert not Path("out").exists()


def test_a_head_reads_any_sentences(runs: list[str]):
    compare(runs[:1], tasks=["pairs"])
    head = next(Path("out/pairs/runs").iterdir())
    loaded = load_trained(head, alone=True)
    [said] = Predictor(loaded.task, loaded.model).predict([("ann lives .", "bob somewhere")])
    assert said.label in ("yes", "no")
