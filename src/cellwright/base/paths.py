"""Paths."""

from __future__ import annotations

import os
from pathlib import Path


def from_anywhere(path: str | os.PathLike[str]) -> Path:
    """A path in a form that holds in any working directory, and in other processes."""
    return Path(path).expanduser().absolute()
