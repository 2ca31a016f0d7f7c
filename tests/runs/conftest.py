"""A small text for all tests of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.support import write_corpus


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train, valid and test text."""
    return write_corpus(tmp_path_factory.mktemp("corpus") / "small")
