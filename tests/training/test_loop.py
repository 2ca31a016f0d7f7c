"""The loop that trainings and searches stand on, with steps that only count."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor

from cellwright.training.loop import Loop
from cellwright.training.snapshots import Parts, Snapshot


class Counting(Loop[str, str]):
    """Epochs of two and three steps, then two more that conclude."""

    def __init__(self, bad: tuple[int, int] | None = None) -> None:
        super().__init__(seed=7, explode_above=20.0)
        self.bad, self.epoch, self.concluded = bad, 0, 0
        self.total = torch.zeros(2)

    def _prepare_epoch(self) -> int:
        return 2 + self.epoch

    def _take_step(self) -> str:
        self._status = self._verdict(99.0 if (self.epoch, self._step) == self.bad else 1.0, 1.0)
        self._step += 1
        self.total += self._step + 10 * self.epoch
        return f"step {self.epoch}.{self._step}"

    def _close_epoch(self) -> str:
        self.epoch, self._step = self.epoch + 1, 0
        return f"epoch {self.epoch}"

    def _has_learned(self) -> bool:
        return self.epoch == 2

    def _conclude(self) -> str:
        self.concluded += 1
        if self.concluded == 2:
            self._status = "ok"
        return f"conclusion {self.concluded}"

    def _tensors(self) -> Mapping[str, Mapping[str, Tensor]]:
        return {"made": {"total": self.total}, "nothing": {}}

    def _state(self) -> dict[str, Any]:
        return {"epoch": self.epoch, "concluded": self.concluded}

    def _restore(self, tensors: Parts, state: Mapping[str, Any]) -> None:
        assert tensors["nothing"] == {}
        self.total.copy_(tensors["made"]["total"])
        self.epoch, self.concluded = state["epoch"], state["concluded"]


WHOLE = [
    "step 0.1", "step 0.2", "epoch 1", "step 1.1", "step 1.2", "step 1.3", "epoch 2",
    "conclusion 1", "conclusion 2",
]  # fmt: skip


def test_epochs_of_steps_and_then_the_conclusion():
    loop = Counting()
    assert list(loop.run()) == WHOLE
    assert list(loop.run()) == []


@pytest.mark.parametrize("done", range(len(WHOLE) + 1))
def test_it_goes_on_from_a_snapshot_that_was_taken_anywhere(done):
    whole, cut = Counting(), Counting()
    list(whole.run())
    for _ in zip(range(done), cut.run(), strict=False):
        pass
    tensors, state = cut.snapshot()
    again = Counting()
    again.restore(Snapshot(tensors, json.loads(json.dumps(state))))
    assert list(again.run()) == WHOLE[done:]
    assert torch.equal(again.total, whole.total)


def test_a_snapshot_is_a_copy():
    loop = Counting()
    run = loop.run()
    next(run)
    tensors, _ = loop.snapshot()
    assert list(tensors) == ["made.total"]
    next(run)
    assert tensors["made.total"].tolist() == [1.0, 1.0]


def test_a_step_that_diverged_is_the_last():
    loop = Counting(bad=(1, 1))
    assert list(loop.run()) == WHOLE[:5]
    assert loop.snapshot().state["status"] == "exploded"
    again = Counting()
    again.restore(loop.snapshot())
    assert list(again.run()) == []


@pytest.mark.parametrize(
    ("loss", "norm", "says"),
    [
        (1.0, 1.0, "running"),
        (20.0, 1e300, "running"),
        (20.1, 1.0, "exploded"),
        (math.inf, 1.0, "exploded"),
        (1.0, math.inf, "exploded"),
        (math.nan, 1.0, "loss is nan"),
        (1.0, math.nan, "loss is nan"),
        (math.nan, math.inf, "loss is nan"),
    ],
)
def test_what_losses_and_norms_say(loss, norm, says):
    assert Counting()._verdict(loss, norm) == says


def test_time_counts_across_a_stop():
    loop = Counting()
    list(loop.run())
    tensors, state = loop.snapshot()
    assert state["seconds"] > 0
    again = Counting()
    again.restore(
        Snapshot(tensors, {**state, "status": "running", "concluded": 0, "seconds": 99.0})
    )
    assert list(again.run()) == WHOLE[-2:]
    assert again.snapshot().state["seconds"] > 99


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"step": "3"}, "state.step is '3', which is no whole number"),
        ({"step": True}, "state.step is True, which is no whole number"),
        ({"step": -1}, "step -1"),
        ({"seconds": []}, r"state.seconds is \[\], which is no number"),
        ({"status": None}, "state.status is None, which is no text"),
        ({"status": "resting"}, "status 'resting'"),
        ({"epoch": None}, "state.epoch is None, which is no whole number"),
    ],
)
def test_a_state_of_other_kinds_of_values_is_refused(changes, says):
    tensors, state = Counting().snapshot()
    with pytest.raises((TypeError, ValueError), match=says):
        Counting().restore(Snapshot(tensors, {**state, **changes}))
    del state["epoch"]
    with pytest.raises(TypeError, match="state lacks epoch"):
        Counting().restore(Snapshot(tensors, state))
