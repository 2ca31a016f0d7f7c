"""A small text, and what became of it."""

from __future__ import annotations

from pathlib import Path

from cellwright.data import PARTS

TEN = "".join(f"line {word} here.\n" for word in "abcdefghij")
"""Ten lines, each with a word that no other has."""


def contents(folder: Path) -> dict[str, str]:
    """The text of each part of a corpus."""
    return {part: (folder / f"{part}.txt").read_text("utf-8") for part in PARTS}


def all_lines(folder: Path) -> list[str]:
    """The lines of all parts, in order."""
    return sorted(line for text in contents(folder).values() for line in text.splitlines())
