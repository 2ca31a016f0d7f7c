"""The demo goes from search to report, and its sentences are right whatever came out."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import pytest

from compare.figures import standing

INF = math.inf
LOW, HIGH = [80.0, 80.2, 80.4], [100.0, 100.3, 100.1]
LOWISH, WIDE = [88.0, 90.0, 98.0], [98.5, 104.0, 118.0]


@pytest.fixture(scope="module")
def demo() -> ModuleType:
    path = Path(__file__).parents[1] / "examples" / "demo.py"
    spec = importlib.util.spec_from_file_location("demo", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["demo"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("found", "lstm", "words"),
    [
        (LOW, HIGH, "The found cell is better than the LSTM: 80.2 ± 0.2 against 100.1 ± 0.2"),
        (HIGH, LOW, "The found cell is worse than the LSTM: 100.1 ± 0.2 against 80.2 ± 0.2"),
        (LOWISH, WIDE, "The found cell seems better than the LSTM, in every seed: "),
        (WIDE, LOWISH, "The found cell seems worse than the LSTM, in every seed: "),
        (LOW, LOW, "The found cell and the LSTM are not distinguishable: "),
        ([80.0], [90.0], "The found cell came out lower than the LSTM: 80.0 against 90.0, from"),
        ([INF, INF], LOW, "The found cell diverged with every seed"),
    ],
)
def test_against_the_lstm(demo: ModuleType, found, lstm, words: str):
    said = demo.verdict(standing("found", found), standing("lstm", lstm), [])
    assert said[0].startswith(words)


@pytest.mark.parametrize(
    ("found", "others", "words"),
    [
        (LOW, [HIGH, HIGH], "better than a and b: here the search did better than drawing"),
        (LOW, [LOW, LOW], "not distinguishable from a and b: the search has not shown"),
        (HIGH, [LOW, LOW], "worse than a and b: here drawing cells at random did better"),
        (LOW, [HIGH, LOW], "better than a; not distinguishable from b: the search has not shown"),
        (
            HIGH,
            [[120.0, 120.1, 120.3], LOW],
            "better than a; worse than b: a cell drawn at random can do better",
        ),
        (LOWISH, [WIDE, WIDE], "seemingly better than a and b: the search seems to have"),
        (WIDE, [LOWISH, LOWISH], "seemingly worse than a and b: here drawing cells at random did"),
        ([80.0], [[90.0], [70.0]], "from one seed each, not comparable with a and b: more seeds"),
        (LOW, [HIGH, [INF]], "better than a: here the search did better"),
    ],
)
def test_against_random_cells(demo: ModuleType, found, others, words: str):
    rivals = [standing(label, values) for label, values in zip("ab", others, strict=True)]
    said = demo.verdict(standing("found", found), standing("lstm", [INF]), rivals)
    if INF not in others[1]:  # two have a mean
        assert said.pop(0).startswith("The mean of the random cells is ")
    assert said[0].startswith(f"Among the random cells it is {words}")
    lost = ["b diverged with every seed."] if others[1] == [INF] else []
    assert said[1:] == lost


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (80.0, "The mean of the random cells is 85.0 (from 70.0 to 100.0): the found cell is "
               "better than a random one on average, by 5.0."),
        (95.0, "The mean of the random cells is 85.0 (from 70.0 to 100.0): the found cell is "
               "worse than a random one on average, by 10.0."),
    ],
)  # fmt: skip
def test_against_the_mean_of_random_cells(demo: ModuleType, found: float, words: str):
    rivals = [standing("a", [100.0, 100.0]), standing("b", [70.0, 70.0]), standing("c", [INF])]
    said = demo.verdict(standing("found", [found, found]), standing("lstm", [INF]), rivals)
    assert said[0] == words


def test_from_search_to_report(demo: ModuleType, tmp_path: Path, capsys):
    """A tiny one; then the same again, which trains nothing."""
    small = ("model.hidden=16", "batch=256")
    sizes = demo.Sizes(
        search=[
            "search.rounds=1", "search.nodes=2", "search.m=1",
            small[0], f"search.{small[1]}", "selection_cells=1",
        ],
        training=["training.epochs=1", "training.evaluation_batch=64", small[0],
                  f"training.{small[1]}"],
        seeds=1,
        random=1,
    )  # fmt: skip
    report = demo.demo(tmp_path / "demo", sizes)
    page = report.read_text()
    for words in ("came out", "from one seed each", "The search took", "random-ess-1", "deviation"):
        assert words in page
    printed, told = capsys.readouterr()
    assert f"cellwright compare {tmp_path}/demo/search/found.json lstm" in printed
    assert "(3 of 3)" in told
    demo.demo(tmp_path / "demo", sizes)
    printed, told = capsys.readouterr()
    assert "It has been done" in printed
    assert "3 trainings, 3 of them done before" in told
    assert report.read_text() == page
    with pytest.raises(ValueError, match="was made with other settings"):
        demo.demo(tmp_path / "demo", demo.Sizes())
