"""Every test that asks for a `place` or a `store` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cellwright.trials.store import Store, open_store
from trials.postgres import emptied


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new store can be."""
    if request.param == "sqlite":
        return str(tmp_path / "studies.db")
    return emptied(request.getfixturevalue("postgres"))


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    """A new store."""
    with open_store(place) as opened:
        yield opened
