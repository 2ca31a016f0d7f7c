"""What every task has to hold."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from pydantic import TypeAdapter
from torch import Tensor

from cellwright.base.errors import UserError
from cellwright.base.seeds import seeded
from cellwright.cell import Cell
from cellwright.cell.listings.enas import EnasListing, lower
from cellwright.cell.listings.supernets import darts_supernet
from cellwright.cell.zoo import zoo
from cellwright.engine import WeightBank
from cellwright.models.cell_model import CellModel
from cellwright.search.gradient.architecture import Architecture
from cellwright.tasks.registry import TaskKind, open_task, task_kind
from cellwright.tasks.task import Part, Task
from cellwright.training.settings import TrainingSettings
from cellwright.training.training import Training

_STEPS = 15


@dataclass(frozen=True)
class TaskCase:
    """A task under test, small enough that a step takes milliseconds.

    Args:
        kind: the kind, or its name; of a plug-in `module:function`.
        settings: of `[task]`, beside the kind.
        model: of `[model]`.
        batch: how large batches are.
        limits: how many items of each part are used; all unless said.
    """

    kind: TaskKind | str
    settings: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    batch: int = 4
    limits: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def found(self) -> TaskKind:
        """The kind itself."""
        return self.kind if isinstance(self.kind, TaskKind) else task_kind(self.kind)

    def open(self) -> Task[Any]:
        """The task, opened anew."""
        values = {"kind": self.found.name, **self.settings}
        made = self.found.settings.model_validate(values)
        task = self.found.open(made, None) if isinstance(self.kind, TaskKind) else open_task(made)
        return task.limited(self.limits) if self.limits else task

    @cached_property
    def task(self) -> Task[Any]:
        """The task."""
        return self.open()

    @cached_property
    def model_settings(self) -> Any:
        """The settings of its model."""
        return TypeAdapter(self.found.model_settings).validate_python(dict(self.model))

    def made(self, cell: Cell, bank: WeightBank | None = None) -> CellModel[Any]:
        """A model around a cell; the same each time."""
        with seeded(0, "model"):
            return self.task.model(cell, self.model_settings, bank=bank)

    @cached_property
    def batches(self) -> Sequence[Any]:
        """Those of the first epoch."""
        return self.task.batches("train", self.batch, 0, 0)


# -- the suite -----------------------------------------------------------------------------------


def data_is_told_apart_and_described(case: TaskCase) -> None:
    """Opening it again gives the same fingerprint; people can read what it is."""
    assert case.open().fingerprint == case.task.fingerprint, "the same data has two fingerprints"
    assert case.task.fingerprint, "the fingerprint is empty"
    assert case.task.describe().strip(), "the data is not described"


def batches_follow_from_seed_and_epoch(case: TaskCase) -> None:
    """The same seed and epoch give the same batches, in a task that is opened anew, too."""
    task = case.open()
    for epoch in (0, 1):
        first = _values(case.task.batches("train", case.batch, 3, epoch))
        again = _values(case.task.batches("train", case.batch, 3, epoch))
        anew = _values(task.batches("train", case.batch, 3, epoch))
        assert first == again == anew, "the same seed and epoch gave other batches"


def batches_have_sizes_and_rates(case: TaskCase) -> None:
    """Every batch counts something, and its learning rate is at most little above the full one."""
    assert len(case.batches) > 0, "there is no batch to learn from"
    for batch in case.batches:
        assert batch.size >= 1, f"a batch has the size {batch.size}"
        assert 0 < batch.rate(1.0) < 10, f"a batch has the rate {batch.rate(1.0)}"


def all_parts_are_there(case: TaskCase) -> None:
    """Each part can be read in its order, the same each time."""
    for part in ("train", "valid", "test"):
        first, again = (_values(case.task.ordered(part, case.batch)) for _ in range(2))
        assert first, f"the part {part} has no batches"
        assert first == again, f"the part {part} has another order each time"


def a_measurement_is_a_number_that_stays(case: TaskCase) -> None:
    """Losses are finite, the same twice, and measuring changes no weight; the metric shows them."""
    model = case.made(zoo["gru"])
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    model.train()
    first, again = (_measured(case, model, "valid") for _ in range(2))
    assert math.isfinite(first), f"the loss of an untrained model is {first}"
    assert first == again, "measuring twice gave two losses"
    same = all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert same, "measuring changed the weights"
    metric = case.task.metric
    value = metric.value(first)
    assert math.isfinite(value), f"the {metric.name} of a finite loss is {value}"
    assert metric.shown(first).strip("–∞ "), f"the {metric.name} of {first} is not shown"
    assert math.isfinite(metric.reward(first)), "the reward of a finite loss is not finite"
    better, worse = metric.value(first - 0.1), metric.value(first + 0.1)
    assert (better > worse) == metric.higher_is_better, "a lower loss is not a better value"


def weights_follow_from_the_generator(case: TaskCase) -> None:
    """A model's first weights are drawn from torch's generator, and from nothing else."""
    one, other = case.made(zoo["lstm"]).state_dict(), case.made(zoo["lstm"]).state_dict()
    assert one.keys() == other.keys(), "two models have weights of other names"
    same = all(torch.equal(one[name], other[name]) for name in one)
    assert same, "the same seed gave other first weights"


def a_loss_has_gradients_and_can_be_lowered(case: TaskCase) -> None:
    """The cell's weights learn, and steps on one batch lower its loss."""
    model, batch = case.made(zoo["gru"]), case.batches[0]
    model.eval()  # without dropout every step sees the same function
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    losses = []
    for _ in range(_STEPS):
        optimizer.zero_grad()
        loss = model.loss(batch, model.begin(batch))
        (loss.mean + loss.penalty).backward()  # type: ignore[no-untyped-call]
        losses.append(float(loss.mean.detach()))
        optimizer.step()
    assert all(map(math.isfinite, losses)), f"losses are {losses}"
    reached = [n for n, p in model.named_parameters() if p.grad is not None and p.grad.any()]
    assert reached, "no weight has a gradient"
    assert losses[-1] < losses[0], f"steps on one batch led from {losses[0]} to {losses[-1]}"


def another_cell_shares_the_weights(case: TaskCase) -> None:
    """`around` copies nothing: what is around the cell, and what the bank has, is the same."""
    first = EnasListing("tanh", ((0, "relu"), (0, "tanh")))
    second = EnasListing("relu", ((0, "tanh"), (1, "relu")))
    bank = WeightBank()
    model = case.made(lower(first, keys=True), bank)
    other = model.around(lower(second, keys=True), bank)
    assert type(other) is type(model), "around gives a model of another type"
    own = {id(parameter) for parameter in model.parameters()} | {id(p) for p in bank.parameters()}
    copied = [name for name, p in other.named_parameters() if id(p) not in own]
    assert not copied, f"around copies weights: {', '.join(copied)}"
    batch = case.batches[0]
    loss = other.loss(batch, other.begin(batch))
    assert math.isfinite(float(loss.mean.detach())), "the other cell has no finite loss"
    # A weight that both cells have, and one that only the second has, move for both models.
    with torch.no_grad():
        for parameter in bank.parameters():
            parameter.zero_()
    again = model.around(lower(second, keys=True), bank)
    zeros = [p for n, p in again.named_parameters() if "bank" in n]
    assert all(not p.any() for p in zeros), "a model around the bank has weights of its own"


def a_supernet_has_gradients_by_theta(case: TaskCase) -> None:
    """A model around a supernet runs with θ from outside, and says what θ does to the loss."""
    supernet = darts_supernet(2, ("tanh", "relu"))
    model = case.made(supernet.cell, WeightBank())
    variables = Architecture(supernet, "pair", start=1e-3)
    batch = case.batches[0]
    loss = model.loss(batch, model.begin(batch), theta=variables.theta())
    loss.mean.backward()  # type: ignore[no-untyped-call]
    moved = [p for p in variables.parameters() if p.grad is not None and p.grad.any()]
    assert moved, "θ has no gradient: the model does not pass it on"
    with torch.no_grad():
        score = case.task.measure(model, [batch], theta=variables.theta())
    assert math.isfinite(score.loss), "a supernet cannot be measured"


def a_training_that_is_cut_goes_on_bit_for_bit(case: TaskCase) -> None:
    """A snapshot between any two steps holds all that is needed, also after JSON."""
    whole, cut = _training(case), _training(case)
    steps = max(2, min(6, len(case.batches) + 1))
    _advance(whole, 2 * steps)
    _advance(cut, steps)
    tensors, state = cut.snapshot()
    again = _training(case)
    again.restore(type(cut.snapshot())(tensors, json.loads(json.dumps(state))))
    _advance(again, steps)
    one, other = whole.weights(), again.weights()
    assert all(torch.equal(one[name], other[name]) for name in one), "resumed to other weights"


def parts_can_be_limited_and_halved(case: TaskCase) -> None:
    """Less data is less data; a part that is none is named; halves are two."""
    sizes = [batch.size for batch in case.task.ordered("train", 1)]
    most = max(2, sum(sizes) // 2)
    less = case.task.limited({"train": most})
    left = sum(batch.size for batch in less.ordered("train", 1))
    assert 0 < left < sum(sizes), f"limited to {most} of {sum(sizes)}, it has {left}"
    try:
        case.task.limited({"nonsense": 3})
    except UserError:
        pass
    else:
        raise AssertionError("a part that is none can be limited")
    first, second = (_values(half.ordered("train", 1)) for half in case.task.halves())
    assert first, "the first half is empty"
    assert second, "the second half is empty"
    assert first != second, "both halves are the same"


def what_is_kept_is_enough_for_the_model(case: TaskCase) -> None:
    """Of a kind whose runs keep files: without the data, these give the same model."""
    if (kept := case.found.kept) is None:
        return
    files = dict(kept.take(case.task))
    assert all(isinstance(data, bytes) for data in files.values()), "what is kept is bytes"
    settings = case.found.settings.model_validate({"kind": case.found.name, **case.settings})
    restored = kept.restore(settings, files)
    assert dict(kept.take(restored)) == files, "a restored task keeps something else"
    model = restored.model(zoo["gru"], case.model_settings)
    trained = case.made(zoo["gru"]).state_dict()
    shapes = {name: tensor.shape for name, tensor in trained.items()}
    found = {name: tensor.shape for name, tensor in model.state_dict().items()}
    assert found == shapes, "the weights of a trained model do not fit that of a restored task"


TASK_CHECKS: tuple[Callable[[TaskCase], None], ...] = (
    data_is_told_apart_and_described,
    batches_follow_from_seed_and_epoch,
    batches_have_sizes_and_rates,
    all_parts_are_there,
    a_measurement_is_a_number_that_stays,
    weights_follow_from_the_generator,
    a_loss_has_gradients_and_can_be_lowered,
    another_cell_shares_the_weights,
    a_supernet_has_gradients_by_theta,
    a_training_that_is_cut_goes_on_bit_for_bit,
    parts_can_be_limited_and_halved,
    what_is_kept_is_enough_for_the_model,
)


def check_task(case: TaskCase) -> None:
    """All that a task has to hold."""
    for check in TASK_CHECKS:
        check(case)


# -- small parts ---------------------------------------------------------------------------------


def _measured(case: TaskCase, model: CellModel[Any], part: Part) -> float:
    return case.task.measure(model, case.task.ordered(part, case.batch)).loss


def _training(case: TaskCase) -> Training:
    values = {"optimizer": "adam", "learning_rate": 0.01, "batch": case.batch, "epochs": 1000,
              "evaluation_batch": case.batch, "average_after": None}  # fmt: skip
    settings = TrainingSettings.model_validate(values)
    return Training(zoo["gru"], case.task, case.model_settings, settings, seed=1)


def _advance(training: Training, events: int) -> None:
    for number, _ in enumerate(training.run(), 1):
        if number == events:
            return


def _values(value: Any) -> Any:
    """Batches as values that are equal exactly for equal batches."""
    if isinstance(value, Tensor):
        return (str(value.dtype), tuple(value.shape), value.detach().cpu().numpy().tobytes())
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, value.tobytes())
    if isinstance(value, Mapping):
        return {key: _values(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_values(value[at]) for at in range(len(value))]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [_values(getattr(value, f.name)) for f in dataclasses.fields(value)]
    return value
