"""The settings of the models of sentences, with the papers' values as defaults."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from typing_extensions import Self

from cellwright.base.bounds import Count, CountFromZero, up_to
from cellwright.base.validation import as_tuple
from cellwright.models.sentences.layer_cells import THE_CELL, LayerCell
from cellwright.models.settings import BY_WIDTH, Precision, Rate, Start


class _Common(BaseModel):
    """What the models have in common; each says anew what is first in its table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    loss: Literal["cross-entropy", "squared", "absolute"] = Field(
        "squared", description="of a score: squared or absolute; of labels always cross-entropy"
    )


class _Recurrent(_Common):
    """Models with recurrent layers."""

    hidden: Count
    layer_cells: Annotated[tuple[LayerCell, ...], BeforeValidator(as_tuple)] = Field(
        (),
        description="a cell for each recurrent layer: '*' for the one that is trained or searched, "
        "or another one by its name, file or text; '*' for all unless said",
    )
    init_range: Start = Field(BY_WIDTH, description="the cell's weights start uniform in ± this")
    precision: Precision = "float32"

    @property
    def depth(self) -> int:
        """How many recurrent layers there are."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _fits(self) -> Self:
        said = self.layer_cells
        if said and len(said) != self.depth:
            raise ValueError(
                f"layer_cells should have a cell for each recurrent layer, {self.depth} in all, "
                f"not {len(said)}"
            )
        if said and THE_CELL not in said:
            raise ValueError(
                "layer_cells should have a '*', the cell that is trained or searched, "
                "in at least one layer"
            )
        return self


class _Stack(_Recurrent):
    """Recurrent layers on top of each other."""

    layers: Annotated[Count, up_to(1000)] = Field(1, description="number of recurrent layers")

    @property
    def depth(self) -> int:
        """How many recurrent layers there are."""
        return self.layers


class BiRnnSettings(_Stack):
    """FENAS' model for GLUE (Pasunuru and Bansal 2020, section 4.3), after GLUE's own baseline.

    FENAS has an MLP of 256 units, and one layer around ENAS' cells; GLUE's baseline has 512, the
    tanh, where dropouts are, and no dropout in the MLP.

    >>> BiRnnSettings(layers=2, layer_cells=["*", "*"]).hidden
    1500
    """

    kind: Literal["bi-rnn"] = Field(
        "bi-rnn", description="a cell in both directions, max pooling and an MLP"
    )
    hidden: Count = Field(1500, description="width of the hidden state, in each direction")
    layers: Annotated[Count, up_to(1000)] = Field(2, description="number of recurrent layers")
    feed_forward: Count = Field(256, description="width of the MLP's hidden layer")
    dropout_input: Rate = Field(0.2, description="on the words' vectors")
    dropout_layers: Rate = Field(0.0, description="between recurrent layers")
    dropout_output: Rate = Field(0.2, description="on the last layer's output at each word")
    dropout_classifier: Rate = Field(0.0, description="before each layer of the MLP")


class BlmSettings(_Stack):
    """BiLSTM-Max of ENAS-pairs (2020, section 3.2, Table 5: GloVe, LSTM, SICK).

    The paper does not say how wide the feed-forward layer is; that of the code which it adapts
    (Pasunuru and Bansal 2019) has 256.
    """

    kind: Literal["blm"] = Field(
        "blm", description="BiLSTM-Max: a cell in both directions, max pooling, feed-forward"
    )
    hidden: Count = Field(300, description="width of the hidden state, in each direction")
    feed_forward: Count = Field(256, description="width of the feed-forward layer")
    dropout_input: Rate = Field(
        0.2774, description="before each recurrent layer, one mask for a sentence"
    )
    dropout_output: Rate = Field(0.3555, description="on the last layer's output at each word")
    dropout_projection: Rate = Field(0.2937, description="before the last projection")
    signed_difference: bool = Field(
        False, description="of a pair s1 − s2 instead of |s1 − s2|, as public code has it"
    )
    padding_is_zero: bool = Field(
        False,
        description="a 0 counts in every maximum over words, as if each sentence were padded with "
        "zeros; so it is in public code",
    )


class EsimSettings(_Recurrent):
    """ESIM (Chen et al. 2017) as ENAS-pairs has it (2020, section 3.2, Table 5: GloVe, L/L, SICK).

    The paper uses AllenNLP's model, of which the widths of projection and feed-forward layer are.
    There the pooled vectors have a dropout of 0.5, of which the paper does not speak.
    """

    kind: Literal["esim"] = Field(
        "esim", description="ESIM: two recurrent layers with attention across a pair between them"
    )
    hidden: Count = Field(
        200, description="width of the first layer's hidden state, in each direction"
    )
    hidden_composition: Count = Field(
        300, description="width of the second layer's hidden state, in each direction"
    )
    projection: Count = Field(300, description="width of what the second layer reads")
    feed_forward: Count = Field(300, description="width of the feed-forward layer")
    dropout_input: Rate = Field(
        0.4491, description="before the first layer, one mask for a sentence"
    )
    dropout_composition: Rate = Field(
        0.3239, description="before the second layer, one mask for a sentence"
    )
    dropout_enhancement: Rate = Field(
        0.4369, description="on each word beside what it attends to, before the projection"
    )
    dropout_pooled: Rate = Field(0.0, description="on the pooled vectors")
    dropout_projection: Rate = Field(0.5705, description="before the last projection")

    @property
    def depth(self) -> int:
        """The encoder, and what composes."""
        return 2


class FrozenSettings(_Common):
    """A head on words' vectors that do not change, as jiant 1.3 has it on a frozen encoder.

    NAS-Bench-NLP (2020, section 4.2) uses jiant, and does not say what of it was changed.
    """

    kind: Literal["frozen"] = Field(
        "frozen", description="a head on vectors that are as they are, without a recurrent layer"
    )
    projection: Count = Field(512, description="width of what each word's vector is projected to")
    attention: CountFromZero = Field(
        0,
        description="of pairs, in place of the projection: width in each direction of an LSTM over "
        "each word beside what it attends to in the other sentence; 0: none",
    )
    pooling: Literal["max", "mean"] = Field(
        "max", description="from words to a sentence: the largest of each feature, or the mean"
    )
    feed_forward: Count = Field(512, description="width of the MLP's hidden layer")
    dropout_input: Rate = Field(0.2, description="on the words' vectors")
    dropout_projection: Rate = Field(0.2, description="before the last projection")

    layer_cells: ClassVar[tuple[str, ...]] = ()
    init_range: ClassVar[Start] = BY_WIDTH
    precision: ClassVar[Precision] = "float32"


SentenceSettings = Annotated[
    BiRnnSettings | BlmSettings | EsimSettings | FrozenSettings, Field(discriminator="kind")
]
"""The settings of any model of sentences; `kind` says which."""
