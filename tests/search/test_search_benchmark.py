"""The search's benchmark compares like with like, and runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import search_step  # noqa: E402
from contenders import Shape, UnequalError  # noqa: E402
from plain_language_model import NO_DROPOUT  # noqa: E402

from cellwright.engine import native_backend  # noqa: E402

needs_core = pytest.mark.skipif(not native_backend.available(), reason="the core is not built")
SHAPE = Shape(5, 4, 12)
TEXT = search_step.text_of(SHAPE, 30)


@needs_core
@pytest.mark.parametrize("nodes", [1, 4])
def test_the_plain_model_computes_what_ours_computes(nodes: int) -> None:
    assert search_step.same_as_plain(TEXT, SHAPE, nodes) < 1e-4


@needs_core
def test_a_plain_model_that_computes_something_else_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = search_step.DartsSupernetLoop

    class Wrong(right):  # type: ignore[misc, valid-type]
        def step(self, x, states, alpha):  # type: ignore[no-untyped-def]
            return super().step(x, states, 1.01 * alpha)

    monkeypatch.setattr(search_step, "DartsSupernetLoop", Wrong)
    with pytest.raises(UnequalError, match="the architecture's step"):
        search_step.same_as_plain(TEXT, SHAPE, 2)


def test_both_go_the_same_way_without_dropout() -> None:
    """Whole steps, optimizers included."""
    setup = search_step.setup_of(TEXT, SHAPE, 2, **NO_DROPOUT)
    ours, plain = search_step.Ours(setup), search_step.Plain(setup)
    for _ in range(3):
        assert ours.step() == pytest.approx(plain.step(), rel=1e-3)


@needs_core
def test_the_command_runs() -> None:
    script = str(BENCHMARKS / "search.py")
    options = ["--quick", "--shape", "3,2,8", "--vocabulary", "30", "--threads", "1"]
    command = [sys.executable, script, *options, "--seconds", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "times as fast" in done.stdout
    assert "random text of 30 words, 3 nodes, T,B,H 3,2,8" in done.stdout
