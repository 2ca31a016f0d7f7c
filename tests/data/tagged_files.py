"""Column files of a few sentences."""

from __future__ import annotations

from pathlib import Path

from cellwright.data.tagged import Tagged

PARTS = {
    "train": "Ada B-PER\nLovelace I-PER\nsaw O\nRome B-LOC\n\nRome B-LOC\nsleeps O\n",
    "valid": "Ada B-PER\nsleeps O\n",
    "test": "Ada B-PER\nsaw O\nParis B-LOC\n",
}


def write(folder: Path, ending: str = ".conll", **parts: str | bytes | None) -> Path:
    """Write the three files: the small ones, but for the parts that are given."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, text in {**PARTS, **parts}.items():
        if text is not None:
            data = text.encode() if isinstance(text, str) else text
            (folder / f"{part}{ending}").write_bytes(data)
    return folder


def sentences(found: Tagged, part: str = "train") -> list[str]:
    """Each sentence as `word/TAG word/TAG`."""
    return [
        " ".join(
            f"{word}/{tag}"
            for word, tag in zip(
                found.vocabulary.decode(words), found.tags.decode(tags), strict=True
            )
        )
        for words, tags in getattr(found, part)
    ]
