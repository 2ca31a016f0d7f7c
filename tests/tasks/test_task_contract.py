"""The tasks that come with cellwright hold what every task has to hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cellwright.tasks.registry import BUILT_IN
from cellwright.testing import TASK_CHECKS, TaskCase

WORDS = [f"w{number}" for number in range(12)]

MODELS: dict[str, dict[str, Any]] = {
    "one-layer": {"kind": "one-layer", "hidden": 6, "dropout_x": 0.1, "dropout_output": 0.1},
    "awd": {"kind": "awd", "hidden": 6, "embedding": 5, "layers": 2, "weight_dropout": 0.1},
}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text in which each word follows from the one before."""
    folder = tmp_path_factory.mktemp("text")
    for part, lines in (("train", 12), ("valid", 6), ("test", 6)):
        rows = [
            " ".join(WORDS[(5 * line + 7 * at) % 12] for at in range(8)) for line in range(lines)
        ]
        (folder / f"{part}.txt").write_text("\n".join(rows) + "\n")
    return folder


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("check", TASK_CHECKS, ids=lambda check: check.__name__)
def test_language(check: Callable[[TaskCase], None], model: str, text: Path) -> None:
    check(TaskCase("language", {"data": str(text), "bptt": 7}, MODELS[model], batch=3))


def test_every_task_is_tested() -> None:
    assert set(BUILT_IN) == {"language"}
