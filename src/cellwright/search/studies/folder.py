"""The folder of what a study found, which says of which study, in which store.

FOLDER/study.json                 the study, its store, and when it was begun
FOLDER/best.json, best.svg        its best cell
FOLDER/ledger.json                what it cost, with the random search beside it

Studies of the same name in two stores are two studies: the second has a number behind its folder's
name. A study is known by the moment at which it was begun, so that its store may move.
"""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any

from cellwright.base.errors import FileError, refused
from cellwright.base.files import remove, temporary_name, write_whole
from cellwright.base.names import file_stem
from cellwright.base.regular_files import read_regular
from cellwright.trials.store import Store, Study, list_trials

FILE, FORMAT = "study.json", "cellwright-study/1"
LEDGER = "ledger.json"


def check_writable(out: Path) -> None:
    """Say at once that nothing can be written, and not after hours of training.

    Raises:
        FileError: so it is.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused("make", out, error) from None
    if not os.access(out, os.W_OK):
        raise FileError(f"cannot write into {out}, where what is found goes")


def study_folder(store: Store, study: Study, out: Path) -> Path:
    """The folder of a study, made if it is not there.

    Raises:
        FileError: it cannot be made or read.
    """
    name = file_stem(study.name, "study")
    for number in itertools.count(1):
        folder = out / (name if number == 1 else f"{name}-{number}")
        try:
            if _made(folder, store, study) or _is_of(folder, store, study):
                break
        except OSError as error:
            raise refused("make", folder, error) from None
    return folder


def _made(folder: Path, store: Store, study: Study) -> bool:
    """Whether the folder was made just now: whole, or not at all."""
    temporary = temporary_name(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        temporary.mkdir(exist_ok=True)
        _mark(temporary, store, study)
        os.rename(temporary, folder)  # in place of an empty folder at most
    except OSError:
        if not folder.exists():
            raise
        return False
    finally:
        remove(temporary)
    return True


def _mark(folder: Path, store: Store, study: Study) -> None:
    place = store.title if "://" in store.title else str(Path(store.title).absolute())
    value = {
        "format": FORMAT,
        "study": study.name,
        "begun": study.created_at,
        "store": place,
    }
    write_whole(folder / FILE, json.dumps(value, indent=2).encode() + b"\n")


def _is_of(folder: Path, store: Store, study: Study) -> bool:
    """Whether a folder that is there is this study's."""
    if not folder.is_dir():
        return False
    value = _read(folder / FILE)
    if value is not None:
        return value.get("study") == study.name and value.get("begun") == study.created_at
    fits = _fits(_read(folder / LEDGER), store, study)
    if fits:
        _mark(folder, store, study)
    return fits


def _fits(ledgers: dict[str, Any] | None, store: Store, study: Study) -> bool:
    """Whether a ledger of an earlier version, which said no store, can be this study's: it names a
    trial that was the best once, and that is in the store as it says."""
    try:
        ledger = (ledgers or {})["study"]
        best = ledger["best"]
        if ledger["study"] != study.name:
            return False
        [trial] = list_trials(store, study, first=int(best["trial"]), most=1)
        return (trial.number, trial.cell_id, trial.value) == (
            best["trial"],
            best["cell"],
            best["value"],
        )
    except (KeyError, TypeError, ValueError):
        return False


def _read(path: Path) -> dict[str, Any] | None:
    """What a JSON file says; nothing if it is not there, or damaged."""
    try:
        value = json.loads(read_regular(path))
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    except OSError as error:
        raise refused("read", path, error) from None
    return value if isinstance(value, dict) else None
