"""The search loop: a step by hand, phases that move what they should, what is recorded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from texts import NO_DROPOUT, WORDS, corpus_of, small_corpus
from texts import small_search as search
from torch import Tensor

from cellwright.base.seeds import seeded
from cellwright.cell.listings import DartsListing, EssListing, ess
from cellwright.engine import Recurrent
from cellwright.models.language_model import TextBatch
from cellwright.search.gradient.derive import copy_weights, derive
from cellwright.search.gradient.reading import Reading
from cellwright.search.gradient.records import SearchEpoch, SearchStep
from cellwright.search.gradient.search import DifferentiableSearch
from cellwright.search.gradient.watching import watch
from cellwright.training.gradients import Gradients


def variables(of: DifferentiableSearch) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in of.variables.named_parameters()}


# -- one step ------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["one-layer", "awd"])
@pytest.mark.parametrize("kind", ["darts", "i-darts", "ess"])
def test_a_step_by_hand(kind: str, model: str) -> None:
    """First Adam moves the variables of the phase's group, then SGD the weights."""
    changes = {
        "kind": kind,
        "model": {"kind": model},
        "weight_decay": 0.01,
        "clip": 0.05,
        "bptt_spread": 0.0,
        "bptt_halve": 0.0,
    }
    found, hand = search(**changes), search(**changes)
    event = next(found.run())
    settings, net = hand.settings, hand.model
    assert isinstance(event, SearchStep)

    valid, train = (hand.task.ordered(part, settings.batch)[0] for part in ("valid", "train"))
    intra = list(hand.variables.intra.parameters())
    with seeded(0, "dropout", "architecture", 0, 0):
        loss = net.text_loss(*valid[:2], theta=hand.variables.theta()).mean
    assert event.architecture == pytest.approx(loss.item())
    with torch.no_grad():  # Adam's first step is as long as its rate, against the gradient
        for variable, gradient in zip(intra, torch.autograd.grad(loss, intra), strict=True):
            gradient = gradient + 1e-3 * variable
            variable -= 3e-3 * gradient / (gradient.abs() + 1e-8)

    with seeded(0, "dropout", "weights", 0, 0):
        mean, penalty, _ = net.text_loss(*train[:2], theta=hand.variables.theta())
    assert event.loss == pytest.approx(mean.item())
    weights = list(net.parameters())
    gradients = torch.autograd.grad(mean + penalty, weights)
    norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
    assert norm > 0.05
    with torch.no_grad():
        for weight, gradient in zip(weights, gradients, strict=True):
            weight -= 0.5 * (0.05 / norm * gradient + 0.01 * weight)

    for one, other in ((found.variables, hand.variables), (found.model, hand.model)):
        for name, value in other.state_dict().items():
            torch.testing.assert_close(one.state_dict()[name], value, rtol=1e-5, atol=1e-6)


def adam_means(of: DifferentiableSearch) -> Tensor:
    """After one step a tenth of the gradient by the variables."""
    tensors = of.snapshot().tensors
    return torch.cat([t.flatten() for name, t in tensors.items() if name.endswith(".exp_avg")])


def test_second_order_without_a_step_ahead_is_first_order() -> None:
    changes = {"bptt_spread": 0.0, "clip": None, "weight_decay": 0.0}
    moves = []
    for order, rate in ((False, 1.0), (True, 1e-6), (True, 1.0)):
        one = search(second_order=order, learning_rate=rate, **changes)
        next(one.run())
        moves.append(adam_means(one))
    torch.testing.assert_close(moves[1], moves[0], rtol=1e-3, atol=1e-6)
    assert (moves[2] - moves[0]).norm() > 0.01 * moves[0].norm()


def test_the_step_that_is_looked_ahead_to_has_no_penalty() -> None:
    """As in DARTS' code: the model's own loss there, the penalty in its training loop alone."""
    changes = {"second_order": True, "learning_rate": 1.0, "bptt_spread": 0.0}
    moves = []
    for tar in (0.0, 100.0):
        one = search(**changes, model={**NO_DROPOUT, "tar": tar})
        next(one.run())
        moves.append(adam_means(one))
    assert torch.equal(*moves)


def test_gradients_whose_squares_overflow_are_clipped_as_others_are() -> None:
    """As in a training: single precision has no number for their norm, but they are finite."""
    one = search(
        kind="ess", edges="plain", norm="none", scope="intra", operations=["identity", "relu"],
        weight_decay=0.0, explode_above=1e37, bptt_spread=0.0, bptt_halve=0.0,
        model={**NO_DROPOUT, "init_range": 1e11},
    )  # fmt: skip
    norms: list[float] = []
    healthy = one._is_healthy

    def watched(loss: float, gradients: Gradients) -> bool:
        whole = torch.cat([value.flatten() for value in gradients.values if value is not None])
        assert whole.isfinite().all()
        norms.extend([float(torch.linalg.vector_norm(whole)), gradients.norm])
        return healthy(loss, gradients)

    one._is_healthy = watched  # type: ignore[method-assign]
    before = one.weights()
    event = next(one.run())
    assert norms[2] == math.inf
    assert math.isfinite(norms[3])
    assert one.result().status == "running"
    after = one.weights()
    moved = torch.cat([(after[name] - before[name]).flatten() for name in before]).norm()
    assert float(moved) == pytest.approx(event.learning_rate * 0.25, rel=1e-3)


def test_layers_have_one_theta_and_each_its_own_weights() -> None:
    one = search(kind="ess", edges="plain", model={"kind": "awd"})
    before = one.weights()
    keys = {name.split(".")[-1] for name in before if name.startswith("recurrent.0.")}
    assert {"w_in_x", "w_in_h", "w_0", "f_1_w", "g_1_w"} <= keys
    assert before.keys() == {"embedding.weight", "decoder_bias"} | {
        f"recurrent.{layer}.layer0.bank.{key}" for layer in (0, 1) for key in keys
    }
    alone = search(kind="ess", edges="plain")
    assert variables(one).keys() == variables(alone).keys()
    for _ in one.run():
        pass
    assert one.result().status == "ok"
    moved = {
        name for name, weight in one.weights().items() if not torch.equal(weight, before[name])
    }
    assert moved == before.keys()


# -- phases --------------------------------------------------------------------------------


def epochs_of(one: DifferentiableSearch) -> list[tuple[SearchEpoch, dict[str, Tensor]]]:
    """Each epoch's record, and the variables after it."""
    return [(event, variables(one)) for event in one.run() if isinstance(event, SearchEpoch)]


@pytest.mark.parametrize("fixed", ["theta", "choice"])
def test_only_the_group_of_the_phase_moves(fixed: str) -> None:
    one = search(kind="ess", fixed=fixed, epochs=9, rounds=2, warmup_epochs=1)
    before = variables(one)
    phases = []
    for record, after in epochs_of(one):
        moved = {name.split(".")[0] for name in after if not torch.equal(before[name], after[name])}
        assert moved == ({record.group} if record.round else set())
        assert record.architecture_rate == {"intra": 3e-3, "inter": 1e-3}[record.group] * bool(
            record.round
        )
        assert (record.architecture is None) == (record.round == 0)
        phases.append((record.round, record.group))
        before = after
    assert phases == [(0, "intra"), (1, "intra"), (1, "inter"), (2, "intra"), (2, "inter")]


def test_a_choice_costs_and_moves_what_it_reads_alone() -> None:
    """No gates at first; then each phase has the cell that the other group's weights choose."""
    one = search(kind="ess", fixed="choice", epochs=9, rounds=2, architecture_start=1.0)
    records, read = [], []
    before = one.weights()
    for event in one.run():
        if isinstance(event, SearchEpoch):
            after = one.weights()
            read.append({n for n in after if not torch.equal(after[n], before[n])})
            records.append(event)
            before = after
    first, second = records[0].listing, records[1].listing
    assert isinstance(first, EssListing)
    assert first.f_gate is None
    assert not any(".f_" in name or ".g_" in name for name in read[0])
    assert isinstance(second, EssListing)
    assert second.intra == first.intra
    assert second.f_gate is not None
    chosen = ess.lower(EssListing(first.intra), keys=True)
    inside = {f"recurrent.{name}" for name in Recurrent(chosen, 6, 6).state_dict()}
    assert {name for name in read[1] if ".f_" not in name and ".g_" not in name} == {
        "embedding.weight",
        "decoder_bias",
        *inside,
    }
    third = records[2].listing
    assert isinstance(third, EssListing)
    assert (third.f_gate, third.g_gate) == (second.f_gate, second.g_gate)


def test_warm_up_is_plain_training_of_the_supernet() -> None:
    one = search(warmup_epochs=1)
    before = variables(one)
    for event in one.run():
        if isinstance(event, SearchEpoch):
            break
        assert event.architecture is None
    assert all(torch.equal(before[name], value) for name, value in variables(one).items())


def test_one_group_of_ess() -> None:
    """Intra-cell search has the usual recurrence; inter-cell search, the cell that it is given."""
    intra = search(kind="ess", scope="intra").result().listing
    inter = search(kind="ess", scope="inter", intra="tanh0 sigmoid1 relu0").result().listing
    assert isinstance(intra, EssListing)
    assert (intra.f_gate, intra.g_gate) == (None, None)
    assert isinstance(inter, EssListing)
    assert inter.intra == DartsListing.of([("tanh", 0), ("sigmoid", 1)], edges="highway")
    assert inter.m == 2


# -- texts ---------------------------------------------------------------------------------


def words_read(one: DifferentiableSearch) -> dict[str, list[TextBatch]]:
    """Runs a search to its end: the batches of the weights and of the architecture."""
    read: dict[str, list[TextBatch]] = {"weights": [], "architecture": []}
    reading = one._reading

    def watched(what: str, batch: TextBatch, epoch: int) -> Reading:
        read[what].append(batch)
        return reading(what, batch, epoch)

    one._reading = watched  # type: ignore[method-assign, assignment]
    for _ in one.run():
        pass
    return read


def test_who_reads_what() -> None:
    corpus = corpus_of(np.arange(100) % WORDS, np.full(40, 3), WORDS)
    settings = {"batch": 5, "epochs": 1, "bptt": 3, "bptt_spread": 0.0, "bptt_halve": 0.0}
    valid = words_read(search(corpus=corpus, **settings))
    halves = words_read(search(corpus=corpus, **settings, architecture_text="halves"))

    def text(batches: list[TextBatch]) -> Tensor:
        return torch.cat([batch.tokens for batch in batches])

    def columns(tokens: Any) -> Tensor:
        return torch.as_tensor(tokens.astype(np.int64)).view(5, -1).t()

    assert torch.equal(text(valid["weights"]), columns(corpus.train)[:-1])
    assert set(text(valid["architecture"]).flatten().tolist()) == {3}
    # 8 rows of validation text: two segments of three rows and their targets, and a rest.
    assert {len(batch.tokens) for batch in valid["architecture"]} == {3}
    assert torch.equal(text(halves["weights"]), columns(corpus.train[:50])[:-1])
    assert torch.equal(text(halves["architecture"]), columns(corpus.train[50:])[:9])


def test_halves_are_measured_on_the_validation_text() -> None:
    one = search(architecture_text="halves", evaluation_batch=1, epochs=1)
    *_, last = one.run()
    assert isinstance(last, SearchEpoch)
    batches = one.task.ordered("valid", 1)
    with torch.no_grad():
        theta = one.variables.theta()
    assert last.valid == one.task.measure(one.model, batches, theta=theta).loss


def test_the_architecture_reads_on_in_the_next_epoch() -> None:
    """Not the first segment again: a short training text would never get to the others."""
    one = search(bptt_spread=0.0, bptt_halve=0.0, bptt=4)
    valid = one.task.ordered("valid", 4)[:4]
    read = words_read(one)["architecture"]
    assert len(read) == 18
    for number, batch in enumerate(read):
        assert torch.equal(batch.tokens, valid[number % 4].tokens)
        assert torch.equal(batch.targets, valid[number % 4].targets)


# -- what is recorded ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["darts", "i-darts", "ess"])
def test_records(kind: str) -> None:
    one = search(kind=kind)
    records = [event for event in one.run() if isinstance(event, SearchEpoch)]
    result = one.result()
    assert (result.status, result.converged) == ("ok", False)
    assert result.records == tuple(records)
    assert [record.epoch for record in records] == [1, 2]
    assert records[0].seconds < records[1].seconds <= result.seconds
    assert result.parameters == sum(p.numel() for p in one.model.parameters())
    for record in records:
        theta = {name: torch.tensor(weights) for name, weights in record.theta.items()}
        assert record.watched == watch(one.supernet, theta, one.settings.softmax)
        drop = kind == "ess"
        found = derive(one.supernet, theta, drop_unlinks=drop, connected=True)
        assert found.listing == record.listing
        assert SearchEpoch.from_json(record.to_json()) == record
    assert (result.theta, result.listing) == (records[-1].theta, records[-1].listing)


def test_validation_is_of_the_whole_text() -> None:
    """One column, one segment: what the model says of all words at once."""
    one = search(kind="ess", evaluation_batch=1, bptt_spread=0.0)
    *_, last = one.run()
    assert isinstance(last, SearchEpoch)
    text = torch.from_numpy(small_corpus().valid.astype(np.int64)).unsqueeze(1)
    with torch.no_grad():
        theta = one.variables.theta()
        losses, _ = one.model.eval().token_losses(text[:-1], text[1:], theta=theta)
    assert last.valid == pytest.approx(losses.mean().item())


def test_the_found_cell_takes_over_its_weights() -> None:
    one = search(kind="ess")
    for _ in one.run():
        pass
    single = one.task.model(one.result().shared, one.model.settings)
    copy_weights(one.model, single)
    assert torch.equal(single.embedding.weight, one.model.embedding.weight)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"explode_above": 1.0}, "exploded"),
        ({"model": {**NO_DROPOUT, "init_range": 1e30}}, "loss is nan"),
        ({"learning_rate": 1e12, "clip": None, "weight_decay": 1.0}, None),
    ],
)
def test_divergence_is_a_result(changes: dict[str, Any], status: str | None) -> None:
    """It ends there; variables stay finite, and the cell is that of the last of them."""
    one = search(kind="ess", scope="intra", **changes)
    events = list(one.run())
    result = one.result()
    assert result.status in ([status] if status else ["exploded", "loss is nan"])
    assert all(map(math.isfinite, sum(result.theta.values(), ())))
    assert result.cell.id
    assert list(one.run()) == []
    assert len(events) < 12
