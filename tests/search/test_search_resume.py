"""A search goes on from a snapshot at any step, in a fresh object, to the same bits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import torch
from texts import Widening, small_corpus, small_model, small_search, small_settings, small_task

from cellwright.search.gradient.records import SearchEpoch, SearchStep
from cellwright.search.gradient.search import DifferentiableSearch
from cellwright.training.snapshots import Snapshot

AWD = {"kind": "awd"}
# Plain sums of batches of four rows that a norm makes as long as others can explode.
JOINT = {"kind": "ess", "norm": "none", "epochs": 9, "rounds": 2, "bptt": 14}
CASES: dict[str, dict[str, Any]] = {
    "darts": {},
    "darts, row norms": {"norm": "row"},
    "darts, second order": {"second_order": True},
    "i-darts, no norms": {"kind": "i-darts", "norm": "none"},
    "i-darts": {"kind": "i-darts", "warmup_epochs": 1},
    "ess": JOINT,
    "ess, batch norms": {**JOINT, "norm": "batch", "fixed": "choice"},
    "ess, choices": {**JOINT, "fixed": "choice", "architecture_rate_intra": 0.3},
    "ess, halves, Adam": {**JOINT, "architecture_text": "halves", "optimizer": "adam"},
    "ess, inter": {"kind": "ess", "norm": "none", "scope": "inter", "m": 1},
    "ess, phases that settle": {**JOINT, "phase_epochs": 2, "settled": 1e-3},
    "darts, paths": {"sampling": "gdas", "norm": "row"},
    "ess, choices, paths": {**JOINT, "fixed": "choice", "sampling": "uniform"},
    "darts, two layers": {"model": AWD},
    "ess, choices, two layers": {**JOINT, "fixed": "choice", "model": AWD},
}


def made(case: str) -> DifferentiableSearch:
    return small_search(3, corpus=small_corpus(100), **CASES[case])


def timeless(event: SearchStep | SearchEpoch) -> SearchStep | SearchEpoch:
    if isinstance(event, SearchStep):
        return replace(event, seconds=0.0, speed=0.0)
    return replace(event, seconds=0.0, peak_memory=0)


def assert_same_end(one: DifferentiableSearch, other: DifferentiableSearch) -> None:
    mine, its = one.snapshot().tensors, other.snapshot().tensors
    assert mine.keys() == its.keys()
    for name, tensor in mine.items():
        assert torch.equal(tensor, its[name]), name
    assert one.result().cell == other.result().cell
    assert one.result().theta == other.result().theta
    assert one.result().status == other.result().status == "ok"


@pytest.mark.parametrize("case", CASES)
def test_resumed_at_every_step(case: str) -> None:
    whole = made(case)
    snapshots: list[Snapshot] = [whole.snapshot()]
    events = []
    for event in whole.run():
        events.append(timeless(event))
        snapshots.append(whole.snapshot())
    for done, (tensors, state) in enumerate(snapshots):
        again = made(case)
        again.restore(Snapshot(tensors, json.loads(json.dumps(state))))
        rest = [timeless(event) for event in again.run()]
        assert rest == events[done:]
        assert_same_end(whole, again)


def test_restore_forgets_what_was_learned() -> None:
    """Also in an object that has gone further, to another phase."""
    one = made("ess, choices")
    start = one.snapshot()
    first = [timeless(event) for event in one.run()]
    one.restore(start)
    assert [timeless(event) for event in one.run()] == first


def test_a_snapshot_is_a_copy() -> None:
    one = made("darts")
    run = one.run()
    next(run)
    tensors, state = one.snapshot()
    before = {name: tensor.clone() for name, tensor in tensors.items()}
    text = json.dumps(state)
    for _ in run:
        pass
    assert all(torch.equal(tensor, before[name]) for name, tensor in tensors.items())
    assert json.dumps(state) == text


def test_another_seed_is_another_search() -> None:
    one, other = (small_search(seed) for seed in (0, 1))
    for first, second in zip(one.run(), other.run(), strict=True):
        assert timeless(first) != timeless(second)


def test_an_epoch_begins_with_its_own_first_batch() -> None:
    """What is carried may be as large as the batch is; also after a resume."""

    def fresh() -> DifferentiableSearch:
        task = Widening(small_corpus(), small_task().settings)
        return DifferentiableSearch(task, small_model(), small_settings(), 0)

    whole, snapshots = fresh(), []
    for event in whole.run():
        if isinstance(event, SearchEpoch) or event.step == 1:
            snapshots.append(whole.snapshot())
    for snapshot in snapshots:
        again = fresh()
        again.restore(snapshot)
        for _ in again.run():
            pass
        assert_same_end(whole, again)
