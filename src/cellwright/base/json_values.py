"""JSON that every reader accepts, also where a number is not finite.

JSON has no NaN and no infinity, and a loss can be both. They are written as the strings "NaN",
"Infinity" and "-Infinity" (as Protocol Buffers do), which pandas' `to_numeric`, JavaScript's
`Number` and Python's `float` read; `loads` here turns them into numbers again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def dumps(value: Any, indent: int | None = None) -> str:
    """The value as JSON.

    >>> dumps({"valid": float("nan"), "train": [1.5, float("-inf")]})
    '{"valid": "NaN", "train": [1.5, "-Infinity"]}'
    """
    return json.dumps(_written(value), indent=indent, ensure_ascii=False, allow_nan=False)


def loads(text: str | bytes) -> Any:
    """The inverse of `dumps`; a `ValueError` if the text is no JSON.

    >>> loads('{"valid": "NaN", "test": "-Infinity"}')
    {'valid': nan, 'test': -inf}
    """
    try:
        return _read(json.loads(text))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _written(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {key: _written(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_written(item) for item in value]
    return value


def _read(value: Any) -> Any:
    if isinstance(value, str):
        return _NUMBERS.get(value, value)
    if isinstance(value, dict):
        return {key: _read(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_read(item) for item in value]
    return value
