"""What the cells of a search were worth as it went on: I-DARTS' Figure 2b."""

from __future__ import annotations

from pathlib import Path

import pytest

import cellwright as cw
from cellwright.compare.search_epochs import search_epochs
from cellwright.report.comparison.over_search import over_search
from cellwright.runs.errors import RunError
from cellwright.search.one_shot.folder import SearchFolder
from runs.support import write_corpus

SMALL = {"model.hidden": 6, "training.batch": 4, "training.evaluation_batch": 4, "task.bptt": 8}
SEARCH = {
    "model.hidden": 6, "search.nodes": 2, "search.rounds": 3, "search.batch": 4,
    "search.evaluation_batch": 4, "task.bptt": 8, "selection_cells": 1,
}  # fmt: skip


@pytest.fixture
def searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    text = str(write_corpus(tmp_path / "text"))
    found = cw.search("ess-laptop", text, settings=SEARCH, name="mine", progress=False)
    return text, found


def test_cells_of_every_so_many_epochs_are_trained_and_drawn(searched):
    text, found = searched
    records = found.curve
    last = records[-1]["epoch"]
    epochs = search_epochs(SearchFolder.open("searches/mine"), 2)
    assert [epoch for epoch, _ in epochs.cells] == sorted({*range(2, last + 1, 2), last})
    ids = dict(epochs.cells)
    assert {one.cell.id for one in epochs.contenders} == set(ids.values())
    compared = cw.compare(
        ["lstm"], text, recipe="laptop", settings=SMALL, epochs=1, seeds=2, search="mine", every=2,
        executor="in-process", progress=False,
    )  # fmt: skip
    labels = {one.label for one in compared.standings}
    assert labels == {"lstm", *(one.label for one in epochs.contenders)}
    page = compared.report.read_text()
    assert "While it was searched" in page
    assert (compared.path / "search.svg").read_text().count("epoch of the search") >= 1
    assert over_search(compared.plan, compared.standings[:0], epochs) is None


def test_what_is_wrong_is_said(searched):
    folder = SearchFolder.open("searches/mine")
    with pytest.raises(RunError, match="has no seed 7; it has 0"):
        search_epochs(folder, 2, seed=7)
    (folder.seed_folder(0).path / "metrics.jsonl").write_text("")
    with pytest.raises(RunError, match=r"no epoch of .*mine has ended"):
        search_epochs(folder, 2)
