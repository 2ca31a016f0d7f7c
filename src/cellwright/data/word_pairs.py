"""Pairs of words with human judgements of how alike they are: WordSim-353, SimLex-999, own files.

A file has one pair a line, two words and a number, apart by tabs (or else by commas, or else by
white space). Lines that begin with `#` are comments. This is the form in which gensim ships both
sets, from where NAS-Bench-NLP has them (section 4.2).
"""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import did_you_mean, reason
from cellwright.base.regular_files import read_regular
from cellwright.data import places
from cellwright.data.errors import DataError

KNOWN_PAIRS = {"wordsim353": "wordsim353.tsv", "simlex999": "simlex999.txt"}
"""The sets that gensim ships, with their file names."""

MOST_BYTES = 100 * 2**20
"""A larger file is not a list of word pairs."""


@dataclass(frozen=True, eq=False)
class WordPairs:
    """Pairs of words, and how alike people found them."""

    name: str
    words: tuple[tuple[str, str], ...] = field(repr=False)
    scores: NDArray[np.float64] = field(repr=False)

    def __len__(self) -> int:
        return len(self.words)


def load_pairs(name: str | os.PathLike[str]) -> WordPairs:
    """A set by its name, or the file of one.

    `wordsim353` and `simlex999` are looked for in the folder `wordsim` of `CELLWRIGHT_DATA`, and
    then inside gensim.

    Raises:
        DataError: it is not there, or a line is not a pair. The message names the line.
    """
    text = os.fspath(name)
    if text in KNOWN_PAIRS:
        return read_pairs(_find(text), text)
    path = Path(text).expanduser()
    if not path.is_file():
        if path.is_dir():
            raise DataError(f"{text} is a folder, not a file of word pairs")
        bare = os.sep not in text and "." not in text
        hint = did_you_mean(text, KNOWN_PAIRS) or f"; known sets are {', '.join(KNOWN_PAIRS)}"
        raise DataError(f"there is no file {text!r}{hint if bare else ''}")
    return read_pairs(path, path.stem)


def read_pairs(path: Path, name: str) -> WordPairs:
    """The pairs in a file."""
    try:
        text = read_regular(path, MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: {reason(error)}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from None
    rows = list(_rows(text, path))
    if not rows:
        raise DataError(f"{path} has no word pairs; a line is: word, tab, word, tab, number")
    return WordPairs(
        name,
        tuple((first, second) for first, second, _ in rows),
        np.array([score for _, _, score in rows], np.float64),
    )


def _rows(text: str, path: Path) -> Iterator[tuple[str, str, float]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        separator = next((mark for mark in "\t," if mark in line), None)
        parts = [part.strip() for part in line.split(separator)]
        if len(parts) != 3 or not parts[0] or not parts[1]:
            raise DataError(
                f"{path}, line {number}: expected two words and a number, apart by tabs, "
                f"not {_shown(line)}"
            )
        try:
            score = float(parts[2])
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            hint = "; a line of titles has to begin with #" if number == 1 else ""
            raise DataError(f"{path}, line {number}: {_shown(parts[2])} is not a number{hint}")
        yield parts[0], parts[1], score


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _find(name: str) -> Path:
    """The file of a known set. Nothing of gensim is imported, which would take a second."""
    data = places.data_folder()
    file = KNOWN_PAIRS[name]
    folders = [] if data is None else [data / "wordsim"]
    found = importlib.util.find_spec("gensim")
    folders += [Path(where) / "test" / "test_data" for where in _folders(found)]
    for folder in folders:
        if (folder / file).is_file():
            return folder / file
    raise DataError(
        f"{name} is not on this machine; pip install 'cellwright[search]' brings it with gensim, "
        f"or put {file} into the folder wordsim of CELLWRIGHT_DATA"
    )


def _folders(spec: object) -> list[str]:
    return list(getattr(spec, "submodule_search_locations", None) or [])
