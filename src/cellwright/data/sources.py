"""From a name or a folder to the three texts of a corpus.

A folder is a corpus if it has a file for each part. Accepted names, for the part train:

1. `train.txt`, `ptb.train.txt`, `wiki.train.tokens`, `wiki.train.raw`; the first of these forms
   that the folder has for all three parts is taken.
2. Otherwise any name in which the part stands between dots, hyphens or underscores and that ends
   in `.txt`, `.text`, `.tokens`, `.raw` or in the part itself: `my.train.txt`, `de-train.txt`. If
   two files fit one part, neither is guessed: an error names both.

For the part valid, `validation`, `val` and `dev` do as well; for train, `training`. Upper and lower
case are alike.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import re
import shlex
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from cellwright.base.errors import did_you_mean, reason
from cellwright.base.regular_files import open_regular
from cellwright.data import builtin, places
from cellwright.data.errors import DataError, DataNotHereError
from cellwright.data.labelled_sets import LABELLED
from cellwright.data.registry import KNOWN, TAGGED

PARTS = ("train", "valid", "test")
"""The parts of a corpus, in the order in which they are read."""

ALIASES: Mapping[str, tuple[str, ...]] = {
    "train": ("train", "training"),
    "valid": ("valid", "validation", "val", "dev"),
    "test": ("test",),
}
"""What a part is called in names of files."""

_FORMS = ("{}.txt", "ptb.{}.txt", "wiki.{}.tokens", "wiki.{}.raw")
_ENDINGS = ("txt", "text", "tokens", "raw")


@dataclass(frozen=True)
class Stamp:
    """What changes when a file is written: a cheap sign that it is still the same."""

    size: int
    mtime_ns: int


@dataclass(frozen=True)
class Text:
    """One part of a corpus, as bytes that can be read from the start."""

    label: str
    open: Callable[[], BinaryIO]
    stamp: Callable[[], Stamp]


@dataclass(frozen=True)
class Source:
    """Where a corpus's text is. `key` names its folder of token files."""

    name: str
    where: str
    key: str
    texts: Mapping[str, Text]


def locate(name: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None) -> Source:
    """The text of a corpus.

    Args:
        name: a name of the registry, or a folder with train, valid and test text. A name goes
            before a folder of the same name; `./ptb` is always a folder.
        folder: where a named corpus is: the folder itself, or the one that has it under its name.
            Otherwise `CELLWRIGHT_DATA` and then the corpora that were downloaded are searched.
    """
    if folder is None and os.fspath(name) == "builtin":
        return _builtin()
    return source_of(name, folder, KNOWN, _folder, _no_such)


def source_of(
    name: str | os.PathLike[str],
    folder: str | os.PathLike[str] | None,
    known: Container[str],
    opened: Callable[[Path, str], Source],
    no_such: Callable[[str, Path], str],
) -> Source:
    """The files of data with a name, or of a folder.

    Args:
        name: as `locate` has it.
        folder: as `locate` has it.
        known: the names.
        opened: gives the files of a folder, under a name.
        no_such: says what is wrong with a name that is none, given the path that it would be.
    """
    text = os.fspath(name)
    if folder is not None:
        own = Path(folder).expanduser()
        below = own / text
        return opened(below if text in known and is_folder(below) else own, text)
    if text in known:
        return opened(known_folder(text), text)
    path = Path(text).expanduser()
    if not is_folder(path):
        raise DataError(no_such(text, path))
    return opened(path, path.absolute().name or text)


def find_parts(names: Iterable[str], where: str, hint: str = "") -> dict[str, str]:
    """Which of these file names holds which part; `where` and a hint are for the message.

    >>> find_parts(["ptb.test.txt", "ptb.train.txt", "ptb.valid.txt", "notes.txt"], "x")
    {'train': 'ptb.train.txt', 'valid': 'ptb.valid.txt', 'test': 'ptb.test.txt'}
    """
    names = sorted(names)
    lower = {name.lower(): name for name in names}
    for form in _FORMS:
        found = {
            part: lower[spelled]
            for part in PARTS
            for alias in reversed(ALIASES[part])
            if (spelled := form.format(alias)) in lower
        }
        if len(found) == len(PARTS):
            return {part: found[part] for part in PARTS}
    chosen = {}
    for part in PARTS:
        fitting = only_one(part, [name for name in names if fits(name, ALIASES[part])], where)
        if fitting is None:
            raise DataError(
                f"{where}: no file for the part {part!r}; a corpus is a folder with train.txt, "
                f"valid.txt and test.txt ({what_it_has(names)}){hint}"
            )
        chosen[part] = fitting
    return chosen


def what_it_has(names: Iterable[str]) -> str:
    """The files of a folder, for the message that something is missing.

    >>> what_it_has(["b.txt", "a.txt"])
    'it has a.txt, b.txt'
    """
    ordered = sorted(names)
    more = ", …" if len(ordered) > 6 else ""
    return f"it has {', '.join(ordered[:6])}{more}" if ordered else "it has no files"


def only_one(part: str, fitting: list[str], where: str) -> str | None:
    """The one name that fits a part, or None; an error if there are two."""
    if len(fitting) > 1:
        raise DataError(
            f"{where}: both {fitting[0]} and {fitting[1]} could be the part {part!r}; "
            f"keep one, or name one of them {part}.txt"
        )
    return fitting[0] if fitting else None


def fits(name: str, aliases: tuple[str, ...], endings: tuple[str, ...] = _ENDINGS) -> bool:
    """Could a file of this name be the part that has these names?"""
    stem, dot, ending = name.lower().rpartition(".")
    words = re.split(r"[._-]", stem if dot and ending in endings else name.lower())
    plain = (dot and ending in endings) or words[-1] in aliases
    return bool(plain) and not name.startswith(".") and any(word in aliases for word in words)


def is_here(name: str) -> bool:
    """Is data of the registry on this machine, as far as its folder tells?"""
    return name == "builtin" or any(map(is_folder, _searched(name)))


def _searched(name: str) -> list[Path]:
    known, data = LABELLED.get(name), places.data_folder()
    others = () if known is None else known.folders
    here = [] if data is None else [data / each for each in others or (name,)]
    return [*here, *(places.corpora_folder() / each for each in dict.fromkeys((name, *others)))]


def known_folder(name: str) -> Path:
    """The folder of data that has a name.

    Raises:
        DataNotHereError: it is not on this machine. The message says how to get it.
    """
    searched = _searched(name)
    for path in searched:
        if is_folder(path):
            return path
    usual = dict.fromkeys((searched[0], places.corpora_folder() / name))
    where = " and ".join(map(str, usual))
    raise DataNotHereError(
        f"{name} is not on this machine (there is no {where}); "
        f"'cellwright data get {name}' gets it, or says how"
    )


def _folder(path: Path, name: str) -> Source:
    hint = f"; 'cellwright data make {shlex.quote(str(path))} -o OUT' makes one of other texts"
    return in_folder(path, name, lambda files: find_parts(files, str(path), hint))


def in_folder(path: Path, name: str, find: Callable[[list[str]], Mapping[str, str]]) -> Source:
    """The texts of a folder; `find` says which of its files is which part."""
    try:
        files = [entry.name for entry in os.scandir(path) if entry.is_file()]
    except NotADirectoryError:
        raise DataError(f"{path} is a file, not a folder with train, valid and test text") from None
    except OSError as error:
        raise DataError(f"{path}: {reason(error)}") from None
    found = {part: path / file for part, file in find(files).items()}
    paths = "\0".join(str(file.resolve()) for file in found.values())
    digest = hashlib.sha256(paths.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    slug = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._-")[:40] or "corpus"
    texts = {part: file_text(file) for part, file in found.items()}
    return Source(name, str(path), f"{slug}-{digest}", texts)


def file_text(path: Path) -> Text:
    """A file."""

    def stamp() -> Stamp:
        status = path.stat()
        return Stamp(status.st_size, status.st_mtime_ns)

    return Text(str(path), lambda: open_regular(path), stamp)


def _builtin() -> Source:
    made = functools.cache(builtin.texts)

    def text(part: str) -> Text:
        # The key holds a hash of the text, so that a stamp has nothing left to tell.
        return Text(f"builtin {part}", lambda: io.BytesIO(made()[part]), lambda: Stamp(0, 0))

    key = f"builtin-{builtin.fingerprint()[:16]}"
    return Source("builtin", "Python", key, {part: text(part) for part in PARTS})


def is_folder(path: Path) -> bool:
    """Is there a folder?"""
    try:
        return path.is_dir()
    except OSError as error:
        raise DataError(f"{path}: {reason(error)}") from None
    except ValueError:  # a null character
        return False


def _no_such(name: str, path: Path) -> str:
    if path.is_file():
        return (
            f"{name} is a file; give the folder that has train.txt, valid.txt and test.txt, or "
            f"make one: cellwright data make {shlex.quote(name)} -o OUT"
        )
    if os.sep in name or name.startswith("."):
        return f"{name}: no such folder"
    if name in TAGGED:
        return f"{name} is sentences with tags, not running text; known are {', '.join(KNOWN)}"
    if name in LABELLED:
        return f"{name} is sentences with labels, not running text; known are {', '.join(KNOWN)}"
    everything = (*KNOWN, *TAGGED, *LABELLED)
    hint = did_you_mean(name, everything) or f"; known are {', '.join(KNOWN)}"
    return f"unknown corpus {name!r}{hint} (and there is no folder of that name)"
