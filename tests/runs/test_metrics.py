"""Metrics: each record once, readable by anything that reads JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.base.errors import FileError
from cellwright.base.files import closed
from cellwright.base.json_values import dumps, loads
from cellwright.runs.errors import RunError
from cellwright.runs.metrics_file import MetricsWriter, read_metrics
from runs.support import largest_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three records."""
    path = tmp_path / "metrics.jsonl"
    with closed(MetricsWriter(path, 0)) as writer:
        for epoch in (1, 2, 3):
            writer.append({"kind": "epoch", "epoch": epoch, "valid": 1 / epoch})
    return path


def epochs(path: Path) -> list[int]:
    return [record["epoch"] for record in read_metrics(path)]


def test_records_come_back(path: Path):
    assert read_metrics(path)[2] == {"kind": "epoch", "epoch": 3, "valid": 1 / 3}
    assert epochs(path) == [1, 2, 3]


def test_records_are_there_at_once(path: Path):
    with closed(MetricsWriter(path, 3)) as writer:
        writer.append({"epoch": 4})
        assert epochs(path) == [1, 2, 3, 4]
        assert writer.count == 4


def test_what_comes_after_the_checkpoint_is_dropped(path: Path):
    with closed(MetricsWriter(path, 1)) as writer:
        assert writer.count == 1
        writer.append({"epoch": 2})
    assert epochs(path) == [1, 2]
    MetricsWriter(path, 0).close()
    assert epochs(path) == []


@pytest.mark.parametrize("torn", [b'{"epoch": 4', b"\x00\x00", b"\x00\x00\n", b"{}x\n", b"4\n"])
def test_a_torn_last_line(path: Path, torn: bytes):
    path.write_bytes(path.read_bytes() + torn)
    assert epochs(path) == [1, 2, 3]
    with closed(MetricsWriter(path, 3)) as writer:
        writer.append({"epoch": 4})
    assert epochs(path) == [1, 2, 3, 4]


def test_damage_further_up(path: Path):
    path.write_bytes(b"{}\nnonsense\n" + path.read_bytes())
    with pytest.raises(RunError, match=r"metrics\.jsonl, line 2: not a record"):
        read_metrics(path)


def test_no_file(tmp_path: Path):
    with pytest.raises(RunError, match=r"there are no metrics .*metrics\.jsonl"):
        read_metrics(tmp_path / "metrics.jsonl")
    with pytest.raises(FileError, match="cannot write"):
        MetricsWriter(tmp_path / "missing" / "metrics.jsonl", 0)


def test_a_full_disk_leaves_what_was_there(path: Path):
    writer = MetricsWriter(path, 3)
    with largest_file(path.stat().st_size + 5):
        with pytest.raises(FileError, match=r"cannot write .*metrics\.jsonl"):
            writer.append({"epoch": 4})
        with pytest.raises(FileError):  # what is left cannot be written at the end either
            writer.close()
    assert epochs(path) == [1, 2, 3]


def test_every_reader_of_json_accepts_numbers_that_are_not_finite(tmp_path: Path):
    def refuse(word: str) -> float:
        raise AssertionError(f"{word} is not JSON")

    path = tmp_path / "metrics.jsonl"
    with closed(MetricsWriter(path, 0)) as writer:
        writer.append({"train": math.nan, "valid": math.inf, "test": [-math.inf, 1.0]})
    strict = json.loads(path.read_text(), parse_constant=refuse)
    assert strict == {"train": "NaN", "valid": "Infinity", "test": ["-Infinity", 1.0]}
    (found,) = read_metrics(path)
    assert math.isnan(found["train"])
    assert (found["valid"], found["test"]) == (math.inf, [-math.inf, 1.0])


WORDS = st.text().filter(lambda word: word not in ("NaN", "Infinity", "-Infinity"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_json_values_round_trip(value):
    assert loads(dumps(value)) == value
