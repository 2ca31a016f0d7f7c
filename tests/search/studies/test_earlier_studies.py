"""A study that an earlier version began is gone on with as if nothing had been."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from cellwright.search.studies.start import prepare, run_prepared
from cellwright.tasks.language.metric import PERPLEXITY
from cellwright.trials.executors import InProcess
from cellwright.trials.store import find_study, list_trials, open_store
from earlier_forms import recipe_before


def as_before(path: Path) -> None:
    """Bring a store back to version 1, with evaluations as that version called them."""
    with sqlite3.connect(path) as connection:
        for number, written in connection.execute(
            "SELECT id, evaluation FROM cellwright_studies"
        ).fetchall():
            arguments = json.loads(written)["arguments"]
            arguments["recipe"] = recipe_before(arguments["recipe"])
            arguments["text"] = arguments.pop("most")
            arguments["text_fingerprint"] = arguments.pop("fingerprint")
            evaluation = {"function": "cellwright.run.trials:train_trial", "arguments": arguments}
            connection.execute(
                "UPDATE cellwright_studies SET evaluation = ? WHERE id = ?",
                (json.dumps(evaluation), number),
            )
        connection.execute("ALTER TABLE cellwright_studies DROP COLUMN task")
        connection.execute("UPDATE cellwright_schema SET version = 1")
    connection.close()


@pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 35), reason="cannot drop a column")
def test_it_goes_on(recipe, tmp_path: Path):
    chosen = recipe("studies-laptop", "method.population=3", "method.lag=2", "text.train=200")
    path = tmp_path / "studies.db"
    with open_store(path) as store:
        run_prepared(prepare(chosen, 3, name="whole"), store, InProcess(), trials=5)
        run_prepared(prepare(chosen, 3, name="halved"), store, InProcess(), trials=3)
    as_before(path)
    with open_store(path) as store:
        assert find_study(store, "halved").metric == PERPLEXITY
        run_prepared(prepare(chosen, 3, name="halved"), store, InProcess(), trials=5)
        whole, halved = (
            [(t.cell_id, t.seed, t.value) for t in list_trials(store, find_study(store, name))]
            for name in ("whole", "halved")
        )
    assert halved == whole
