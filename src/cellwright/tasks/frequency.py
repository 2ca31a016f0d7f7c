"""Classes of words by how often the training part has them."""

from __future__ import annotations

from collections.abc import Iterator


def ranges(largest: int) -> Iterator[tuple[int, int | None]]:
    """0, 1 to 9, 10 to 99 and so on, up to a count; the last range has no end.

    >>> list(ranges(30))
    [(0, 0), (1, 9), (10, None)]
    """
    yield 0, 0
    least = 1
    while largest >= 10 * least:
        yield least, 10 * least - 1
        least *= 10
    if largest:
        yield least, None


def range_label(least: int, most: int | None) -> str:
    """For people.

    >>> range_label(10, 99), range_label(0, 0), range_label(1000, None)
    ('10 to 99', 'never', '1,000 or more')
    """
    if most == 0:
        return "never"
    return f"{least:,} or more" if most is None else f"{least:,} to {most:,}"
