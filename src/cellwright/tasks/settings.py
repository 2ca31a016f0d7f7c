"""What every recipe says of its task. Needs no torch, so that recipes are read without it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import Self


class TaskSettings(BaseModel):
    """The table `[task]` of a recipe: what is learned. Each kind has more settings of its own."""

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: str = Field(min_length=1, description="which task; one of a plug-in is module:function")
    data: str = Field("builtin", min_length=1, description="data by name, or a folder that has it")
    folder: str | None = Field(
        None, min_length=1, description="where data of that name is, if not in the usual places"
    )

    def from_anywhere(self) -> Self:
        """The same with paths, other than that of the data, that hold in any working directory."""
        return self
