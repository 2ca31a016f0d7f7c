"""Reading batches with the model of a stage: losses to learn from."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from cellwright.base.seeds import seeded
from cellwright.models.cell_model import AnyBatch, Carried, detached
from cellwright.search.gradient.stages import Stage


@dataclass
class Reading:
    """The loss of a batch, the same function each time: same batch, state and dropout masks.

    Args:
        stage: whose model reads, with weights and variables as they are each time.
        batch: what is read.
        carried: what the batch before left.
        seed: of the search.
        masks: what sets these dropout masks apart from others of the seed.
        penalty: whether the model's penalty belongs to the loss.
    """

    stage: Stage
    batch: AnyBatch
    carried: Carried
    seed: int
    masks: tuple[str | int, ...]
    penalty: bool
    loss: float = field(default=math.nan, init=False)
    after: Carried = field(default=(), init=False)

    def __call__(self) -> Tensor:
        """Read; `loss` is then the mean loss, `after` what is carried, without their past."""
        model: Any = self.stage.model
        model.train()
        with seeded(self.seed, *self.masks):
            seen = model.loss(self.batch, self.carried, theta=self.stage.theta())
        self.loss, self.after = float(seen.mean.detach()), detached(seen.carried)
        total: Tensor = seen.mean + seen.penalty if self.penalty else seen.mean
        return total
