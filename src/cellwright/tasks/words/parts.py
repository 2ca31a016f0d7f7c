"""Parts of a task's data that are shortened."""

from __future__ import annotations

from collections.abc import Mapping

from cellwright.base.errors import shown
from cellwright.data.errors import DataError
from cellwright.tasks.task import PARTS


def check_limits(most: Mapping[str, int], items: str) -> None:
    """How many items parts may have at most.

    Args:
        most: by the name of the part.
        items: what they are called.

    Raises:
        DataError: there is no such part, or that is no number of items.
    """
    for part, many in most.items():
        if part not in PARTS:
            raise DataError(f"there are the parts {', '.join(PARTS)}, not {shown(part)}")
        if isinstance(many, bool) or not isinstance(many, int) or many < 1:
            raise DataError(f"the {items} of {part} must be a whole number, not {shown(many)}")
