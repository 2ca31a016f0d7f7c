"""Every number of a search with shared weights, with the papers' values.

Numbers are those of Pham et al. 2018; where the paper does not say, such as the decay of the
baseline, those of its code for Penn Treebank.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from cellwright.base.bounds import Count, CountFromZero, NotNegative, Positive
from cellwright.base.validation import as_tuple
from cellwright.cell.listings.enas import OPERATIONS
from cellwright.models.settings import Rate
from cellwright.search.gradient.settings import as_norm
from cellwright.spaces.darts import Darts
from cellwright.spaces.enas import Enas
from cellwright.training.settings import TrainingSettings

KINDS: Mapping[str, Mapping[str, Any]] = {
    # ENAS: 2000 steps of the controller an epoch; 10 cells at the end (ENAS-pairs section 3.4).
    "enas": {"controller_steps": 2000, "candidates": 10, "finalists": 10},
    # Li and Talwalkar's code: 1000 random cells are screened, the best 10 measured.
    "random-sharing": {"controller_steps": 0, "candidates": 1000, "finalists": 10},
}
"""What the methods have different defaults for."""


class SharingSettings(TrainingSettings):
    """A search with shared weights. How these learn is said as in a training.

    >>> SharingSettings(kind="random-sharing").candidates
    1000
    """

    kind: Literal["enas", "random-sharing"] = Field("enas", description="which method")

    # -- the space
    cells: Literal["enas", "darts"] = Field(
        "enas",
        description="whose cells: ENAS' have matrices for each node and predecessor, DARTS' for "
        "each node (random-sharing alone)",
    )
    nodes: Count = Field(
        12,
        description="nodes of the cell: ENAS' with node 0 over x and h, 6 for sentence pairs; "
        "DARTS' without it",
    )
    operations: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = Field(
        OPERATIONS, min_length=1, description="what a node may do"
    )
    norm: Annotated[Literal["products", "batch", "row", "none"], BeforeValidator(as_norm)] = Field(
        "row",
        description="how cells are normalised while searching: each product and the new state over "
        "the batch, by the root of 1 and the variance (ENAS' code); the new state alone, each "
        "feature over the batch or each row by itself; or not",
    )

    # -- the controller (enas)
    controller_steps: CountFromZero = Field(
        2000, description="steps of the controller after each epoch of the weights"
    )
    controller_samples: Count = Field(
        1, description="cells that a step of the controller samples, all read one minibatch"
    )
    controller_rate: Positive = Field(3.5e-4, description="Adam's rate for the controller")
    controller_beta1: Rate = Field(
        0.9, description="Adam's first beta for the controller; 0 in ENAS' code"
    )
    controller_epsilon: Positive = Field(
        1e-8, description="Adam's epsilon for the controller; 1e-3 in ENAS' code"
    )
    controller_units: Count = Field(100, description="width of the controller's LSTM")
    controller_range: Positive = Field(
        0.1, description="the controller's weights start uniform in ± this"
    )
    temperature: Positive = Field(5.0, description="what the controller's logits are divided by")
    tanh_constant: Positive = Field(2.5, description="the largest logit, by way of a tanh")
    entropy_weight: NotNegative = Field(
        1e-4, description="how much the entropy of the choices adds to a reward"
    )
    reward_scale: Positive | None = Field(
        None,
        description="what a reward is in units of: ENAS' c, 80, which is divided by e to the loss "
        "of a validation minibatch; of metrics that are shares, 1. none: as the metric has it",
    )
    baseline_decay: Rate = Field(0.99, description="of the moving average of rewards")

    # -- how the weights learn, where that differs from a training
    weight_decay: NotNegative = Field(1e-7, description="L2 penalty on the weights of the child")
    epochs: Count = Field(150, description="how often the training data is read")
    decay: float = Field(0.96, gt=0, le=1, description="of the learning rate, at each later epoch")
    decay_after: CountFromZero = Field(15, description="epochs before that decay starts")
    average_after: None = Field(None, description="a search does not average weights")
    diverged_in_a_row: Count = Field(
        20, description="minibatches whose sampled cells diverge until the search gives up"
    )

    # -- what is chosen in the end
    candidates: Count = Field(10, description="different cells that are sampled in the end")
    finalists: Count = Field(
        10, description="candidates that are measured on all of the validation data; the best wins"
    )
    screening: Count = Field(
        2, description="validation minibatches that choose the finalists, if not all are"
    )

    @model_validator(mode="before")
    @classmethod
    def _of_its_kind(cls, values: Any) -> Any:
        if isinstance(values, dict) and isinstance(kind := values.get("kind", "enas"), str):
            return {**KINDS.get(kind, {}), **values}
        return values

    @model_validator(mode="after")
    def _fits_together(self) -> SharingSettings:
        if self.kind == "random-sharing" and self.controller_steps:
            raise ValueError("random-sharing has no controller: controller_steps should be 0")
        if self.cells == "darts" and "none" in self.operations:
            raise ValueError("operations has 'none', which no derived cell has")
        if self.kind == "enas" and self.cells != "enas":
            raise ValueError("the controller samples ENAS' cells: cells should be 'enas'")
        self.space()
        return self

    def space(self) -> Enas | Darts:
        """The cells that are searched."""
        if self.cells == "darts":
            return Darts(self.nodes, self.operations)
        return Enas(self.nodes, self.operations, keys=True)
