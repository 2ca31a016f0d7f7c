"""Checkpoints: what goes in comes out, bit for bit; damage of any kind is noticed."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st

from cellwright.base.errors import FileError
from cellwright.runs.checkpoints import load_checkpoint, load_state, save_checkpoint
from cellwright.runs.errors import RunError
from runs.support import as_bytes, largest_file

DTYPES = [torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool, torch.bfloat16]

TENSORS = {
    "weights": torch.randn(5, 3, generator=torch.Generator().manual_seed(0)),
    "steps": torch.tensor(7),
    "random": torch.arange(256, dtype=torch.uint8),
}
STATE = {"epoch": 3, "rate": 0.1 + 0.2, "words": ["ä", "\n", '"'], "none": None, "on": True}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A good checkpoint."""
    path = tmp_path / "last.safetensors"
    save_checkpoint(path, TENSORS, STATE)
    return path


def test_round_trip(path: Path):
    found = load_checkpoint(path)
    assert as_bytes(found.tensors) == as_bytes(TENSORS)
    assert found.state == STATE
    assert load_state(path) == STATE


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8).filter(lambda name: name != "__metadata__"),
        st.tuples(
            st.sampled_from(DTYPES),
            st.lists(st.integers(0, 4), max_size=3),
            st.binary(min_size=8 * 64, max_size=8 * 64),
        ),
        max_size=5,
    )
)
def test_every_bit_of_every_type_and_shape(tmp_path_factory: pytest.TempPathFactory, drawn):
    path = tmp_path_factory.mktemp("c") / "checkpoint"
    tensors = {}
    for name, (dtype, shape, data) in drawn.items():
        raw = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        raw = raw & 1 if dtype is torch.bool else raw
        tensors[name] = raw.view(dtype)[: math.prod(shape)].reshape(shape)
    save_checkpoint(path, tensors, {})
    assert as_bytes(load_checkpoint(path).tensors) == as_bytes(tensors)


def test_numbers_that_are_not_finite(tmp_path: Path):
    path = tmp_path / "c"
    numbers = torch.tensor([math.nan, math.inf, -math.inf, -0.0])
    save_checkpoint(path, {"n": numbers}, {"best": math.inf, "loss": math.nan})
    found = load_checkpoint(path)
    assert as_bytes(found.tensors) == as_bytes({"n": numbers})
    assert found.state["best"] == math.inf
    assert math.isnan(found.state["loss"])


def test_tied_tensors_are_kept_once_and_tied_again(tmp_path: Path):
    path = tmp_path / "c"
    weight = torch.nn.Parameter(torch.randn(100, 100))
    tied = {"embedding": weight, "decoder": weight, "turned": weight.t(), "part": weight[:50]}
    save_checkpoint(path, tied, {})
    found = load_checkpoint(path).tensors
    assert found["embedding"].data_ptr() == found["decoder"].data_ptr()
    assert as_bytes(found) == as_bytes({name: t.detach() for name, t in tied.items()})
    assert path.stat().st_size < 4 * 100 * 100 * 2.6


def test_other_readers_can_open_it(path: Path):
    assert as_bytes(safetensors.torch.load_file(path)) == as_bytes(TENSORS)


def test_loaded_tensors_are_the_readers_own(path: Path):
    found = load_checkpoint(path)
    path.write_bytes(bytes(path.stat().st_size))
    found.tensors["weights"].add_(1)
    assert torch.equal(found.tensors["weights"], TENSORS["weights"] + 1)


def test_every_cut_is_noticed(path: Path):
    whole = path.read_bytes()
    for length in [*range(0, 64), *range(64, len(whole), 13), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(RunError, match=r"last\.safetensors is damaged"):
            load_checkpoint(path)


def test_every_flipped_bit_is_noticed(path: Path):
    whole = path.read_bytes()
    end = 8 + int.from_bytes(whole[:8], "little")
    padding = whole[:end].rstrip(b" ")
    for place in range(len(whole)):
        if len(padding) <= place < end:
            continue  # spaces that say nothing
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(RunError, match=r"last\.safetensors"):
            load_checkpoint(path)


def test_bytes_behind_the_end_are_noticed(path: Path):
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(RunError, match="damaged"):
        load_checkpoint(path)


def test_what_is_no_checkpoint(tmp_path: Path):
    path = tmp_path / "file"
    with pytest.raises(RunError, match=r"there is no checkpoint .*file"):
        load_checkpoint(path)
    path.write_text("epochs = 3\n" * 100)
    with pytest.raises(RunError, match=r"file is damaged: it is cut off, or no safetensors file"):
        load_checkpoint(path)
    safetensors.torch.save_file({"w": torch.zeros(3)}, path)
    with pytest.raises(RunError, match=r"file is a safetensors file, but not a checkpoint"):
        load_checkpoint(path)
    with pytest.raises(FileError, match=r"cannot read .*: is a directory"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ({"format": "cellwright-checkpoint/2"}, "this version of cellwright reads"),
        ({"format": "cellwright-checkpoint/1"}, "damaged"),
        ({"format": "cellwright-checkpoint/1", "state": "[]", "aliases": "{}"}, "damaged"),
    ],
)
def test_headers_of_others(tmp_path: Path, metadata: dict[str, str], says: str):
    path = tmp_path / "c"
    safetensors.torch.save_file({"w": torch.zeros(3)}, path, metadata)
    with pytest.raises(RunError, match=says):
        load_checkpoint(path)
    with pytest.raises(RunError, match=says):
        load_state(path)


def test_the_last_good_checkpoint_survives_a_full_disk(path: Path):
    with largest_file(1000), pytest.raises(FileError, match="cannot write"):
        save_checkpoint(path, {"w": torch.zeros(1000)}, {})
    assert load_checkpoint(path).state == STATE


def test_tensors_of_types_that_no_checkpoint_holds(tmp_path: Path):
    with pytest.raises(TypeError, match="w: a checkpoint cannot hold"):
        save_checkpoint(tmp_path / "c", {"w": torch.zeros(1, dtype=torch.complex64)}, {})


def test_the_state_is_json_in_the_header(path: Path):
    with safetensors.safe_open(path, "pt") as file:
        metadata = file.metadata()
    assert metadata["format"] == "cellwright-checkpoint/1"
    assert json.loads(metadata["state"]) == STATE
