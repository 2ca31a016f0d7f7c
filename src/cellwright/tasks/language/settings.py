"""What of a language task a recipe says: the text, and how it is cut into segments."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from cellwright.base.bounds import Count, NotNegative
from cellwright.base.validation import as_tuple
from cellwright.tasks.settings import TaskSettings


class LanguageSettings(TaskSettings):
    """Running text. The defaults are those with which DARTS, I-DARTS and ESS train a found cell."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["language"] = "language"
    data: str = Field(
        "builtin", min_length=1, description="a corpus by name, or a folder with its text"
    )
    bptt: Count = Field(35, description="words in a segment, through which gradients flow")
    bptt_spread: NotNegative = Field(5.0, description="standard deviation of that number")
    bptt_shortest: Count = Field(5, description="no segment is shorter, but for the last")
    bptt_halve: float = Field(0.05, ge=0, le=1, description="chance that a segment is half as long")
    similarity: Annotated[tuple[str, ...], BeforeValidator(as_tuple)] = Field(
        (), description="sets of word pairs that embeddings are compared with after each epoch"
    )
