"""What is wrong with values that were read, in a few words; and kinds of numbers."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, ValidationError

from cellwright.base.errors import shown

Count = Annotated[int, Field(ge=0, lt=2**63)]
"""How many, or how many bytes."""

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""How long."""


def first_problem(error: ValidationError) -> str:
    """Where the first wrong value is, and what would be right.

    >>> from pydantic import TypeAdapter
    >>> try:
    ...     TypeAdapter(dict[str, int]).validate_python({"epoch": "x"}, strict=True)
    ... except ValidationError as error:
    ...     first_problem(error)
    'epoch: input should be a valid integer'
    """
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    what = first["msg"][:1].lower() + first["msg"][1:]
    return f"{where}: {what}" if where else what


def as_tuple(value: Any) -> Any:
    """What a file says as a list; a validator for settings that are tuples."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"should be a list such as ['tanh', 'relu'], not {shown(value)}")
    return tuple(value)
