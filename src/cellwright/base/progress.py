"""How long work says how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called during long work with what is being done, how much is done, and how much there is (0 where
that is not known); of files, in bytes."""
