"""How much random tests try: `CELLWRIGHT_TEST_EFFORT=10 make test` tries ten times as much."""

from __future__ import annotations

import os

EFFORT = int(os.environ.get("CELLWRIGHT_TEST_EFFORT", "1"))


def many(count: int) -> int:
    """So many of something random, times the effort."""
    return count * EFFORT
