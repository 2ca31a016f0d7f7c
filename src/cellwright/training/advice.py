"""What to change after a loss has diverged."""

from __future__ import annotations

from typing import Literal


def advice(status: str, table: Literal["training", "search"], rate: float) -> str | None:
    """What to try next; None if nothing went wrong.

    Args:
        status: how it ended.
        table: the recipe's table that has the learning rate.
        rate: the learning rate that it had.

    >>> advice("exploded", "training", 0.06)
    'smaller steps: --set training.learning_rate=0.015, and smaller again if need be'
    """
    if status in ("running", "ok"):
        return None
    return f"smaller steps: --set {table}.learning_rate={rate / 4:g}, and smaller again if need be"
