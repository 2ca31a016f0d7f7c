"""From a name or a folder to the column files of tagged sentences.

A folder has a file for train and one for test, and may have one for valid. Accepted are the names
under which CoNLL-2003 and WNUT-17 are published, and otherwise any name in which the part stands
between dots, hyphens or underscores and that ends in `.txt`, `.conll`, `.tsv`, `.bio` and the like
or in the part itself. For valid, `dev`, `validation`, `val` and `testa` do as well; for test,
`testb`.
"""

from __future__ import annotations

import os
from pathlib import Path

from cellwright.base.errors import did_you_mean
from cellwright.data.errors import DataError
from cellwright.data.labelled_sets import LABELLED
from cellwright.data.registry import KNOWN, TAGGED
from cellwright.data.sources import (
    ALIASES,
    PARTS,
    Source,
    fits,
    in_folder,
    only_one,
    source_of,
    what_it_has,
)

_SETS = (
    ("eng.train", "eng.testa", "eng.testb"),
    ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated"),
)
_ENDINGS = ("txt", "conll", "tsv", "bio", "iob", "iob2", "iobes", "bioes", "bmes", "tags", "data")
_OWN_ENDINGS = _ENDINGS[1:]
_ALIASES = {
    **ALIASES,
    "valid": (*ALIASES["valid"], "testa"),
    "test": (*ALIASES["test"], "testb"),
}


def locate(name: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None) -> Source:
    """The column files of tagged sentences.

    Args:
        name: conll2003, conll2000, wnut17, or a folder with train, valid and test files. A name
            goes before a folder of the same name; `./wnut17` is always a folder.
        folder: where data of that name is: the folder itself, or the one that has it under its
            name. Otherwise `CELLWRIGHT_DATA` and then what was downloaded are searched.

    Raises:
        DataError: it is not there. The message says what to do.
    """
    return source_of(name, folder, TAGGED, _in, _no_such)


def find_parts(names: list[str], where: str) -> dict[str, str]:
    """Which of these file names holds which part; valid may be missing.

    >>> find_parts(["test.conll", "train.conll", "notes.txt"], "x")
    {'train': 'train.conll', 'test': 'test.conll'}

    Raises:
        DataError: train or test is missing, or two files could be the same part.
    """
    for known in _SETS:
        if set(known) <= set(names):
            return dict(zip(PARTS, known, strict=True))
    found = {}
    for part in PARTS:
        fitting = sorted(name for name in names if fits(name, _ALIASES[part], _ENDINGS))
        one = only_one(part, fitting, where)
        if one is not None:
            found[part] = one
        elif part != "valid":
            raise DataError(
                f"{where}: no file for the part {part!r}; tagged sentences are a folder with "
                f"train.conll, test.conll and, if there is one, valid.conll ({what_it_has(names)})"
            )
    return found


def looks_tagged(name: str) -> bool:
    """Is this data with tags by its name, or by the endings of its files?"""
    if name in TAGGED:
        return True
    path = Path(name).expanduser()
    try:
        if name in KNOWN or not path.is_dir():
            return False
        files = [entry.name for entry in os.scandir(path) if entry.is_file()]
    except (OSError, ValueError):
        return False
    train = [file for file in files if fits(file, _ALIASES["train"], _ENDINGS)]
    known = any(set(names) <= set(files) for names in _SETS)
    return known or any(file.lower().endswith(_OWN_ENDINGS) for file in train)


def _in(path: Path, name: str) -> Source:
    return in_folder(path, name, lambda files: find_parts(files, str(path)))


def _no_such(name: str, path: Path) -> str:
    if path.is_file():
        return f"{name} is a file; give the folder that has train and test files"
    if os.sep in name or name.startswith("."):
        return f"{name}: no such folder"
    if name in KNOWN:
        return f"{name} is running text, without tags; tagged are {', '.join(TAGGED)}"
    if name in LABELLED:
        return f"{name} is sentences with labels, without tags; tagged are {', '.join(TAGGED)}"
    hint = did_you_mean(name, TAGGED) or f"; known are {', '.join(TAGGED)}"
    return f"unknown tagged data {name!r}{hint} (and there is no folder of that name)"
