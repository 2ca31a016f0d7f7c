"""Names of files that are safe in any folder."""

from __future__ import annotations

import re


def file_stem(name: str, fallback: str) -> str:
    """A file name without ending, made of any name and safe in any folder.

    >>> file_stem("../my cell", "8f14e45f"), file_stem("..", "8f14e45f")
    ('my_cell', '8f14e45f')
    >>> file_stem("con", "8f14e45f")  # which Windows takes for a device
    'con_'
    """
    stem = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._-")[:100] or fallback
    return f"{stem}_" if _is_device(stem) else stem


def without_forbidden(name: str) -> str:
    """A name without what no file system, or one of them, allows in names.

    >>> without_forbidden('a:b/c?"é"')
    'a-b-c-é'
    """
    name = re.sub(r'[<>:"/\\|?*\x00-\x1f]+', "-", name).strip(" .-")
    return f"{name}_" if _is_device(name) else name


def _is_device(name: str) -> bool:
    """Whether a name is that of a device on Windows, in any case and with any ending."""
    return re.fullmatch(r"con|prn|aux|nul|(com|lpt)\d", name.partition(".")[0].lower()) is not None
