"""Bounds of settings: a number is finite, and no larger than makes sense.

Settings of work that was begun are read as they are (`KEPT`): what was let through then must still
open.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

KEPT = "kept"
"""The context in which settings are validated that come from work which was begun with them."""

Number = TypeVar("Number", int, float)

MOST = 1_000_000
"""The most epochs, units, texts side by side, … that anybody could mean."""


def up_to(most: float) -> AfterValidator:
    """What a number of new settings may be at most; neither an infinite one nor NaN is that."""

    def check(value: Number, info: ValidationInfo) -> Number:
        if info.context != KEPT and not value <= most:
            words = f"Input should be at most {most:,.15g}"
            raise PydanticCustomError("up_to", words)
        return value

    return AfterValidator(check)


Count = Annotated[int, Field(ge=1), up_to(MOST)]
CountFromZero = Annotated[int, Field(ge=0), up_to(MOST)]
Positive = Annotated[float, Field(gt=0), up_to(MOST)]
NotNegative = Annotated[float, Field(ge=0), up_to(MOST)]
