"""Where exported files are put: all of them or none, and over nothing that is there unasked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from cellwright.base.errors import FileError, refused
from cellwright.base.files import move, remove, temporary_name, write_whole
from cellwright.base.half_made import whole_folder
from cellwright.export.refusal import ExportError
from cellwright.runs.folder import CELL, RECIPE
from cellwright.runs.model_folder import CONFIG, WEIGHTS


def check_free(paths: list[Path], force: bool) -> None:
    """Say so if something is there already, or cannot be replaced.

    Raises:
        ExportError: it is.
    """
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            raise ExportError(f"{path} is a folder, and a file would be written there")
        if os.path.lexists(path) and not force:
            raise ExportError(f"{path} is there already; --force (force=True) replaces it")


def write_files(files: Mapping[Path, bytes], *, force: bool) -> None:
    """Write files: all of them, or none where one cannot be written.

    Raises:
        ExportError: one is there already.
        FileError: one cannot be written; nothing is left of the others.
    """
    check_free(list(files), force)
    written: dict[Path, Path] = {}
    try:
        for path, data in files.items():
            temporary = temporary_name(path)
            written[temporary] = path
            try:
                write_whole(temporary, data)
            except FileError as error:
                raise FileError(str(error).replace(str(temporary), str(path))) from None
        for temporary, path in written.items():
            move(temporary, path)
    finally:
        for temporary in written:
            remove(temporary)


def check_free_folder(path: Path, force: bool) -> None:
    """Say so if a folder is there already that is not empty, or something that is no folder.

    Raises:
        ExportError: it is.
    """
    if not os.path.lexists(path):
        return
    if not path.is_dir() or path.is_symlink():
        raise ExportError(f"{path} is there already, and is no folder")
    inside = {entry.name for entry in path.iterdir()}
    if inside and not force:
        raise ExportError(f"{path} is there already; --force (force=True) replaces it")
    if inside and not inside >= ALWAYS:
        raise ExportError(
            f"{path} is no exported model: it is not replaced, not even with force; move it away"
        )
    if strange := sorted(inside - ALWAYS - OTHERS):
        raise ExportError(
            f"{path} has {strange[0]}, which no export has written and which would be lost: export "
            "into another folder"
        )


ALWAYS = frozenset({CONFIG, WEIGHTS})
"""What every exported folder has."""

OTHERS = frozenset(
    {CELL, RECIPE, "README.md", "cell.svg", "vocabulary.txt"}
    | {"words.txt", "characters.txt", "tags.json", "target.json", "embeddings.json"}
)
"""What it may have beside that."""


def write_folder(path: Path, files: Mapping[str, bytes], *, force: bool) -> None:
    """Write a folder with files, whole or not at all.

    Raises:
        ExportError: something is there already.
        FileError: it cannot be written.
    """
    check_free_folder(path, force)
    try:
        with whole_folder(path, replace=force) as new:
            for name, data in files.items():
                write_whole(new / name, data)
    except OSError as error:
        raise refused("write", path, error) from None
