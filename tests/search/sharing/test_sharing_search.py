"""What a search with shared weights reports, and how it chooses in the end."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from sharing_cases import sharing_search
from texts import NO_DROPOUT

from cellwright.cell.listings import EnasListing
from cellwright.cell.listings.enas import lift, lower
from cellwright.data.errors import DataError
from cellwright.search.sharing.enas import SharingSearch
from cellwright.search.sharing.records import SharingEpoch, SharingStep
from cellwright.search.sharing.selection import Selection
from cellwright.tasks.metric import Metric


def ended(**changes: object) -> tuple[SharingSearch, list[SharingStep], list[SharingEpoch]]:
    search = sharing_search(**changes)
    events = list(search.run())
    steps = [event for event in events if isinstance(event, SharingStep)]
    return search, steps, [event for event in events if isinstance(event, SharingEpoch)]


def test_an_epoch_is_a_pass_of_the_weights_then_steps_of_the_controller():
    _, steps, epochs = ended(bptt_spread=0.0)
    parts = [(step.epoch, step.part, step.step, step.steps) for step in steps]
    for epoch in (1, 2):
        of_epoch = [(part, i, n) for e, part, i, n in parts if e == epoch and part != "candidates"]
        assert of_epoch == [("weights", i, 6) for i in (1, 2, 3)] + [
            ("controller", i, 6) for i in (4, 5, 6)
        ]
    assert parts[-3:] == [(2, "candidates", i, 3) for i in (1, 2, 3)]
    assert [record.epoch for record in epochs] == [1, 2]


def test_an_epoch_s_record():
    search, steps, (first, second) = ended(model=NO_DROPOUT, bptt_spread=0.0)
    assert first.train == pytest.approx(np.mean([step.loss for step in steps[:3]]))
    assert first.reward == pytest.approx(np.mean([step.reward for step in steps[3:6]]))
    assert second.listing == search.controller.greedy()
    child = search.children.child(second.listing)
    assert second.valid == search.task.measure(child, search.task.ordered("valid", 2)).loss
    most = math.log(math.factorial(3) * 4**4)
    assert 0.9 * most < first.entropy <= most + 1e-6  # it has hardly learned anything
    assert (first.diverged, lift(second.cell)) == (0, second.listing)
    assert first.seconds < second.seconds
    assert SharingEpoch.from_json(json.loads(json.dumps(first.to_json()))) == first
    assert first.to_record()["kind"] == "epoch"
    assert steps[0].to_record()["part"] == "weights"


def test_the_best_candidate_is_the_result():
    search, _, _ = ended(candidates=5, finalists=5)
    result = search.result()
    assert result.status == "ok"
    assert len({candidate.listing for candidate in result.candidates}) == 5
    losses = [candidate.valid for candidate in result.candidates]
    assert result.valid == min(losses)
    assert result.listing == result.candidates[int(np.argmin(losses))].listing
    assert (result.cell, result.shared) == (lower(result.listing), lower(result.listing, keys=True))
    assert result.cell.id == result.shared.id
    assert result.parameters == sum(w.numel() for w in search.weights().values())
    assert json.loads(json.dumps(result.to_json()))["candidates"][0]["valid"] == losses[0]


def test_random_search_has_no_controller():
    search, steps, epochs = ended(kind="random-sharing", candidates=6, finalists=2, screening=1)
    assert search.controller is None
    assert {step.part for step in steps} == {"weights", "candidates"}
    assert {record.listing for record in epochs} == {epochs[0].listing}
    assert all(record.reward is record.entropy is record.baseline is None for record in epochs)
    found = search.result().candidates
    assert all(candidate.screened is not None for candidate in found)
    best = sorted(found, key=lambda candidate: candidate.screened)[:2]
    assert {c.listing for c in found if c.valid is not None} == {c.listing for c in best}
    assert search.result().valid == min(c.valid for c in best)


def test_what_was_found_before_the_end():
    search = sharing_search()
    result = search.result()
    assert (result.status, result.records, result.valid) == ("running", (), math.inf)
    assert result.listing == search.controller.greedy()


def test_no_better_epoch_for_too_long():
    _, _, epochs = ended(kind="random-sharing", epochs=9, patience=2, learning_rate=1e-9)
    valid = [record.valid for record in epochs]
    assert len(valid) == valid.index(min(valid)) + 3 < 9


def test_cells_that_diverge_teach_nothing():
    """Every loss is too large here: after four in a row the search gives up, as it was."""
    search = sharing_search(explode_above=0.1, diverged_in_a_row=4, bptt_spread=0.0)
    before = search.weights()
    steps = [event for event in search.run() if isinstance(event, SharingStep)]
    assert [step.part for step in steps if step.part == "weights"] == ["weights"] * 4
    assert search.result().status == "exploded"
    assert [record.diverged for record in search.result().records] == [3]
    assert search.result().records[0].train == math.inf
    for name, weight in search.weights().items():
        assert torch.equal(weight, before[name])
    assert list(search.run()) == []


def test_weights_that_are_no_numbers():
    search = sharing_search(diverged_in_a_row=2)
    with torch.no_grad():
        search.children.model.embedding.weight.fill_(math.nan)
    for _ in search.run():
        pass
    assert search.result().status == "loss is nan"


@pytest.mark.parametrize("form", ["plain", "exponential", "complement", "percent"])
def test_cells_without_a_finite_loss_do_not_break_the_controller(form: str):
    """Whatever the metric is: one reward that is infinite would be in the baseline for ever."""
    search = sharing_search(epochs=1, diverged_in_a_row=99, explode_above=30.0)
    search.task.metric = Metric(name="made up", form=form)
    with torch.no_grad():
        search.children.model.embedding.weight.fill_(math.nan)
    for _ in search.run():
        pass
    assert [record.valid for record in search.result().records] == [math.inf]
    assert search.result().records[0].reward == (-30.0 if form == "plain" else 0.0)
    assert math.isfinite(search.snapshot().state["baseline"])
    assert all(bool(p.isfinite().all()) for p in search.controller.parameters())


def test_a_text_that_is_too_short():
    with pytest.raises(DataError, match="too few for a batch of 40"):  # 70 words to validate on
        sharing_search(batch=40)


# -- the selection -------------------------------------------------------------------------------

CELLS = [EnasListing(op) for op in ("tanh", "relu", "identity", "sigmoid")]
LOSSES = dict(zip(CELLS, (3.0, 1.0, 2.0, math.inf), strict=True))


def run(selection: Selection, drawn: list[EnasListing]) -> list[str]:
    """All steps; what was measured."""
    done: list[str] = []

    def measured(how: str, listing: EnasListing) -> float:
        done.append(f"{how} {listing.first}")
        return LOSSES[listing]

    while selection.done < selection.steps:
        selection.advance(
            lambda number, attempt: drawn[min(number + attempt, len(drawn) - 1)],
            lambda listing: measured("screen", listing),
            lambda listing: measured("measure", listing),
        )
    return done


def test_all_candidates_are_measured():
    selection = Selection(3, 10)
    assert run(selection, CELLS) == ["measure tanh", "measure relu", "measure identity"]
    assert selection.best().listing == CELLS[1]


def test_the_best_of_the_screened_are_measured():
    selection = Selection(4, 2)
    steps = run(selection, CELLS)
    assert steps[:4] == [f"screen {cell.first}" for cell in CELLS]
    assert steps[4:] == ["measure relu", "measure identity"]
    assert selection.best().listing == CELLS[1]


def test_a_cell_is_drawn_again_until_it_is_new():
    selection = Selection(3, 3)
    assert run(selection, [CELLS[0], CELLS[0], CELLS[0], CELLS[1], CELLS[2]])[1:] == [
        "measure relu",
        "measure identity",
    ]


def test_a_controller_that_has_decided_has_no_other_candidates():
    selection = Selection(3, 3)
    assert run(selection, CELLS[:1]) == ["measure tanh"]
    assert [candidate.valid for candidate in selection.candidates] == [3.0] * 3


def test_no_candidate_has_a_finite_loss():
    selection = Selection(1, 1)
    run(selection, CELLS[3:])
    assert selection.best() is None
