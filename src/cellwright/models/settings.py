"""The settings of the models, with the papers' values as defaults."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationInfo
from pydantic_core import PydanticCustomError

from cellwright.base.bounds import KEPT, MOST, Count, NotNegative, up_to

Rate = Annotated[float, Field(ge=0, lt=1)]
"""The probability that something is dropped."""

Strength = NotNegative
"""The weight of a penalty in the loss."""

Precision = Annotated[
    Literal["float32", "bfloat16"],
    Field(
        description="of what the products of cells, and of a language model's loss, multiply; "
        "bfloat16 is faster and coarser"
    ),
]


BY_WIDTH: Literal["width"] = "width"


def _start(value: Any, info: ValidationInfo) -> float | str:
    """One message for both: of a union pydantic would say what is wrong with each member."""
    if value == BY_WIDTH:
        return BY_WIDTH
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and value > 0 and (info.context == KEPT or value <= MOST):
        return float(value)
    raise PydanticCustomError("start", "Input should be above 0 and at most 1,000,000, or 'width'")


Start = Annotated[float | Literal["width"], PlainValidator(_start)]
"""How far from 0 weights start at most; "width" for 1/sqrt(hidden), which fits any width."""


class OneLayerSettings(BaseModel):
    """One recurrent layer, as DARTS trains a cell that it found; so do I-DARTS and ESS.

    The defaults are those of evaluation on PTB (I-DARTS, section 3.2). Search has a hidden size of
    300 and drops no words; ESS has a hidden size of 2500 on WikiText-103.

    >>> OneLayerSettings(hidden=300, dropout_words=0.0).tar
    0.001
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["one-layer"] = Field("one-layer", description="one recurrent layer")
    hidden: Count = Field(850, description="width of the hidden state and of the embeddings")
    dropout_output: Rate = Field(
        0.75, description="on the layer's output, one mask for all time steps"
    )
    dropout_x: Rate = Field(
        0.75, description="on x where the cell's products read it, one mask for all time steps"
    )
    dropout_hidden: Rate = Field(
        0.25,
        description="on states and values in the cell where its products read them, one mask for "
        "all time steps",
    )
    dropout_embedding: Rate = Field(
        0.2, description="on the embedding vectors, one mask for all time steps"
    )
    dropout_words: Rate = Field(
        0.1, description="share of the vocabulary's words whose embedding is removed"
    )
    ar: Strength = Field(
        0.0, description="activation regularisation: penalty on the squared dropped output"
    )
    tar: Strength = Field(
        1e-3,
        description="temporal activation regularisation: penalty on the squared change of the "
        "output from step to step",
    )
    init_range: Start = Field(0.04, description="the cell's weights start uniform in ± this")
    init_range_embedding: Start = Field(
        0.1, description="the embeddings, which the decoder shares, start uniform in ± this"
    )
    bias_start: Literal["zero", "frequency"] = Field(
        "zero",
        description="the decoder's bias starts at 0, or at how frequent each word is, so that the "
        "first loss is that of knowing just this",
    )
    precision: Precision = "float32"

    def start(self, of: float | Literal["width"]) -> float:
        """One of the two ranges as a number."""
        return 1 / math.sqrt(self.hidden) if of == BY_WIDTH else of


class AwdSettings(BaseModel):
    """NAS-Bench-NLP's macro-architecture, that of AWD-LSTM (its Figure 1 and section 3).

    The last layer is as wide as the embeddings, whose weights the decoder shares.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["awd"] = Field("awd", description="a stack of recurrent layers")
    embedding: Count = Field(400, description="width of the embeddings and of the last layer")
    hidden: Count = Field(600, description="width of the other layers")
    layers: Annotated[Count, up_to(1000)] = Field(3, description="number of recurrent layers")
    dropout_output: Rate = Field(
        0.1, description="on the last layer's output, one mask for all time steps"
    )
    dropout_between: Rate = Field(0.25, description="between layers, one mask for all time steps")
    dropout_input: Rate = Field(
        0.4, description="on the embedding vectors, one mask for all time steps"
    )
    dropout_words: Rate = Field(
        0.0, description="share of the vocabulary's words whose embedding is removed"
    )
    weight_dropout: Rate = Field(0.1, description="on recurrent weights, one mask for all steps")
    recurrent: Literal["trained", "frozen"] = Field(
        "trained",
        description="the matrices that multiply anything but x: learned, or as they were drawn, as "
        "in NAS-Bench-NLP's released code",
    )
    ar: Strength = Field(
        2.0, description="activation regularisation: penalty on the squared dropped output"
    )
    tar: Strength = Field(
        1.0,
        description="temporal activation regularisation: penalty on the squared change of the "
        "output from step to step",
    )
    precision: Precision = "float32"


ModelSettings = Annotated[OneLayerSettings | AwdSettings, Field(discriminator="kind")]
"""The settings of any language model; `kind` says which."""


class TaggerSettings(BaseModel):
    """The defaults are those of Flair's tagger (Akbik et al. 2018)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["tagger"] = Field("tagger", description="a tag for each word")
    hidden: Count = Field(256, description="width of the hidden state, in each direction")
    layers: Count = Field(1, description="number of recurrent layers")
    relearn: bool = Field(
        True, description="a linear layer between the words' vectors and the cell"
    )
    crf: bool = Field(True, description="a CRF over the tags of a sentence; else each by itself")
    constrained: bool = Field(False, description="the CRF knows which tags may follow each other")
    dropout_words: Rate = Field(0.05, description="chance that a word's vector is 0; not scaled up")
    words_dropped: Literal["word", "step"] = Field(
        "word", description="each for itself, or the same places in all sentences of a batch"
    )
    dropout_input: Rate = Field(0.5, description="on the vectors, one mask for a sentence")
    dropout_output: Rate = Field(0.5, description="on the cell's output, one mask for a sentence")
    dropout_layers: Rate = Field(0.5, description="between recurrent layers")
    dropout_x: Rate = Field(0.0, description="on x where the cell's products read it")
    dropout_hidden: Rate = Field(0.0, description="on states where the cell's products read them")
    loss: Literal["word", "sentence", "sum"] = Field(
        "word", description="what is minimised: the mean over words, or sentences, or their sum"
    )
    precision: Precision = "float32"
