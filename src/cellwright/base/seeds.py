"""One seed decides everything: the seeds of all parts follow from it."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

from cellwright.base.errors import UserError, shown


def checked_seed(seed: Any) -> int:
    """A seed, if it is one.

    Raises:
        UserError: it is not a whole number from 0 on.
    """
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise UserError(f"a seed is a whole number from 0 on, not {shown(seed)}")
    return int(seed)


def seed_for(seed: int, *what: str | int) -> int:
    """A seed of its own for each purpose, epoch and step."""
    text = "/".join(map(str, (seed, *what)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


@contextmanager
def seeded(seed: int, *what: str | int) -> Iterator[None]:
    """Draw from torch's generator with this seed; afterwards it is as it was before."""
    import torch  # only here: whoever draws without it need not wait for it

    generator, own = torch.default_generator, seed_for(seed, *what)
    before = generator.get_state()
    if _has_devices():
        torch.manual_seed(own)
    else:  # else it would queue seeds for devices that are not there, with a stack trace each
        generator.manual_seed(own)
    try:
        yield
    finally:
        generator.set_state(before)


@functools.cache
def _has_devices() -> bool:
    """Whether something beside the processor draws, and wants its seed as well."""
    import torch

    xpu = getattr(torch, "xpu", None)
    return bool(
        torch.cuda.is_available()
        or torch.backends.mps.is_available()
        or (xpu is not None and xpu.is_available())
    )
