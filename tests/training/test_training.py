"""What a user can rely on when a model is trained."""

import copy
import json
import math

import pytest
import torch
from training_support import MODEL, language_task, settings

import cellwright as cw
from cellwright.base.seeds import seeded
from cellwright.data import DataError, batchify
from cellwright.models import AwdSettings
from cellwright.tasks.language.task import LanguageTask
from cellwright.training.averaging import Average, should_average
from cellwright.training.results import EpochDone, StepDone
from cellwright.training.snapshots import Snapshot
from cellwright.training.training import Training

AVERAGED = {"average_after": 1}
AWD = AwdSettings(embedding=8, hidden=10, layers=2)


@pytest.fixture(autouse=True)
def _average_soon(monkeypatch):
    """Where averaging is on, it starts after an epoch; its real trigger has tests of its own."""
    monkeypatch.setattr(
        "cellwright.training.training.should_average",
        lambda valid, earlier, after: after is not None and len(earlier) == after,
    )


def new_training(corpus, cell="gru", model=MODEL, seed=3, **changes):
    return Training(cw.zoo[cell], language_task(corpus), model, settings(**changes), seed)


def valid_loss(model, corpus):
    task = language_task(corpus)
    return task.measure(model, task.ordered("valid", 2)).loss


def finish(training):
    for _ in training.run():
        pass
    return training


def through_json(snapshot):
    """As a checkpoint keeps it: nothing but tensors and JSON."""
    return Snapshot(
        {name: tensor.clone() for name, tensor in snapshot.tensors.items()},
        json.loads(json.dumps(snapshot.state)),
    )


def assert_same(one, other):
    first, second = one.snapshot(), other.snapshot()
    assert first.tensors.keys() == second.tensors.keys()
    for name, tensor in first.tensors.items():
        assert torch.equal(tensor, second.tensors[name]), name

    def timeless(state):
        state = copy.deepcopy(state) | {"seconds": 0}
        for record in state["curve"]:
            record["seconds"] = record["peak_memory"] = 0
        return state

    assert timeless(first.state) == timeless(second.state)


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        (MODEL, {"optimizer": "sgd"}),
        (MODEL, {"optimizer": "adam", "learning_rate": 3e-3}),
        (
            MODEL,
            {
                "average_after": 1,
                "optimizer": "adam",
                "learning_rate": 0.5,
                "epochs": 6,
                "explode_above": 1e6,
            },
        ),
        (AWD, {"optimizer": "adam", "learning_rate": 3e-3}),
    ],
    ids=["sgd", "adam", "averaged", "awd"],
)
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_resuming_anywhere_ends_in_the_same_bits(corpus, model, changes, cell):
    whole = finish(new_training(corpus, cell, model, **changes))
    interrupted = new_training(corpus, cell, model, **changes)
    for number, _ in enumerate(interrupted.run()):
        if number % 7 == 3:
            break
    while interrupted.result().status == "running":
        snapshot = through_json(interrupted.snapshot())
        interrupted = new_training(corpus, cell, model, **changes)
        interrupted.restore(snapshot)
        for number, _ in enumerate(interrupted.run()):
            if number == 4:
                break
    assert_same(whole, interrupted)
    if changes.get("average_after"):
        assert any(record.averaged for record in whole.result().curve)


def test_taking_snapshots_changes_nothing(corpus):
    watched = new_training(corpus)
    for _ in watched.run():
        watched.snapshot()
        watched.weights()
        torch.rand(3)
    assert_same(finish(new_training(corpus)), watched)


def test_seeds_differ_and_the_callers_generator_is_left_alone(corpus):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one = finish(new_training(corpus, epochs=1))
    assert torch.equal(torch.get_rng_state(), before)
    other = finish(new_training(corpus, epochs=1, seed=4))
    assert one.result().valid != other.result().valid


def test_it_learns(corpus):
    start = new_training(corpus)
    untrained = valid_loss(start.model, corpus)
    result = finish(new_training(corpus, epochs=12)).result()
    assert result.status == "ok"
    assert len(result.curve) == 12
    assert result.valid < untrained - 1
    assert result.valid == min(record.valid for record in result.curve)
    assert result.test == result.curve[result.best_epoch - 1].test
    assert result.parameters == sum(p.numel() for p in start.model.parameters())


def test_one_step_by_hand(corpus):
    training = new_training(corpus, learning_rate=3.0, weight_decay=1e-3, clip=0.1)
    by_hand = copy.deepcopy(training.model)
    batch = training.task.batches("train", 4, 3, 0)[0]
    by_hand.train()
    with seeded(3, "dropout", 0, 0):
        loss = by_hand.text_loss(batch.tokens, batch.targets, by_hand.zero_state(4))
    (loss.mean + loss.penalty).backward()
    norm = math.sqrt(sum(float(p.grad.double().square().sum()) for p in by_hand.parameters()))
    assert norm > 0.1
    rate = 3.0 * len(batch.tokens) / 12
    with torch.no_grad():
        for p in by_hand.parameters():
            p -= rate * (p.grad * 0.1 / norm + 1e-3 * p)
    event = next(training.run())
    assert isinstance(event, StepDone)
    assert event.loss == pytest.approx(float(loss.mean.detach()))
    assert event.learning_rate == pytest.approx(rate)
    for ours, wanted in zip(training.model.parameters(), by_hand.parameters(), strict=True):
        assert torch.allclose(ours, wanted, atol=1e-6)


def test_events_tell_the_whole_story(corpus):
    training = new_training(corpus, epochs=2)
    events = list(training.run())
    epochs = [event for event in events if isinstance(event, EpochDone)]
    steps = [event for event in events if isinstance(event, StepDone)]
    assert [event.record for event in epochs] == list(training.result().curve)
    rows = len(batchify(corpus.train, 4))
    assert sum(event.size for event in steps if event.epoch == 1) == (rows - 1) * 4
    first = [event for event in steps if event.epoch == 1]
    assert [event.step for event in first] == list(range(1, first[0].steps + 1))
    mean = sum(e.loss * e.size for e in first) / sum(e.size for e in first)
    assert epochs[0].record.train == pytest.approx(mean)
    assert epochs[0].best


def test_average_is_that_of_torch():
    torch.manual_seed(0)
    ours, theirs = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    theirs.load_state_dict(ours.state_dict())
    average = Average(ours)
    sgd = torch.optim.SGD(ours.parameters(), lr=0.1)
    asgd = torch.optim.ASGD(theirs.parameters(), lr=0.1, lambd=0.0, t0=0)
    for _ in range(6):
        x = torch.randn(5, 3)
        for model, optimizer in ((ours, sgd), (theirs, asgd)):
            optimizer.zero_grad()
            model(x).square().sum().backward()
            optimizer.step()
        average.update(ours)
    for name, parameter in theirs.named_parameters():
        assert torch.allclose(average.tensors[name], asgd.state[parameter]["ax"], atol=1e-6)


@pytest.mark.parametrize(
    ("valid", "earlier", "after", "wanted"),
    [
        (5.0, [6.0, 5.5, 4.0], 1, False),  # the best of an epoch ago and before is 5.5
        (5.6, [6.0, 5.5, 4.0], 1, True),
        (5.6, [6.0, 5.5], 2, False),  # too early
        (5.6, [5.5, 9.0, 9.0], 2, True),
        (9.9, [1.0, 1.0, 1.0], None, False),
    ],
)
def test_trigger_of_averaging(valid, earlier, after, wanted):
    assert should_average(valid, earlier, after) is wanted


def test_averaged_weights_are_measured_and_handed_out(corpus):
    training = finish(
        new_training(corpus, learning_rate=200.0, average_after=1, epochs=6, explode_above=1e6)
    )
    assert training.result().curve[-1].averaged
    averaged, current = training.weights(), training.model.state_dict()
    assert any(not torch.equal(averaged[name], current[name]) for name in averaged)
    training.model.load_state_dict(averaged)
    assert valid_loss(training.model, corpus) == training.result().curve[-1].valid


def test_learning_rate_decays(corpus):
    plan = settings(learning_rate=8.0, decay=0.5, decay_after=2)
    assert [plan.rate(epoch) for epoch in range(5)] == [8.0, 8.0, 4.0, 2.0, 1.0]


def test_the_learning_rate_falls_when_progress_ends_until_it_is_too_low(corpus):
    plan = {"anneal": 0.25, "anneal_after": 2, "rate_least": 1e-2, "epochs": 50}
    training = finish(new_training(corpus, learning_rate=1.0, **plan, explode_above=1e6))
    curve, least, bad, rate = training.result().curve, math.inf, 0, 1.0
    for record in curve:
        assert record.learning_rate == rate
        bad, least = (0, record.valid) if record.valid < least else (bad + 1, least)
        if bad == 2:
            rate, bad = rate / 4, 0
    assert rate < 1e-2 <= curve[-1].learning_rate
    assert len(curve) < 50


def test_early_stop(corpus):
    training = finish(new_training(corpus, learning_rate=1e-9, epochs=50, patience=2))
    result = training.result()
    assert result.status == "ok"
    assert len(result.curve) - result.best_epoch == 2


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"learning_rate": 1e6, "clip": None}, "exploded"),
        (
            {"learning_rate": 1e6, "weight_decay": 1e6, "clip": None, "explode_above": 1e38},
            "loss is nan",
        ),
    ],
)
def test_divergence_is_a_result(corpus, changes, status):
    training = finish(new_training(corpus, "rnn", **changes))
    result = training.result()
    assert result.status == status
    assert result.seconds > 0
    resumed = new_training(corpus, "rnn", **changes)
    resumed.restore(through_json(training.snapshot()))
    assert list(resumed.run()) == []
    assert resumed.result().status == status


class Widening(LanguageTask):
    """More columns in each later epoch."""

    def batches(self, part, size, seed, epoch):
        return super().batches(part, size + epoch, seed, epoch)


def test_an_epoch_begins_with_its_own_first_batch(corpus):
    """What is carried may be as large as the batch is."""

    def made():
        task = Widening(corpus, language_task(corpus).settings)
        return Training(cw.zoo["lstm"], task, MODEL, settings(), 3)

    training, snapshots, widths = made(), [], []
    for event in training.run():
        if isinstance(event, EpochDone) or event.step == 1:
            snapshots.append(through_json(training.snapshot()))
        if isinstance(event, StepDone) and event.step == 1:
            widths.append(training._carried[0].shape[-2])
    assert widths == [4, 5, 6]
    for snapshot in snapshots:
        again = made()
        again.restore(snapshot)
        assert_same(finish(again), training)


def test_text_that_is_too_short(corpus):
    with pytest.raises(DataError, match="too few for a batch"):
        new_training(corpus, batch=4000)


def test_what_is_carried_has_no_past(corpus):
    training = new_training(corpus, "lstm")
    next(training.run())
    assert all(not part.requires_grad for part in training._carried)
