"""How a model around a cell is trained: every number of the papers' schedules."""

from __future__ import annotations

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
        """The learning rate of an epoch, the first being number 0."""
        return self.learning_rate * self.decay ** max(0, epoch + 1 - self.decay_after)
