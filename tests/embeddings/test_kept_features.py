"""Features that are kept: precision, and room on the disk."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cellwright.embeddings import disk_room
from cellwright.embeddings.disk_room import cache_limit, check_room
from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.kept_features import Features, put

SENTENCES = [["a", "b"], ["c"]]


def features(half: bool = False, scale: float = 1.0, **others: Any) -> Features:
    def compute(out: torch.Tensor, progress: Any) -> None:
        put(out, torch.arange(3), scale * torch.tensor([[0.1, 1.0]] * 3))

    values = {"sentences": SENTENCES, "width": 2, "compute": compute, **others}
    return Features("test", ["x"], half=half, **values)


def test_half_precision_takes_half_the_room(cache: Path):
    full, half = features(), features(half=True)
    assert (full.missing, half.missing) == (24, 12)
    assert full.get().dtype == np.float32
    assert half.get().dtype == np.float16
    np.testing.assert_allclose(half.get(), full.get(), rtol=2**-11)
    assert full.missing == half.missing == 0


def test_numbers_that_half_precision_lacks_are_an_error():
    with pytest.raises(EmbeddingError, match="70,000 are too large for half precision"):
        features(half=True, scale=70_000.0).get()


@pytest.mark.parametrize(
    ("text", "size"), [("20GB", 20 * 10**9), ("1.5 mb", 1_500_000), ("7", 7), ("", None)]
)
def test_limits_are_amounts(text: str, size: int | None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(disk_room.LIMIT, text)
    assert cache_limit() == size


def test_a_limit_that_is_no_amount_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(disk_room.LIMIT, "much")
    with pytest.raises(EmbeddingError, match="should be an amount such as 20GB, not 'much'"):
        check_room(1)


def test_what_passes_the_limit_is_not_computed(cache: Path, monkeypatch: pytest.MonkeyPatch):
    features().get()
    taken = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())
    more = [["d"] * 10**6]
    never = {"sentences": more, "compute": lambda *_: pytest.fail("computed")}
    monkeypatch.setenv(disk_room.LIMIT, f"{taken + 8 * 10**6 - 1}")
    says = (
        r"features of 8 MB are not computed, .*: 0 MB are there, and CELLWRIGHT_CACHE_LIMIT is 8 MB"
    )
    with pytest.raises(EmbeddingError, match=says) as caught:
        features(**never).get()
    assert "half = true" in str(caught.value)
    features().get()  # what is kept can be used
    check_room(8 * 10**6 - 1)


def test_a_part_of_the_disk_stays_free(cache: Path, monkeypatch: pytest.MonkeyPatch):
    usage = type("Usage", (), {"total": 100 * 10**9, "free": 3 * 10**9})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    check_room(2 * 10**9)
    says = "3.0 GB of the disk are free, of which 1.0 GB are to stay so"
    with pytest.raises(EmbeddingError, match=says) as caught:
        check_room(2 * 10**9 + 1, half=True)
    assert "half" not in str(caught.value)
