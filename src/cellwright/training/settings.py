"""How a model around a cell is trained: every number of the papers' schedules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from cellwright.base.bounds import Count, CountFromZero, NotNegative, Positive, up_to

Loss = Annotated[float, Field(gt=0), up_to(1e38)]
"""A loss, as far as single precision has any."""


class TrainingSettings(BaseModel):
    """The defaults are those with which DARTS, I-DARTS and ESS train a found cell."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    optimizer: Literal["sgd", "adam"] = Field("sgd", description="plain SGD, or Adam")
    learning_rate: Positive = Field(20.0, description="at the start, for a full batch")
    weight_decay: NotNegative = Field(8e-7, description="L2 penalty on all weights")
    clip: Positive | None = Field(0.25, description="largest norm of the gradient")
    epochs: Count = Field(3600, description="how often the training data is read")
    batch: Count = Field(64, description="texts, or sentences, that are read side by side")
    evaluation_batch: Count = Field(10, description="the same while measuring")
    decay: float = Field(1.0, gt=0, le=1, description="of the learning rate, at each later epoch")
    decay_after: CountFromZero = Field(0, description="epochs before that decay starts")
    anneal: float = Field(
        1.0, gt=0, le=1, description="of the learning rate, each time that progress ends"
    )
    anneal_after: Count = Field(
        4, description="epochs in a row without a new best until that happens"
    )
    rate_least: NotNegative = Field(
        0.0, description="training stops when the learning rate falls below this"
    )
    average_after: Count | None = Field(
        5, description="epochs without progress until weights are averaged; none: never"
    )
    patience: Count | None = Field(
        None, description="epochs without a new best until training stops; none: never"
    )
    explode_above: Loss = Field(
        20.0, description="mean loss of a batch at which a run counts as exploded"
    )

    def rate(self, epoch: int) -> float:
        """The learning rate of an epoch, the first being number 0, if progress never ends."""
        return self.learning_rate * self.decay ** max(0, epoch + 1 - self.decay_after)

    def annealing(self, losses: Sequence[float]) -> float:
        """What the rate is multiplied with after epochs with these losses on the validation data.

        Each time that there were `anneal_after` epochs without a new best, it falls, and counting
        begins anew.

        >>> some = TrainingSettings(anneal=0.5, anneal_after=2)
        >>> [some.annealing([3.0, 2.0, 2.5, 2.0, 1.0, 4.0][:n]) for n in range(7)]
        [1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5]
        """
        factor, best, bad = 1.0, math.inf, 0
        for loss in losses:
            bad = 0 if loss < best else bad + 1
            best = min(best, loss)
            if bad == self.anneal_after:
                factor, bad = factor * self.anneal, 0
        return factor
