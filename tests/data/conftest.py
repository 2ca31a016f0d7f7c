"""Corpora of a few words, and folders of their own for everything that is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from data.loopback import Server

TEXTS = {
    "train": b" the cat sat \n the dog ran \n\n a cat ran \n",
    "valid": b" the dog sat \n",
    "test": b" a cat sat \n",
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder; no corpora from outside, no proxies before the loopback."""
    monkeypatch.delenv("CELLWRIGHT_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "cache"
    monkeypatch.setenv("CELLWRIGHT_CACHE", str(folder))
    return folder


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """An empty folder for texts."""
    folder = tmp_path / "texts"
    folder.mkdir()
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a corpus: the small one, but for the parts that are given."""

    def write(folder: str = "corpus", form: str = "{}.txt", **parts: bytes | None) -> Path:
        path = tmp_path / folder
        path.mkdir(exist_ok=True)
        for part, text in {**TEXTS, **parts}.items():
            if text is not None:
                (path / form.format(part)).write_bytes(text)
        return path

    return write


@pytest.fixture
def server() -> Iterator[Server]:
    """A web server on the loopback."""
    with Server() as running:
        yield running
