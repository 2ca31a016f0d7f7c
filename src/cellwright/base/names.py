"""Names of files that are safe in any folder."""

from __future__ import annotations

import re


def file_stem(name: str, fallback: str) -> str:
    """A file name without ending, made of any name and safe in any folder.

    >>> file_stem("../my cell", "8f14e45f"), file_stem("..", "8f14e45f")
    ('my_cell', '8f14e45f')
    """
    return re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._-")[:100] or fallback
