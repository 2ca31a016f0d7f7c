"""A comparison that an earlier version made is read and gone on with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cellwright as cw
from cellwright.compare.contenders import contender
from cellwright.compare.plan import make_plan, read_plan
from cellwright.runs.errors import RunError
from cellwright.tasks.language.metric import PERPLEXITY
from earlier_forms import recipe_before, write_before
from runs.support import small_recipe, small_run


def test_it_is_read_and_grows(text_folder: Path, tmp_path: Path):
    cells = [contender(cw.zoo["gru"])]
    plan = make_plan(tmp_path, cells, small_recipe(), 1, data=str(text_folder))
    small_run(text_folder, plan.run_path("gru", 0))
    path = tmp_path / "comparison.json"
    now = json.loads(path.read_text())
    before = {name: now[name] for name in ("data", "cells", "seeds")}
    before |= {"format": "cellwright-comparison/1", "recipe": recipe_before(now["recipe"])}
    path.write_text(json.dumps(before))
    write_before(plan.run_path("gru", 0) / "run.json")
    found = read_plan(tmp_path)
    assert found == plan
    assert found.metric == PERPLEXITY
    assert found.run("gru", 0) is not None
    more = make_plan(tmp_path, cells, small_recipe(), 2, data=str(text_folder))
    assert more.seeds == (0, 1)
    assert json.loads(path.read_text())["format"] == "cellwright-comparison/2"


@pytest.mark.parametrize("missing", ["recipe", "data", "cells"])
def test_what_is_damaged_is_told(tmp_path: Path, missing: str):
    values = {"recipe": {"data": "ptb"}, "data": {}, "cells": [], "seeds": [0]}
    del values[missing]
    text = json.dumps({"format": "cellwright-comparison/1", **values})
    (tmp_path / "comparison.json").write_text(text)
    with pytest.raises(RunError, match=r"comparison\.json is damaged, or of another version"):
        read_plan(tmp_path)
