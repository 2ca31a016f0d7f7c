"""Every recipe of the release's WikiText-2 logs, read, written and told apart."""

from __future__ import annotations

import json
import os
import zipfile
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from oracle import same_graph

from cellwright.cell import Cell, formats
from cellwright.cell.zoo import zoo

DATA = Path(os.environ.get("CELLWRIGHT_DATA", "")) / "nas-bench-nlp"
pytestmark = pytest.mark.skipif(
    "CELLWRIGHT_DATA" not in os.environ or not (DATA / "train_logs_wikitext-2.zip").exists(),
    reason="CELLWRIGHT_DATA does not point to a folder with nas-bench-nlp/",
)


@pytest.fixture(scope="module")
def logs() -> list[str]:
    with zipfile.ZipFile(DATA / "train_logs_wikitext-2.zip") as archive:
        return [archive.read(name).decode() for name in archive.namelist()]


def test_every_log_imports_and_exports_to_an_equal_graph(logs: list[str]) -> None:
    assert len(logs) == 197
    for text in logs:
        assert formats.recognize(text) == "nas-bench-nlp"
        (cell,) = formats.read(text)
        written = formats.write(cell, "nas-bench-nlp")
        assert json.loads(written) == json.loads(json.loads(text)["recepie"])
        (back,) = formats.read(written)
        assert back == cell
        assert same_graph(back, cell)
        assert cell.notes["recepie_id"] == json.loads(text)["recepie_id"]


def test_equal_recipes_and_only_they_have_equal_ids(logs: list[str]) -> None:
    recipes: dict[str, Any] = {}
    for text in logs:
        recipe = json.loads(text)["recepie"]
        (cell,) = formats.read(text)
        assert recipes.setdefault(recipe, cell) == cell
    assert len(recipes) == 169
    cells: list[Cell] = list(recipes.values())
    for one, other in combinations(cells, 2):
        assert (one.id == other.id) == same_graph(one, other)


def test_the_released_examples(logs: list[str]) -> None:
    found = formats.read((DATA / "recepies_example.json").read_bytes())
    assert found[:3] == [zoo["nbnlp-rnn"], zoo["nbnlp-lstm"], zoo["nbnlp-gru"]]
    assert len(found) == 10
