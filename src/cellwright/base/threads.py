"""How many threads torch computes with: sums may be taken in another order with another number."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def threads_for(number: int | None) -> Iterator[None]:
    """Compute with so many threads; with as many as there are if None."""
    before = torch.get_num_threads()
    if number is not None and number != before:
        torch.set_num_threads(number)
    try:
        yield
    finally:
        if torch.get_num_threads() != before:
            torch.set_num_threads(before)
