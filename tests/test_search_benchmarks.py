"""The benchmarks of searches: what they ask for, and that what has ended is kept."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import search_curves
import search_methods

SMALL = ("--data", "builtin", "--steps", "3", "--set", "model.hidden=8", "--set", "search.nodes=2",
         "--set", "search.batch=32")  # fmt: skip


def test_curves_are_run_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("search_curves.py", "--work", str(tmp_path), "--recipes", "darts-ptb", *SMALL)
    monkeypatch.setattr(sys, "argv", list(arguments))
    assert search_curves.main() == 0
    first = capsys.readouterr().out
    assert "| `darts-ptb` | 3 | " in first
    losses = search_curves.read(tmp_path / "darts-ptb.csv")
    assert len(losses) == 3
    assert (tmp_path / "curves.svg").read_bytes().startswith(b"<?xml")
    monkeypatch.setattr(search_curves, "run", lambda *given: pytest.fail("it has been run"))
    assert search_curves.main() == 0
    assert capsys.readouterr().out == first


def test_the_unigram_loss_is_the_entropy_of_the_words(tmp_path: Path) -> None:
    for part in ("train", "valid", "test"):
        (tmp_path / f"{part}.txt").write_text("a a b\n")  # and the end of the line
    assert search_curves.unigram_loss(str(tmp_path)) == pytest.approx(
        -(0.5 * math.log(0.5) + 2 * 0.25 * math.log(0.25))
    )


def test_a_curve_that_passes_the_line_says_when() -> None:
    falling = [(7.0, 1.0)] * 10 + [(5.0, 2.0)] * 10
    said = search_curves.table({"x": falling, "y": falling[:10]}, 6.1)
    assert "| `x` | 20 | 7.00 | 5.00 | 5.00 | from step 15 on | 0.1 |" in said
    assert "| `y` | 10 | 7.00 | 7.00 | 7.00 | no | 0.1 |" in said


def test_every_method_has_its_first_seed_before_any_has_its_second() -> None:
    given = argparse.Namespace(texts=["builtin", "ptb"], methods=None, seeds=None)
    asked = list(search_methods.asked_for(given))
    assert [seed for *_, seed in asked] == sorted(seed for *_, seed in asked)
    assert len(asked) == len(set(asked))
    counts = {(text, method): 0 for text, method, _ in asked}
    for text, method, _ in asked:
        counts[text, method] += 1
    assert counts["builtin", "auto"] == counts["ptb", "random"] == 5
    assert counts["ptb", "ess"] == counts["ptb", "auto-without-known"] == 3
    assert ("builtin", "ess") not in counts
