"""What of a task on sentences a recipe says: the data, how it is read, and what words become."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field
from typing_extensions import Self

from cellwright.base.validation import as_tuple
from cellwright.data.labelled.options import Options
from cellwright.embeddings.settings import EmbeddingSettings, VectorsSettings
from cellwright.tasks.sentences.metrics import MetricKind
from cellwright.tasks.settings import TaskSettings


class SentencesSettings(TaskSettings):
    """Sentences, or pairs of them, with a label or a score."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["sentences"] = "sentences"
    data: str = Field("sick-r", min_length=1, description="data by name, or a folder with it")
    parts: Literal["auto", "official", "dev-as-test", "dev-alone"] = Field(
        "auto",
        description="which files are what: train, dev and test as published; where test has no "
        "labels, dev as test and a part of train as valid; where there is no train, parts of dev",
    )
    valid: Literal["file", "cut"] = Field(
        "file", description="choose by the file for it, or by a tenth that is cut from train"
    )
    mismatched: bool = Field(False, description="test MNLI's models on its mismatched part")
    first: str | int = Field("", description="the (first) sentence's column, by name or number")
    second: str | int = Field("", description="the second sentence's column; none: there is none")
    label: str | int = Field("", description="the column of labels or scores")
    separator: Literal["auto", "tabs", "commas", "semicolons", "json"] = Field(
        "auto", description="between columns of own files; auto goes by the file's ending"
    )
    score: bool | None = Field(None, description="numbers are scores; found out unless said")
    tokenizer: Literal["words", "spaces", "spacy", "pieces"] = Field(
        "words", description="how texts become words"
    )
    encoder: str = Field("", description="whose pieces; a folder, or a name of the hub")
    lower: bool = Field(False, description="words in lower case")
    longest: int = Field(0, ge=0, description="words of a sentence, without those behind; 0: all")
    most_words: int = Field(
        0, ge=0, description="words of the vocabulary; rarer ones are one word; 0: all"
    )
    metric: Literal["auto", MetricKind] = Field(
        "auto", description="what models are compared by; auto: what papers report"
    )
    buckets: int = Field(
        20, ge=1, description="batches whose examples are sorted by length together"
    )
    embeddings: Annotated[tuple[EmbeddingSettings, ...], BeforeValidator(as_tuple)] = Field(
        (VectorsSettings.model_validate({"name": "glove-100d"}),),
        min_length=1,
        description="what words become, side by side",
    )

    @property
    def options(self) -> Options:
        """How the files are read."""
        named = {field.name for field in fields(Options)}
        return Options(**self.model_dump(include=named))

    def from_anywhere(self) -> Self:
        """The same with paths of embeddings that hold in any working directory."""
        placed = tuple(each.from_anywhere() for each in self.embeddings)
        return self.model_copy(update={"embeddings": placed})
