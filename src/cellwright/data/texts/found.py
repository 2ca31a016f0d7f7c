"""Which files below a folder are text.

Files that end in .txt, .text, .md, .markdown or .rst, and those without an ending, all of them also
packed as .gz; or those that fit patterns. Hidden files and folders are passed over, as are links
to folders, links that lead out of the folder, pipes and devices, and corpora that were made before.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from cellwright.base.errors import reason
from cellwright.base.regular_files import read_regular
from cellwright.data.errors import DataError

ENDINGS = (".txt", ".text", ".md", ".markdown", ".rst")
"""Of files that are read unless patterns say otherwise."""

FORMAT = "cellwright-corpus/1"
"""In a `corpus.json`, the sign of a folder that was made here."""


@dataclass
class Found:
    """The files to read, in the order of their names, and why others are not among them."""

    files: list[Path] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


def find(folder: Path, patterns: Sequence[str], leave: Path) -> Found:
    """The files of text below a folder, or the file itself.

    Args:
        folder: a folder, or one file, whatever its name.
        patterns: of names, such as `*.py`, or of paths below the folder, such as `en/*.txt`; in
            place of the usual endings.
        leave: a folder not to look into.

    Raises:
        DataError: there is no such folder, or a part of it cannot be read.
    """
    found = Found()
    try:
        if folder.is_file():
            found.files.append(folder)
            return found
        if not folder.is_dir():
            what = "is neither a file nor a folder" if folder.exists() else "no such file or folder"
            raise DataError(f"{folder}: {what}")
        _look(folder, folder, os.path.realpath(folder), patterns, os.path.realpath(leave), found)
    except OSError as error:
        raise DataError(f"cannot read {error.filename or folder}: {reason(error)}") from None
    found.files.sort(key=lambda path: path.relative_to(folder).as_posix())
    return found


def _look(
    folder: Path, top: Path, real: str, patterns: Sequence[str], leave: str, found: Found
) -> None:
    folders = [folder]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                path = Path(entry.path)
                if entry.name.startswith("."):
                    found.skipped["hidden"] += 1
                elif entry.is_dir():
                    if entry.is_symlink():
                        found.skipped["link"] += 1
                    elif os.path.realpath(path) == leave or is_made(path):
                        found.skipped["corpus"] += 1
                    else:
                        folders.append(path)
                elif not _fits(path, top, patterns):
                    found.skipped["other ending"] += 1
                elif entry.is_symlink() and not _inside(os.path.realpath(path), real):
                    found.skipped["link"] += 1
                elif not entry.is_file():
                    found.skipped["link" if entry.is_symlink() else "special"] += 1
                else:
                    found.files.append(path)


def _inside(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder


def _fits(path: Path, top: Path, patterns: Sequence[str]) -> bool:
    name = path.name
    plain = name[:-3] if name.lower().endswith(".gz") else name
    if not patterns:
        return is_bare(path) or plain.lower().endswith(ENDINGS)
    below = path.relative_to(top).as_posix()
    unpacked = below[: len(below) - len(name) + len(plain)]
    return any(
        fnmatchcase(text, pattern)
        for pattern in patterns
        for text in ((below, unpacked) if "/" in pattern else (name, plain))
    )


def is_bare(path: Path) -> bool:
    """Has the file's name no ending, so that only its contents can say whether it is text?"""
    name = path.name
    return "." not in (name[:-3] if name.lower().endswith(".gz") else name)


def is_made(folder: Path) -> bool:
    """Was this folder made from texts, by `make`?"""
    try:
        kept = json.loads(read_regular(folder / "corpus.json"))
        return isinstance(kept, dict) and kept.get("format") == FORMAT
    except (OSError, ValueError, RecursionError):
        return False
