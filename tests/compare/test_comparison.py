"""A comparison trains what is missing, whatever happened before, and says when it cannot go on."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cellwright as cw
from cellwright.base.errors import FileError, UserError
from cellwright.compare.contenders import contender
from cellwright.compare.plan import Plan, make_plan, read_plan
from cellwright.compare.reached import Reporter, progress_folder, progress_path
from cellwright.compare.results import standings
from cellwright.compare.running import missing
from cellwright.report.comparison.page import write_report
from cellwright.runs.errors import RunError
from cellwright.training.results import StepDone
from compare.figures import F1
from runs.support import small_recipe, small_run

GRU, RNN = contender(cw.zoo["gru"]), contender(cw.zoo["rnn"])


def plan(
    folder: Path, text_folder: Path, *settings: str, cells: Any = (GRU,), seeds: int = 1
) -> Plan:
    return make_plan(folder, cells, small_recipe(*settings), seeds, data=str(text_folder))


def done_by_hand(here: Plan, text_folder: Path, label: str, seed: int, *settings: str) -> None:
    """Train without a process, which takes a moment less."""
    from cellwright.runs.runner import train

    run = small_run(text_folder, here.run_path(label, seed), *settings, seed=seed, cell=label)
    train(run.folder, run.training)


def test_what_is_written(tmp_path: Path, text_folder: Path):
    here = plan(tmp_path / "c", text_folder, cells=(GRU, RNN), seeds=2)
    for label in ("gru", "rnn"):
        for seed in (0, 1):
            done_by_hand(here, text_folder, label, seed)
    found = standings(here)
    means = [one.valid.mean for one in found if one.valid is not None]
    assert means == sorted(means)
    path = write_report(here, found, "cellwright compare gru rnn")
    page = path.read_text()
    assert "cellwright compare gru rnn" in page
    assert page.count("<img ") == 3
    for word in ("http://", "https://", "<script", 'src="/'):
        assert word not in page.replace("http://www.w3.org", "")
    value = json.loads((path.parent / "results.json").read_text())
    for one, entry in zip(found, value["cells"], strict=True):
        assert one.valid is not None
        assert entry["valid"]["values"] == list(one.valid.values)
        assert [run["seed"] for run in entry["runs"]] == [0, 1]
        assert len(entry["runs"][0]["curve"]) == 3
    assert value["format"] == "cellwright-comparison-results/2"
    assert value["metric"]["name"] == "perplexity"
    assert not value["metric"]["higher_is_better"]
    runs = list(csv.DictReader((path.parent / "runs.csv").open()))
    assert [(row["metric"], row["seed"]) for row in runs] == [
        ("perplexity", str(seed)) for seed in (0, 1, 0, 1)
    ]
    for row, run in zip(runs, [run for one in found for run in one.runs], strict=True):
        assert float(row["valid"]) == run.metric.value(float(row["valid_loss"])) == run.valid
    table = list(csv.DictReader((path.parent / "table.csv").open()))
    assert [(row["label"], float(row["valid_mean"])) for row in table] == [
        (one.label, one.valid.mean) for one in found if one.valid is not None
    ]

    latex = (path.parent / "table.tex").read_text()
    best, other = latex.partition(r"\midrule")[2].strip().splitlines()[:2]
    assert best.startswith(rf"\textbf{{{found[0].label}}} & ")
    assert r"\pm" in best
    assert "textbf" not in other
    assert (path.parent / "table.md").read_text().count("\n| **") == 1
    assert not list(path.parent.rglob("*.pdf"))
    write_report(here, found, pdf=3.3)
    drawn = sorted(str(file.relative_to(path.parent)) for file in path.parent.rglob("*.pdf"))
    assert drawn == ["cells/gru.pdf", "cells/rnn.pdf", "curves.pdf"]

    # The same trainings by a metric of which the higher is better: the same order.
    grown = replace(here, metric=F1)
    ranked = standings(grown)
    assert [one.label for one in ranked] == [one.label for one in found]
    means = [one.valid.mean for one in ranked if one.valid is not None]
    assert means == sorted(means, reverse=True)
    page = write_report(grown, ranked).read_text()
    assert f"{found[0].label} has the highest mean validation F1, " in page
    assert "perplexity" not in page
    value = json.loads((path.parent / "results.json").read_text())
    assert value["metric"]["higher_is_better"]


def test_cells_and_seeds_may_be_added(tmp_path: Path, text_folder: Path):
    plan(tmp_path, text_folder)
    more = plan(tmp_path, text_folder, cells=(RNN, GRU), seeds=2)
    assert missing(more) == [("rnn", 0), ("gru", 0), ("rnn", 1), ("gru", 1)]
    assert read_plan(tmp_path).seeds == (0, 1)


def test_a_folder_of_another_comparison_is_refused(tmp_path: Path, text_folder: Path):
    here = tmp_path / "c"
    plan(here, text_folder, seeds=2)
    with pytest.raises(RunError, match=r"other settings: training.epochs was 3 and is 4"):
        plan(here, text_folder, "training.epochs=4", seeds=2)
    with pytest.raises(RunError, match=r"other settings: threads was 1 and is 2"):
        make_plan(here, [GRU], small_recipe(), 2, data=str(text_folder), threads=2)
    with pytest.raises(RunError, match="was made with 2 seeds"):
        plan(here, text_folder)
    with pytest.raises(RunError, match="also compares gru"):
        plan(here, text_folder, cells=(RNN,), seeds=2)
    with pytest.raises(RunError, match="another cell gru"):
        plan(here, text_folder, cells=(contender(cw.zoo["rnn"], "gru"),), seeds=2)
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "thesis.txt").touch()
    with pytest.raises(RunError, match="has other files"):
        plan(strange, text_folder)
    with pytest.raises(RunError, match="is a file"):
        plan(strange / "thesis.txt", text_folder)


def test_damaged_files_are_named(tmp_path: Path, text_folder: Path):
    here = plan(tmp_path, text_folder)
    (tmp_path / "comparison.json").write_text('{"format": "cellwright-comparison/1"}')
    with pytest.raises(RunError, match=r"comparison.json is damaged"):
        read_plan(tmp_path)
    (tmp_path / "comparison.json").unlink()
    with pytest.raises(RunError, match="is not a comparison"):
        read_plan(tmp_path)
    again = plan(tmp_path, text_folder)
    done_by_hand(again, text_folder, "gru", 0, "training.epochs=1")
    with pytest.raises(RunError, match="is a training of another cell, seed, recipe or data"):
        missing(again)
    assert here.folder == again.folder


def test_a_cell_that_is_too_large_is_said_at_once(tmp_path: Path, text_folder: Path):
    with pytest.raises(UserError, match=r"gru: the model takes .* of memory at least"):
        plan(tmp_path / "c", text_folder, "model.hidden=1000000")
    assert not (tmp_path / "c").exists()
    with pytest.raises(UserError, match="a comparison has from 1 to 10,000 seeds, not 1000000000"):
        plan(tmp_path / "c", text_folder, seeds=10**9)


def test_a_text_that_is_too_short_is_said_at_once(tmp_path: Path, text_folder: Path):
    with pytest.raises(ValueError, match="too few for a batch"):
        plan(tmp_path / "c", text_folder, "training.batch=5000")
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("name", ["cells", "progress"])
def test_nothing_is_written_through_a_link_in_the_folder(
    tmp_path: Path, text_folder: Path, name: str
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "gru.json").write_text("of the user")
    (tmp_path / "c").mkdir()
    if name == "cells":
        (tmp_path / "c" / name).symlink_to(elsewhere)
        with pytest.raises(FileError, match=r"c/cells: it is a link to somewhere else"):
            plan(tmp_path / "c", text_folder)
    else:
        here = plan(tmp_path / "c", text_folder)
        (tmp_path / "c" / name).symlink_to(elsewhere)
        with progress_folder(here):
            Reporter(progress_path(here, "gru", 0))(StepDone(1, 1, 9, 9, 1.0, 1.0, 1.0, 1.0))
            assert (tmp_path / "c" / name / "gru-seed0.json").exists()
    assert [path.name for path in elsewhere.iterdir()] == ["gru.json"]
    assert (elsewhere / "gru.json").read_text() == "of the user"
