"""What of a tagging task a recipe says: the data, how it is read, and what words become."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field
from typing_extensions import Self

from cellwright.base.validation import as_tuple
from cellwright.embeddings.settings import EmbeddingSettings, VectorsSettings
from cellwright.tasks.settings import TaskSettings


class TaggingSettings(TaskSettings):
    """Sentences whose words have tags, in column files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["tagging"] = "tagging"
    data: str = Field("conll2003", min_length=1, description="data by name, or a folder with it")
    columns: str | None = Field(None, description="names of all columns: word pos chunk ner")
    word: str | int | None = Field(None, description="the words' column, by name or number")
    tag: str | int | None = Field(None, description="the tags' column, by name or number")
    separator: Literal["spaces", "tabs"] = Field("spaces", description="between columns")
    comment: str = Field("", description="lines before a sentence that begin so are left out")
    scheme: str = Field("IOBES", description="what tags are to be: IOB1, IOB2, IOBES or plain")
    source: str = Field("auto", description="what the files have; auto finds it out")
    documents: Literal["drop", "keep"] = Field("drop", description="lines -DOCSTART-")
    strict: bool = Field(False, description="refuse tags that contradict each other")
    validate_on: Literal["valid", "test"] = Field(
        "valid",
        description="what rates and the choice of an epoch go by; 'test' is a habit of I-DARTS' "
        "paper that flatters what is then measured on test",
    )
    embeddings: Annotated[tuple[EmbeddingSettings, ...], BeforeValidator(as_tuple)] = Field(
        (VectorsSettings.model_validate({"name": "glove-100d"}),),
        min_length=1,
        description="what words become, side by side",
    )

    def from_anywhere(self) -> Self:
        """The same with paths of embeddings that hold in any working directory."""
        placed = tuple(each.from_anywhere() for each in self.embeddings)
        return self.model_copy(update={"embeddings": placed})
