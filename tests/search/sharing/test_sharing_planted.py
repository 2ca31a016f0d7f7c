"""On a text that one operation is far better at, ENAS' controller finds it: all of the loop."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from planted_search import MODEL, SEGMENTS, circle

from cellwright.cell.listings import EnasListing
from cellwright.search.sharing.enas import SharingSearch
from cellwright.search.sharing.settings import SharingSettings
from cellwright.tasks.language.task import LanguageTask
from effort import many

PLANTED, OTHER = "tanh", "sigmoid"


def searched(seed: int, **changes: Any) -> SharingSearch:
    """Round and round a circle of words; a cell of values above 0 alone is bad at it."""
    values = {
        "nodes": 2,
        "operations": [OTHER, PLANTED],
        "norm": False,  # it would give the other values below 0, too
        "epochs": 3,
        "batch": 16,
        "evaluation_batch": 16,
        "optimizer": "adam",
        "learning_rate": 2e-2,
        "decay": 1.0,
        "clip": 1.0,
        "controller_steps": 40,
        "controller_rate": 2e-2,
        "controller_units": 16,
        "baseline_decay": 0.9,
        "reward_scale": 5.0,
        "candidates": 1,
        "finalists": 1,
    }
    settings = SharingSettings.model_validate({**values, **changes})
    search = SharingSearch(LanguageTask(circle(), SEGMENTS), MODEL, settings, seed)
    for _ in search.run():
        pass
    return search


def share_of_planted(search: SharingSearch) -> float:
    """The probability that node 0, which alone reads words, has the planted operation."""
    assert search.controller is not None
    return sum(
        search.controller.probability(EnasListing(PLANTED, ((0, op),))) for op in (PLANTED, OTHER)
    )


def test_the_planted_operation_is_found():
    shares = [share_of_planted(searched(seed)) for seed in range(many(3))]
    assert all(share > 0.9 for share in shares)


def test_the_planted_operation_is_far_better_on_its_own():
    alone = {op: searched(0, operations=[op], controller_steps=0) for op in (PLANTED, OTHER)}
    valid = {op: search.result().valid for op, search in alone.items()}
    assert valid[OTHER] - valid[PLANTED] > 0.5
