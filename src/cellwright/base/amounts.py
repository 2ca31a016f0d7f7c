"""Times and amounts of memory, for people; every layer may say them."""

from __future__ import annotations

import math


def duration(seconds: float) -> str:
    """How long something took, for people.

    >>> duration(3.21), duration(59.9), duration(200.0), duration(7500.0)
    ('3.2 s', '60 s', '3 min 20 s', '2 h 05 min')
    """
    if not math.isfinite(seconds):
        return "–"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60:,} h {minutes % 60:02} min"


def clock(seconds: float | None) -> str:
    """A time that counts down, for people.

    >>> clock(5.2), clock(3725.0), clock(None)
    ('0:05', '1:02:05', '–:––')
    """
    if seconds is None or not math.isfinite(seconds):
        return "–:––"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02}"
    return f"{minutes // 60:,}:{minutes % 60:02}:{rest:02}"


def memory(size: int) -> str:
    """An amount of memory, for people.

    >>> memory(341_618_688), memory(1_500_000_000), memory(96 * 10**12)
    ('342 MB', '1.5 GB', '96.0 TB')
    """
    if size < 1e9:
        return f"{size / 1e6:,.0f} MB"
    return f"{size / 1e9:,.1f} GB" if size < 1e12 else f"{size / 1e12:,.1f} TB"


def percent(part: int, whole: int) -> str:
    """A share of something, with two digits.

    >>> percent(1, 300), percent(12, 100), percent(5, 5)
    ('0.33%', '12%', '100%')
    """
    share = 100 * part / whole
    return f"{share:.2g}%" if share < 99 else f"{share:.0f}%"
