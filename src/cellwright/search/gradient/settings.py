"""Every number of a differentiable search, with the papers' values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from cellwright.base.bounds import Count, CountFromZero, NotNegative, Positive
from cellwright.base.validation import as_tuple
from cellwright.cell.listings import DartsListing
from cellwright.cell.listings.darts import OPERATIONS
from cellwright.cell.listings.supernets import (
    Supernet,
    darts_supernet,
    ess_supernet,
    norm_word,
)
from cellwright.models.settings import Rate
from cellwright.training.settings import TrainingSettings


def as_norm(value: Any) -> Any:
    """What earlier versions said as true and false; recipes have `None` for "none"."""
    if value is None:
        return "none"
    return norm_word(value) if isinstance(value, bool) else value


Norm = Annotated[Literal["batch", "row", "none"], BeforeValidator(as_norm)]

KINDS: Mapping[str, Mapping[str, Any]] = {
    # DARTS: 50 epochs; I-DARTS: 40 (section 3.1). One epoch is one round of the one group.
    "darts": {"edges": "highway", "norm": "batch", "epochs": 50},
    "i-darts": {"edges": "highway", "norm": "batch", "softmax": "node", "epochs": 40},
    # ESS: 50 rounds (section 5.1) of intra-cell and inter-cell learning (Figure 4).
    "ess": {
        "scope": "joint",
        "edges": "highway",
        "norm": "batch",
        "drop_unlinks": True,
        "rounds": 50,
        "epochs": 1000,
    },
}
"""What the methods have different defaults for."""


class DifferentiableSettings(TrainingSettings):
    """A search by gradient. How the weights learn is said as in a training.

    Defaults that the papers have different values for follow the `kind`.

    >>> DifferentiableSettings(kind="i-darts").softmax
    'node'
    """

    kind: Literal["darts", "i-darts", "ess"] = Field("darts", description="which method")
    scope: Literal["intra", "inter", "joint"] = Field(
        "intra",
        description="what is searched: inside the cell, between cells, or both in rounds (ess)",
    )

    # -- the space
    nodes: Count = Field(8, description="nodes inside the cell")
    m: Count = Field(3, description="steps that the gates between cells look back (ess)")
    operations: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = Field(
        OPERATIONS, min_length=1, description="what an edge may do"
    )
    edges: Literal["highway", "plain"] = Field(
        "highway", description="edges as DARTS' code has them, or as the papers write them"
    )
    norm: Norm = Field(
        "batch",
        description="how the value of each node is normalised while searching: each feature over "
        "the batch (DARTS' code), each row by itself, or not",
    )
    alpha: bool = Field(False, description="both sides of the gates are searched (ess)")
    intra: str = Field(
        "relu0 relu1 tanh2 relu3 relu4 identity1 relu5 relu1",
        description="the cell's nodes where scope is inter: operation and predecessor of each; "
        "DARTS' published cell unless said, of which as many as `nodes` are taken",
    )

    # -- from variables to a cell
    softmax: Literal["pair", "node"] = Field(
        "pair", description="over the operations between two nodes, or all edges into a node"
    )
    top_edges: Count | None = Field(
        1, description="edges that each node of the cell keeps (n in i-darts); none: all"
    )
    drop_unlinks: bool = Field(False, description="the operation none may win, and unlinks nodes")

    # -- rounds
    epochs: Count = Field(50, description="most epochs in all")
    rounds: Count | None = Field(
        None, description="most rounds, in each of which every group learns; none: any"
    )
    phase_epochs: Count = Field(1, description="most epochs that a group learns in a round")
    warmup_epochs: CountFromZero = Field(
        0, description="first epochs, in which only the weights learn; no part of a round"
    )
    fixed: Literal["theta", "choice"] = Field(
        "theta",
        description="while one group learns, the other keeps its edge weights (ESS Figure 4), or "
        "is the cell that they choose, which is cheaper",
    )
    patience: Count | None = Field(
        None, description="rounds with the same cell after which the search ends; none: any"
    )
    settled: Positive | None = Field(
        None,
        description="a group has converged once its mean absolute deviation moves less than this "
        "in an epoch; the search has, once all do in a round; none: never",
    )

    # -- what a step runs
    sampling: Literal["full", "gdas", "uniform"] = Field(
        "full",
        description="a step runs the whole supernet, or one cell of it, sampled for the step: by "
        "the edge weights (gdas), or for the weights' steps with all edges alike (uniform)",
    )
    temperature: Positive = Field(
        1.0, description="of the softmax through which sampled edges learn (gdas, uniform)"
    )

    # -- how the architecture learns
    architecture_text: Literal["valid", "halves"] = Field(
        "valid",
        description="what the architecture learns from: the validation data, while the weights "
        "have all of the training data, or the second half of the training data",
    )
    second_order: bool = Field(False, description="look one weight step ahead (DARTS' unrolled)")
    architecture_rate_intra: Positive = Field(3e-3, description="Adam's rate inside the cell")
    architecture_rate_inter: Positive = Field(1e-3, description="Adam's rate between cells")
    architecture_decay: NotNegative = Field(1e-3, description="L2 penalty on the variables")
    architecture_beta1: Rate = Field(0.9, description="Adam's decay of the mean gradient")
    architecture_beta2: Rate = Field(0.999, description="Adam's decay of the mean square")
    architecture_start: NotNegative = Field(
        1e-3, description="standard deviation of the variables at the start"
    )

    # -- how the weights learn, where that differs from a training
    weight_decay: NotNegative = Field(5e-7, description="L2 penalty on all weights")
    batch: Count = Field(256, description="texts, or sentences, that are read side by side")
    average_after: None = Field(None, description="a search does not average weights")

    @model_validator(mode="before")
    @classmethod
    def _of_its_kind(cls, values: Any) -> Any:
        if isinstance(values, dict) and isinstance(kind := values.get("kind", "darts"), str):
            return {**KINDS.get(kind, {}), **values}
        return values

    @field_validator("intra")
    @classmethod
    def _is_a_listing(cls, text: str) -> str:
        _edges(text)
        return text

    @model_validator(mode="after")
    def _fits_together(self) -> DifferentiableSettings:
        if self.kind != "ess" and self.scope != "intra":
            raise ValueError(f"{self.kind} searches inside the cell alone: scope should be 'intra'")
        if self.second_order and self.optimizer != "sgd":
            raise ValueError("second_order looks ahead by a step of SGD: optimizer should be 'sgd'")
        if self.warmup_epochs >= self.epochs:
            raise ValueError(
                f"after {self.warmup_epochs} warmup_epochs no epoch of {self.epochs} is left to "
                "search in"
            )
        if self.sampling != "full" and set(self.operations) == {"none"}:
            raise ValueError("sampling needs an operation other than none")
        self.whole_supernet()
        if self.scope == "inter":
            self.intra_listing()
        return self

    def whole_supernet(self) -> Supernet:
        """The supernet with all groups that the kind has."""
        if self.kind == "ess":
            return ess_supernet(
                self.nodes,
                self.m,
                self.operations,
                edges=self.edges,
                norm=self.norm,
                alpha=self.alpha,
            )
        return darts_supernet(self.nodes, self.operations, edges=self.edges, norm=self.norm)

    def intra_listing(self) -> DartsListing:
        """What `intra` says, as far as the supernet has nodes."""
        edges = _edges(self.intra)
        if len(edges) < self.nodes:
            raise ValueError(f"intra has {len(edges)} nodes, and nodes is {self.nodes}")
        return DartsListing.of(edges[: self.nodes], edges=self.edges)

    def architecture_rate(self, group: str) -> float:
        """The learning rate of a group's variables."""
        return self.architecture_rate_intra if group == "intra" else self.architecture_rate_inter


def _edges(text: str) -> list[tuple[str, int]]:
    """`"relu0 tanh1"` as [("relu", 0), ("tanh", 1)]."""
    edges = []
    for word in text.split():
        op = word.rstrip("0123456789")
        if op not in OPERATIONS or op == word:
            raise ValueError(f"a node looks like relu0, not {word!r}")
        edges.append((op, int(word[len(op) :])))
    return edges
