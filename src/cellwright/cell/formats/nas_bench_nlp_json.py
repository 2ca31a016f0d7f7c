"""NAS-Bench-NLP recipes as the release has them, in JSON.

A recipe, `{"node_0": {"op": "linear", "input": ["x", "h_prev_0"]}, "h_new_0": {…}}`; a list of
recipes; a training log, whose key `recepie` (the release's spelling) has a recipe as text; or
a list of logs. A log's `recepie_id` and `status` go into the cell's notes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cellwright.base.errors import shown
from cellwright.cell.cell import Cell
from cellwright.cell.errors import CellError
from cellwright.cell.formats.cellwright_json import load
from cellwright.cell.formats.format import Format
from cellwright.cell.listings import nas_bench_nlp

_RECIPE_KEYS = ("recepie", "recipe")
_NOTED = ("recepie_id", "experiment_id", "status", "data", "init_time")


def read(text: str) -> list[Cell]:
    """The cells of a recipe, a training log, or a list of either."""
    data = load(text, constants=True)  # a log of a cell that diverged has NaN in its losses
    if not isinstance(data, list):
        return [_cell(data)]
    if not data:
        raise CellError("the list of recipes is empty")
    cells = []
    for number, entry in enumerate(data):
        try:
            cells.append(_cell(entry))
        except CellError as error:
            raise CellError(f"recipe number {number}: {error}") from None
    return cells


def _cell(data: Any) -> Cell:
    if not isinstance(data, Mapping):
        raise CellError(f"a recipe is a JSON object of nodes, not {shown(data)}")
    for key in _RECIPE_KEYS:
        if key in data and not (isinstance(data[key], Mapping) and "op" in data[key]):
            recipe = load(data[key]) if isinstance(data[key], str) else data[key]
            notes = {
                noted: data[noted]
                for noted in _NOTED
                if isinstance(data.get(noted), str | int) and len(str(data[noted])) <= 200
            }
            number = notes.get("recepie_id")
            return nas_bench_nlp.lower(recipe, f"nbnlp-{number}" if number else "", notes)
    return nas_bench_nlp.lower(data)


def write(cell: Cell) -> str:
    """The cell as a recipe, one node a line."""
    recipe = nas_bench_nlp.lift(cell)
    rows = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in recipe.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _recognizes(text: str) -> bool:
    start = re.match(r"\s*[\[{]", text) is not None
    return start and re.search(r'"(op|recepie|recipe|h_new_0)"\s*:', text) is not None


FORMAT_ENTRY = Format(
    name="nas-bench-nlp",
    description="NAS-Bench-NLP recipes and training logs (JSON)",
    example=(
        '{"node_0": {"op": "linear", "input": ["x", "h_prev_0"]}, '
        '"h_new_0": {"op": "activation_tanh", "input": ["node_0"]}}'
    ),
    read=read,
    write=write,
    recognizes=_recognizes,
)
