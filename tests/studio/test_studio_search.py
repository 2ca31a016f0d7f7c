"""What the studio says of a real search is what its files say, also where they are damaged."""

from __future__ import annotations

import json
import math
import random
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
import studio_server  # noqa: F401

from cellwright.base.errors import UserError
from cellwright.cell.errors import CellError
from cellwright.runs.cell_file import read_cell
from cellwright.search.one_shot.cells import listed_cell
from cellwright.search.one_shot.folder import SearchFolder
from cellwright.search.one_shot.recipes import load_search_recipe
from cellwright.search.one_shot.searching import run_search
from cellwright.studio.cell_view import cell_document
from cellwright.studio.server import _json
from cellwright.studio.watch import Watch

EPOCHS = 3


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, text_folder: Path) -> Path:
    """A search with two seeds, and the trainings by which it chose."""
    folder = tmp_path_factory.mktemp("searched")
    settings = [
        "search.nodes=2", f"search.epochs={EPOCHS}", "model.hidden=4", "search.batch=8",
        "search.evaluation_batch=8", "selection_cells=2", "selection_epochs=1",
    ]  # fmt: skip
    recipe = load_search_recipe("i-darts-ptb-laptop", settings)
    search = SearchFolder.create(recipe, [0, 1], data=str(text_folder), path=folder / "found")
    run_search(search)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "searched"))


def records(folder: Path, seed: int) -> list[dict[str, object]]:
    text = (folder / "found" / f"seed-{seed}" / "metrics.jsonl").read_text()
    found = [json.loads(line) for line in text.splitlines()]
    return [record for record in found if record["kind"] == "epoch"]


def test_theta_and_cells_are_those_of_the_epochs(folder: Path):
    watch = Watch(str(folder))
    detail = watch.detail("found")
    assert [each["seed"] for each in detail["seeds"]] == [0, 1]
    for one in detail["seeds"]:
        epochs = records(folder, one["seed"])
        assert one["valid"] == [math.exp(record["valid"]) for record in epochs]  # type: ignore[arg-type]
        theta = one["theta"]
        assert theta["softmax"] == "node"
        assert [(e["target"], e["source"]) for e in theta["edges"]] == [(1, 0), (2, 0), (2, 1)]
        for frame, record in zip(theta["frames"], epochs, strict=True):
            for weights, known in zip(frame, record["theta"].values(), strict=True):  # type: ignore[attr-defined]
                assert weights == pytest.approx(known, abs=1e-4)
        for place, record in enumerate(epochs):
            cell = watch.cell("found", None, one["seed"], place)
            assert cell.id == listed_cell(record["listing"]).id  # type: ignore[arg-type]


def test_the_candidate_that_was_chosen_is_marked(folder: Path):
    watch = Watch(str(folder))
    detail = watch.detail("found")
    [chosen] = [each for each in detail["candidates"] if each["chosen"]]
    found = read_cell(folder / "found" / "found.json")
    assert watch.cell(chosen["id"], None, None, -1).id == found.id
    assert watch.cell("found", None, None, -1).id == found.id
    rows = {row["id"]: row for row in watch.rows()}
    values = [rows[each["id"]]["value"] for each in detail["candidates"]]
    assert len(values) == 4
    assert rows["found"]["value"] == min(values) == rows[chosen["id"]]["value"]
    assert all(rows[each["id"]]["parent"] == "found" for each in detail["candidates"])


WRONG = (None, True, -1, 1e308, "NaN", "x" * 40, [], {}, [[1]], {"a": {"b": 1}}, "<b>", 2**70)


def damaged(value: object, rng: random.Random) -> object:
    """The value with something else in one place."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(sorted(value))
        if rng.random() < 0.2:
            return {name: each for name, each in value.items() if name != key}
        return {**value, key: damaged(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        place = rng.randrange(len(value))
        return [*value[:place], damaged(value[place], rng), *value[place + 1 :]]
    return rng.choice(WRONG)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "name", ["search.json", "selection.json", "seed-0/metrics.jsonl", "retrained-0/run.json"]
)
def test_whatever_stands_in_a_file_there_is_an_answer(made: Path, name: str, seed: int):
    rng = random.Random(f"{name} {seed}")
    path = made / "found" / name
    before = path.read_text()
    *lines, last = before.splitlines() if name.endswith("jsonl") else [before]
    value = json.dumps(damaged(json.loads(last), rng))
    try:
        path.write_text("\n".join([*lines, value]) + "\n")
        watch = Watch(str(made))
        assert len(watch.rows()) == 5
        for row in watch.rows():
            assert _json(watch.detail(row["id"]))
            for part in (None, 0):
                with suppress(UserError, CellError, OSError):
                    assert _json(cell_document(watch.cell(row["id"], None, part, -1)))
    finally:
        path.write_text(before)
