"""How a model around a cell is trained: every number of the papers' schedules."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class TrainingSettings(BaseModel):
    """The defaults are those with which DARTS, I-DARTS and ESS train a found cell."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    optimizer: Literal["sgd", "adam"] = Field("sgd", description="plain SGD, or Adam")
    learning_rate: float = Field(20.0, gt=0, description="at the start, for a full batch")
    weight_decay: float = Field(8e-7, ge=0, description="L2 penalty on all weights")
    clip: float | None = Field(0.25, gt=0, description="largest norm of the gradient")
    epochs: int = Field(3600, ge=1, description="how often the training data is read")
    batch: int = Field(64, ge=1, description="texts, or sentences, that are read side by side")
    evaluation_batch: int = Field(10, ge=1, description="the same while measuring")
    decay: float = Field(1.0, gt=0, le=1, description="of the learning rate, at each later epoch")
    decay_after: int = Field(0, ge=0, description="epochs before that decay starts")
    average_after: int | None = Field(
        5, ge=1, description="epochs without progress until weights are averaged; none: never"
    )
    patience: int | None = Field(
        None, ge=1, description="epochs without a new best until training stops; none: never"
    )
    explode_above: float = Field(
        20.0, gt=0, description="mean loss of a batch at which a run counts as exploded"
    )

    def rate(self, epoch: int) -> float:
        """The learning rate of an epoch, the first being number 0."""
        return self.learning_rate * self.decay ** max(0, epoch + 1 - self.decay_after)
