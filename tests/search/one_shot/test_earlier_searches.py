"""A search that an earlier version began is gone on with as if nothing had been."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cellwright.runs.errors import RunError
from cellwright.search.one_shot.folder import SearchFolder, SeedFolder
from cellwright.search.one_shot.recipes import load_search_recipe
from cellwright.search.one_shot.searching import Watcher, run_search
from cellwright.tasks.language.metric import PERPLEXITY
from earlier_forms import write_before

SMALL = (
    "search.nodes=2",
    "search.rounds=2",
    "search.warmup_epochs=0",
    "search.batch=8",
    "search.evaluation_batch=4",
    "task.bptt=9",
    "model.hidden=5",
    "selection_cells=1",  # earlier versions had one
    "selection_eta=3",
)


class Cut(Exception):  # noqa: N818
    """Ends a search from inside."""


class CutAfter(Watcher):
    """Cuts after so many steps."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    @contextmanager
    def searching(self, folder: SeedFolder, resumed: bool) -> Iterator[Any]:
        def watch(event: object) -> None:
            self.left -= 1
            if self.left == 0:
                raise Cut

        yield watch


def made(text: Path, path: Path) -> SearchFolder:
    recipe = load_search_recipe("ess-laptop", SMALL)
    return SearchFolder.create(recipe, [1], data=str(text), path=path)


def test_it_goes_on(text_folder: Path, tmp_path: Path):
    whole = made(text_folder, tmp_path / "whole")
    run_search(whole)
    folder = made(text_folder, tmp_path / "cut")
    with pytest.raises(Cut):
        run_search(folder, CutAfter(7), checkpoint_seconds=0)
    for name, form in (("search.json", "searches"), ("seed-1/search.json", "search")):
        before = write_before(folder.path / name)
        assert before["format"] == f"cellwright-{form}/1"
        assert before["recipe"]["search"]["model"]["hidden"] == 5
    again = SearchFolder.open(folder.path)
    assert again.info == folder.info.model_copy(update={"status": again.info.status})
    assert again.info.metric == PERPLEXITY
    assert again.seed_folder(1).info.recipe == folder.info.recipe
    run_search(again)
    assert again.found() == whole.found()
    losses = [
        [record["valid"] for record in one.seed_folder(1).metrics() if record["kind"] == "epoch"]
        for one in (whole, again)
    ]
    assert losses[0] == losses[1]


def test_what_is_damaged_is_told(text_folder: Path, tmp_path: Path):
    folder = made(text_folder, tmp_path / "search")
    (folder.path / "search.json").write_text('{"format": "cellwright-searches/1"}')
    with pytest.raises(RunError, match="data: field required"):
        SearchFolder.open(folder.path)
