"""How many cores there are, and how many threads and processes they are enough for."""

from __future__ import annotations

import os
from typing import Any

from cellwright.base.errors import UserError, shown

_TIMES, _LEAST = 8, 16


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_at_once(what: str, number: Any) -> None:
    """Say so if this machine cannot sensibly have so many threads, or worker processes, at once.

    A few for each core do no harm. Far more wait for each other, many times slower than one a
    core, and the system gives out at some number.
    """
    most = max(_LEAST, _TIMES * cores())
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
        here = cores()
        raise UserError(
            f"{what} should be from 1 to {most} on this machine, which has "
            f"{here} core{'' if here == 1 else 's'}, not {shown(number)}"
        )
