"""Reading on in a file that grows gives what reading all of it gives."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from cellwright.runs.metrics_file import MetricsWriter, read_metrics
from cellwright.studio.metrics_tail import MOST_STEPS, MetricsTail, position


def step(epoch: int, number: int) -> dict[str, object]:
    return {"kind": "step", "epoch": epoch, "step": number, "steps": 10, "loss": 1.5}


def epoch(number: int) -> dict[str, object]:
    return {"kind": "epoch", "epoch": number, "valid": float("nan")}


def test_what_is_appended_is_read_once(tmp_path: Path):
    path = tmp_path / "metrics.jsonl"
    tail = MetricsTail(path)
    assert not tail.read_on()  # not there yet
    writer = MetricsWriter(path, 0)
    for number in range(1, 4):
        writer.append(step(number, 5))
        assert tail.read_on()
        assert position(tail.last_step or {}) == number - 0.5
        writer.append(epoch(number))
        assert tail.read_on()
        assert not tail.read_on()
        assert tail.last_step is None
        assert [each["epoch"] for each in tail.epochs] == list(range(1, number + 1))
    writer.close()
    kinds = [record["kind"] for record in read_metrics(path)]
    assert kinds.count("step") == len(tail.steps())


def test_a_line_that_is_being_written_waits(tmp_path: Path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"kind": "epoch", "epoch": 1}\n{"kind": "epo')
    tail = MetricsTail(path)
    tail.read_on()
    assert len(tail.epochs) == 1
    with path.open("a") as file:
        file.write('ch", "epoch": 2}\n')
    tail.read_on()
    assert [each["epoch"] for each in tail.epochs] == [1, 2]
    assert tail.damaged is None


def test_a_run_that_goes_on_from_a_checkpoint_is_read_anew(tmp_path: Path):
    path = tmp_path / "metrics.jsonl"
    writer = MetricsWriter(path, 0)
    for number in range(1, 5):
        writer.append(epoch(number))
    writer.close()
    tail = MetricsTail(path)
    tail.read_on()
    writer = MetricsWriter(path, keep=2)  # as a resumed training does
    writer.append(epoch(3))
    writer.close()
    tail.read_on()
    assert [each["epoch"] for each in tail.epochs] == [1, 2, 3]


def test_of_many_steps_some_are_kept_evenly(tmp_path: Path):
    path = tmp_path / "metrics.jsonl"
    writer = MetricsWriter(path, 0)
    for number in range(10 * MOST_STEPS):
        writer.append({**step(1, 1), "loss": float(number)})
    writer.close()
    tail = MetricsTail(path)
    tail.read_on()
    losses = [each["loss"] for each in tail.steps()]
    assert MOST_STEPS <= len(losses) <= 2 * MOST_STEPS + 1
    gaps = {b - a for a, b in pairwise(losses)}
    assert len(gaps) == 1
    assert tail.last_step is not None
    assert tail.last_step["loss"] == 10 * MOST_STEPS - 1


def test_a_damaged_line_is_noticed(tmp_path: Path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"kind": "epoch", oops}\n{"kind": "epoch", "epoch": 2}\n')
    tail = MetricsTail(path)
    tail.read_on()
    assert tail.damaged is not None
    assert str(path) in tail.damaged
