"""Where the checkpoints of trials are; without torch, for those who only remove them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cellwright.base.files import remove


def checkpoint_numbers(folder: Path) -> list[int]:
    """The trials that have a checkpoint in a study's folder."""
    return sorted(int(path.stem) for path in folder.glob("*.safetensors") if path.stem.isdigit())


def remove_checkpoints(folder: Path, numbers: Sequence[int]) -> None:
    """Remove the checkpoints of some trials."""
    for number in numbers:
        remove(checkpoint_path(folder, number))


def checkpoint_path(folder: Path, number: int) -> Path:
    """The file of a trial's checkpoint."""
    return folder / f"{number}.safetensors"
