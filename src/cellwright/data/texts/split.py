"""Which lines belong to train, valid and test. A seed decides; the same seed, the same parts.

By file: the files in an order that the seed gives; valid takes them until it has its share, then
test, and train has the rest. By share: the text is cut into as many stretches as there are held-out
blocks, and each stretch has one block of valid and one of test somewhere in it. Blocks are long,
since lines next to each other often say the same: only their first and last lines touch train.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass

from cellwright.base.seeds import seed_for
from cellwright.data.errors import DataError

ENOUGH_FILES = 20
"""With fewer, parts of whole files are too uneven."""

_MOST_BLOCKS, _BLOCK_LINES = 10, 20


@dataclass(frozen=True)
class Shares:
    """How much of the text valid and test get."""

    valid: float
    test: float

    def __post_init__(self) -> None:
        for name, share in (("valid", self.valid), ("test", self.test)):
            if not 0 < share < 1:
                raise DataError(f"the share of {name} is {share:g}; it has to be between 0 and 1")
        if self.valid + self.test >= 1:
            raise DataError(
                f"valid and test have {self.valid + self.test:g} of the text, and nothing is left "
                "for train; 0.1 and 0.1 are usual"
            )


@dataclass(frozen=True)
class Blocks:
    """Where, in the lines of a text, one part ends and another begins."""

    starts: list[int]
    parts: list[str]

    def part(self, line: int) -> str:
        """The part that a line belongs to, counted from 0."""
        return self.parts[bisect.bisect_right(self.starts, line) - 1]

    def until(self, line: int) -> int | None:
        """The first line after this one that begins another block; None if there is none."""
        at = bisect.bisect_right(self.starts, line)
        return self.starts[at] if at < len(self.starts) else None


def by_file(names: Sequence[str], sizes: Sequence[int], shares: Shares, seed: int) -> list[str]:
    """The part of each file, by its name and size.

    Raises:
        DataError: there are fewer files than parts.
    """
    if len(names) < 3:
        there = "is 1 file" if len(names) == 1 else f"are {len(names)} files"
        raise DataError(
            f"there {there} with different text, and a split by files needs 3 or more, better "
            f"{ENOUGH_FILES}; '--split share' splits the text inside files"
        )
    order = sorted(range(len(names)), key=lambda k: (_drawn(seed, names[k]), names[k]))
    wanted = {"valid": shares.valid * sum(sizes), "test": shares.test * sum(sizes)}
    parts = ["train"] * len(names)
    for part, most in wanted.items():
        size = 0
        for k in order:
            if parts[k] == "train" and size + sizes[k] / 2 <= most:
                parts[k] = part
                size += sizes[k]
        if not size:  # each file alone is more than that share
            smallest = min((k for k in order if parts[k] == "train"), key=lambda k: sizes[k])
            parts[smallest] = part
    if "train" not in parts:
        largest = max(order, key=lambda k: (parts.count(parts[k]) > 1, sizes[k]))
        parts[largest] = "train"
    return parts


def is_even(parts: Sequence[str], sizes: Sequence[int], shares: Shares) -> bool:
    """Have there been enough files, and valid and test about the sizes that they should have?"""
    total = sum(sizes)
    return len(parts) >= ENOUGH_FILES and all(
        0.5 <= sum(size for p, size in zip(parts, sizes, strict=True) if p == part) / wanted <= 1.5
        for part, wanted in (("valid", shares.valid * total), ("test", shares.test * total))
    )


def by_share(lines: int, shares: Shares, seed: int) -> Blocks:
    """The blocks of a text of so many lines.

    Raises:
        DataError: there are too few lines for three parts.
    """
    count = max(1, min(_MOST_BLOCKS, int(lines * min(shares.valid, shares.test)) // _BLOCK_LINES))
    blocks = Blocks([], [])
    for block in range(count):
        first, last = lines * block // count, lines * (block + 1) // count
        sizes = {
            part: max(1, _rounded(share * lines * (block + 1) / count)
                      - _rounded(share * lines * block / count))
            for part, share in (("valid", shares.valid), ("test", shares.test))
        }  # fmt: skip
        free = last - first - sum(sizes.values())
        if free < 1:
            raise DataError(
                f"the text has {lines:,} line{'' if lines == 1 else 's'}, too few for train, valid "
                f"and test; {math.ceil(3 / (1 - shares.valid - shares.test)):,} are enough"
            )
        gaps = sorted(seed_for(seed, "gap", block, k) % (free + 1) for k in range(2))
        names = ["valid", "test"] if seed_for(seed, "order", block) % 2 else ["test", "valid"]
        start = first
        for gap, name in zip((gaps[0], gaps[1] - gaps[0]), names, strict=True):
            _add(blocks, start, "train")
            _add(blocks, start + gap, name)
            start += gap + sizes[name]
        _add(blocks, start, "train")
    return blocks


def _add(blocks: Blocks, start: int, part: str) -> None:
    if blocks.starts and blocks.starts[-1] == start:  # the block before is empty
        blocks.starts.pop()
        blocks.parts.pop()
    if not blocks.parts or blocks.parts[-1] != part:
        blocks.starts.append(start)
        blocks.parts.append(part)


def _drawn(seed: int, name: str) -> int:
    return seed_for(seed, "file", name.encode("utf-8", "surrogateescape").hex())


def _rounded(value: float) -> int:
    return int(value + 0.5)
