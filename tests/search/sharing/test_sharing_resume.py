"""A search with shared weights goes on from a snapshot at any step, to the same bits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import torch
from sharing_cases import sharing_search, sharing_settings
from texts import Widening, small_corpus, small_model, small_task

from cellwright.search.sharing.enas import SharingSearch
from cellwright.search.sharing.records import SharingEpoch, SharingStep
from cellwright.training.snapshots import Snapshot

RANDOM = {"kind": "random-sharing"}
CASES: dict[str, dict[str, Any]] = {
    "enas": {"controller_steps": 2, "candidates": 2},
    "enas, Adam, screened": {
        "optimizer": "adam",
        "learning_rate": 1e-2,
        "epochs": 1,
        "controller_samples": 1,
        "finalists": 1,
    },
    "enas, two layers": {"controller_steps": 1, "epochs": 1, "model": {"kind": "awd"}},
    "random-sharing": {**RANDOM, "finalists": 2, "screening": 1},
    "random-sharing, DARTS' cells": {**RANDOM, "cells": "darts", "epochs": 1, "finalists": 2},
    "random-sharing, diverging": {**RANDOM, "explode_above": 1.95, "diverged_in_a_row": 9},
}


def timeless(event: SharingStep | SharingEpoch) -> SharingStep | SharingEpoch:
    if isinstance(event, SharingStep):
        return replace(event, seconds=0.0, speed=0.0)
    return replace(event, seconds=0.0, peak_memory=0)


def assert_same_end(one: SharingSearch, other: SharingSearch) -> None:
    mine, its = one.snapshot().tensors, other.snapshot().tensors
    assert mine.keys() == its.keys()
    for name, tensor in mine.items():
        assert torch.equal(tensor, its[name]), name
    for result in (one.result(), other.result()):
        assert result.status == "ok"
    assert one.result().cell == other.result().cell
    assert one.result().candidates == other.result().candidates


@pytest.mark.parametrize("case", CASES)
def test_resumed_at_every_step(case: str) -> None:
    whole = sharing_search(**CASES[case])
    snapshots: list[Snapshot] = [whole.snapshot()]
    events = []
    for event in whole.run():
        events.append(timeless(event))
        snapshots.append(whole.snapshot())
    diverged = sum(event.diverged for event in events if isinstance(event, SharingEpoch))
    assert (0 < diverged < 6) == ("diverging" in case)
    parts = [event.part for event in events if isinstance(event, SharingStep)]
    assert set(parts) == {"weights", "candidates"} | ({"controller"} if "enas" in case else set())
    for done, (tensors, state) in enumerate(snapshots):
        again = sharing_search(**CASES[case])
        again.restore(Snapshot(tensors, json.loads(json.dumps(state))))
        rest = [timeless(event) for event in again.run()]
        assert rest == events[done:]
        assert_same_end(whole, again)


def test_restore_forgets_what_was_learned() -> None:
    one = sharing_search()
    start = one.snapshot()
    first = [timeless(event) for event in one.run()]
    one.restore(start)
    assert [timeless(event) for event in one.run()] == first


def test_a_snapshot_is_a_copy() -> None:
    one = sharing_search()
    run = one.run()
    next(run)
    tensors, state = one.snapshot()
    before = {name: tensor.clone() for name, tensor in tensors.items()}
    text = json.dumps(state)
    for _ in run:
        pass
    assert all(torch.equal(tensor, before[name]) for name, tensor in tensors.items())
    assert json.dumps(state) == text


def test_the_generator_of_others_does_not_matter_and_is_left_alone() -> None:
    ends = []
    for other in (0, 1):
        torch.manual_seed(other)
        one = sharing_search()
        for _ in one.run():
            pass
        assert torch.initial_seed() == other
        ends.append(one)
    assert_same_end(*ends)


def test_another_seed_is_another_search() -> None:
    one, other = (sharing_search(seed) for seed in (0, 1))
    assert one.weights().keys() == other.weights().keys()
    for first, second in zip(one.run(), other.run(), strict=False):
        assert timeless(first) != timeless(second)


def test_an_epoch_begins_with_its_own_first_batch() -> None:
    """What is carried may be as large as the batch is; also after a resume."""

    def fresh() -> SharingSearch:
        task = Widening(small_corpus(100), small_task(bptt_halve=0.0).settings)
        return SharingSearch(task, small_model(), sharing_settings(), 3)

    whole, snapshots = fresh(), []
    for event in whole.run():
        if isinstance(event, SharingEpoch):
            snapshots.append(whole.snapshot())
    for snapshot in snapshots:
        again = fresh()
        again.restore(snapshot)
        for _ in again.run():
            pass
        assert_same_end(whole, again)
