"""`Metric`: what a loss is called and shown as.

Inside, a loss is always lower-is-better. Only what people see goes through a metric: tables, axes,
progress lines, sentences. A metric is data, so that run folders, studies and benchmarks keep it,
and show the right words without the task that measured it.
"""

from __future__ import annotations

import math
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Form = Literal["plain", "exponential", "complement", "percent"]
"""How a value follows from a loss: as it is, e to the loss, 1 − loss, or 100·(1 − loss)."""

_DIGITS: dict[Form, int] = {"plain": 4, "exponential": 1, "complement": 3, "percent": 2}

_LARGE = 1e6
"""From here on a value is written with a power of ten."""

_ENAS_SCALE = 80.0
"""Pham et al. 2018: the reward of a language model is 80 divided by e to its loss."""


class Metric(BaseModel):
    """What a loss is called and shown as.

    >>> f1 = Metric(name="F1", form="percent", items="sentences")
    >>> f1.shown(0.0825), f1.higher_is_better
    ('91.75', True)
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=40, description="what people call it")
    form: Form = Field("plain", description="how its value follows from the loss")
    unit: str = Field("", max_length=40, description="of the loss itself, such as 'nats a word'")
    items: str = Field("items", max_length=40, description="what a batch counts, such as 'words'")

    @property
    def higher_is_better(self) -> bool:
        """Of its values; of a loss the lower one is better, always."""
        return self.form in ("complement", "percent")

    @property
    def best_word(self) -> str:
        """What the best value is: the lowest, or the highest."""
        return "highest" if self.higher_is_better else "lowest"

    @property
    def better_word(self) -> str:
        """What a better value is: lower, or higher."""
        return "higher" if self.higher_is_better else "lower"

    @property
    def loss_name(self) -> str:
        """What people call the loss itself.

        >>> Metric(name="accuracy", form="percent").loss_name
        '1 − accuracy'
        """
        if self.form == "plain":
            return self.name
        return f"log {self.name}" if self.form == "exponential" else f"1 − {self.name}"

    @property
    def axis_grows(self) -> bool:
        """Whether values that lie far apart are easier to see on a logarithmic axis."""
        return self.form == "exponential"

    @property
    def is_learned_from(self) -> bool:
        """Whether models learn from this very loss, so that those of training are shown as well.

        What counts right answers has no gradient: training minimises something else then.
        """
        return not self.higher_is_better

    def value(self, loss: float) -> float:
        """What a loss is shown as, as a number; infinite where it is too large for one."""
        if self.form == "exponential":
            return math.exp(loss) if loss < 700 else math.inf if loss == loss else math.nan
        if self.form == "plain":
            return loss
        return 100 * (1 - loss) if self.form == "percent" else 1 - loss

    def shown(self, loss: float) -> str:
        """A loss as people read it."""
        return self.written(self.value(loss))

    def train_shown(self, loss: float) -> str:
        """A loss of training as people read it: as those it is measured by, or as it is.

        >>> Metric(name="accuracy", form="percent").train_shown(1.25)
        '1.2500'
        """
        if self.is_learned_from:
            return self.shown(loss)
        return f"{loss:.4f}" if math.isfinite(loss) else self.written(loss)

    def written(self, value: float) -> str:
        """A value, or a difference of values, as people read it.

        >>> Metric(name="loss", form="exponential").written(103.52)
        '103.5'
        """
        if not math.isfinite(value):
            return "∞" if value > 0 else "-∞" if value < 0 else "–"
        return f"{value:.{_DIGITS[self.form]}f}" if abs(value) < _LARGE else f"{value:.0g}"

    def loss_shown(self, loss: float) -> str:
        """The loss itself, with its unit; empty where the metric says the same."""
        return "" if self.form == "plain" or not self.unit else f"{loss:.4f} {self.unit}"

    def reward(self, loss: float, scale: float | None = None) -> float:
        """What a controller maximises.

        `scale` divided by e to the loss, as ENAS has it, or `scale` times 1 − loss; an infinite
        loss earns 0. Of a plain loss it is `scale` times its negative, which has no lower end.

        Args:
            loss: of a cell.
            scale: 80 for exponential metrics and 1 for others, unless said.
        """
        if self.form == "exponential":
            return (_ENAS_SCALE if scale is None else scale) / self.value(loss)
        factor = 1.0 if scale is None else scale
        if self.form == "plain":
            return -factor * loss
        return 0.0 if loss == math.inf else factor * (1 - loss)


LOSS = Metric.model_validate({"name": "loss"})
"""For what was measured by nobody knows what."""
