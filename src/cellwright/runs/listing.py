"""All runs of a folder, and what in it is none."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from cellwright.base.errors import FileError, refused
from cellwright.base.half_made import is_abandoned
from cellwright.runs.folder import RUNS, RunFolder


@dataclass(frozen=True)
class Listing:
    """The runs, oldest first; those that are damaged, and the folders that are none, each with
    why."""

    runs: list[RunFolder]
    damaged: dict[Path, str]
    skipped: dict[Path, str]


def list_runs(runs: Path = RUNS) -> Listing:
    """The runs in a folder; none if it is not there."""
    listing = Listing([], {}, {})
    try:
        found = sorted(path for path in runs.iterdir() if path.is_dir()) if runs.exists() else []
    except OSError as error:
        raise refused("read", runs, error) from None
    for path in found:
        if path.name.startswith("."):
            if is_abandoned(path):
                listing.skipped[path] = (
                    f"{path} was left half-made by a process that was killed; "
                    "it goes when the next run is made"
                )
            continue
        try:
            listing.runs.append(RunFolder.open(path))
        except FileError as error:
            is_run = os.path.lexists(path / RunFolder.info_name)
            (listing.damaged if is_run else listing.skipped)[path] = str(error)
    listing.runs.sort(key=lambda run: (run.info.created, run.path.name))
    return listing
