"""What words become, as a recipe says it: a list, each a word or a table with its settings."""

from __future__ import annotations

import os
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from typing_extensions import Self

from cellwright.base.bounds import Count, CountFromZero
from cellwright.base.errors import shown
from cellwright.base.paths import from_anywhere
from cellwright.base.validation import as_tuple


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    files: ClassVar[str | None] = None
    """The setting that names a file or several, if there is one."""

    def from_anywhere(self) -> Self:
        """The same with paths that hold in any working directory."""
        if self.files is None:
            return self
        said = getattr(self, self.files)
        found = _from_anywhere(said) if isinstance(said, str) else tuple(map(_from_anywhere, said))
        return self.model_copy(update={self.files: found})


def _from_anywhere(text: str) -> str:
    """A path of something that is there; names, which have neither folder nor ending, as they
    are."""
    path = from_anywhere(text)
    return str(path) if (os.sep in text or "." in text) and os.path.exists(path) else text


class VectorsSettings(_Part):
    """Pretrained vectors of words."""

    files = "name"
    kind: Literal["vectors"] = "vectors"
    name: str = Field(min_length=1, description="such as glove-100d, or a file")
    learn: bool = Field(
        False, description="go on learning those of words that the training part has"
    )


class TableSettings(_Part):
    """A vector for each word of the training part, learned with the model."""

    kind: Literal["table"] = "table"
    width: Count = Field(50, description="numbers of a word")
    least: Count = Field(2, description="words that training has less often share one vector")


class _Kept(_Part):
    """Features of words in their sentences, which are computed once and kept."""

    half: bool = Field(False, description="keep them in half precision, in half the room")


class FlairSettings(_Kept):
    """States of character language models of Flair's, which do not change."""

    files = "models"
    kind: Literal["flair"] = "flair"
    models: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = Field(
        ("news-forward-fast", "news-backward-fast"),
        min_length=1,
        description="by Flair's names, or files",
    )
    pooling: Literal["none", "min", "max", "mean"] = Field(
        "none", description="put what a word was in the sentences so far in front"
    )


def _layers(value: Any) -> Any:
    if value in ("all", "last"):
        return value
    numbers = tuple(value) if isinstance(value, list | tuple) else ()
    if not numbers or any(isinstance(one, bool) or not isinstance(one, int) for one in numbers):
        raise ValueError(f"should be 'all', 'last' or a list such as [0, -1], not {shown(value)}")
    return numbers


class TransformerSettings(_Kept):
    """Hidden layers of an encoder that the package transformers reads, which do not change."""

    files = "model"
    kind: Literal["transformer"] = "transformer"
    model: str = Field(min_length=1, description="a folder, or a name of the hub that is here")
    layers: Annotated[str | tuple[int, ...], BeforeValidator(_layers)] = Field(
        "all", description="all, last, or numbers: 0 is what enters the first, -1 the last"
    )
    mix: bool = Field(True, description="learn one sum of the layers; otherwise side by side")
    pieces: Literal["first", "mean"] = Field(
        "first", description="the piece of a word that stands for it, or their mean"
    )
    pairs: Literal["together", "alone"] = Field(
        "together", description="whether two sentences are read at once, where examples have two"
    )
    longest: Annotated[int, Field(ge=0)] = Field(
        0, description="pieces of a pair that is read at once; 0 is what the encoder can"
    )

    @model_validator(mode="after")
    def _longest_is_of_pairs(self) -> Self:
        if self.longest and self.pairs == "alone":
            raise ValueError("longest is of pairs that are read together, and pairs is 'alone'")
        return self


class RunSettings(_Kept):
    """States of a language model that cellwright has trained, which do not change."""

    files = "run"
    kind: Literal["run"] = "run"
    run: str = Field(min_length=1, description="the folder of a run")
    with_input: bool = Field(
        False, description="put the model's own vector of the word behind its state"
    )


class SgnsSettings(_Part):
    """Vectors by SGNS, word2vec's skip-gram, trained on the text of a run; they do not change."""

    files = "run"
    kind: Literal["sgns"] = "sgns"
    run: str = Field(min_length=1, description="the folder of a language model's run")
    width: CountFromZero = Field(0, description="numbers of a word; 0: as many as the model has")
    epochs: Count = Field(5, description="how often the text is read")
    seed: CountFromZero = Field(0, description="decides the first vectors and every draw")


class CharactersSettings(_Part):
    """A vector for each word by its characters, learned with the model.

    The defaults are Ma and Hovy's CNN; Lample's cell has characters of 25 and 25 a direction.
    """

    kind: Literal["characters"] = "characters"
    by: str = Field("cnn", min_length=1, description="cnn, or a cell of the zoo, such as lstm")
    size: Count = Field(30, description="numbers of a character")
    width: Count = Field(30, description="filters, or the state of the cell in each direction")
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.5, description="on the characters' vectors"
    )


_NEWS = ("news-forward", "news-backward")

_SHORT: dict[str, dict[str, Any]] = {
    "table": {"kind": "table"},
    "characters": {"kind": "characters"},
    "flair-news-fast": {"kind": "flair"},
    "flair-news": {"kind": "flair", "models": _NEWS},
    "pooled-flair-news-fast": {"kind": "flair", "pooling": "min"},
    "pooled-flair-news": {"kind": "flair", "models": _NEWS, "pooling": "min"},
}
"""What single words stand for; all others are names of vectors."""


def _whole(value: Any) -> Any:
    return (
        _SHORT.get(value, {"kind": "vectors", "name": value}) if isinstance(value, str) else value
    )


EmbeddingSettings = Annotated[
    Annotated[
        VectorsSettings
        | TableSettings
        | CharactersSettings
        | FlairSettings
        | TransformerSettings
        | RunSettings
        | SgnsSettings,
        Field(discriminator="kind"),
    ],
    BeforeValidator(_whole),
]
"""One of the parts that stand side by side."""
