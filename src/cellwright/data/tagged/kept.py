"""Token files of tagged sentences: found whole and up to date, or made anew.

They are kept beside those of running text, in a folder that appears whole (`data/cache.py`). Its
name has a hash of the options, so that the same files read in two ways are kept twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from cellwright.base.errors import FileError, reason
from cellwright.base.files import write_whole
from cellwright.base.progress import Progress
from cellwright.base.regular_files import read_regular
from cellwright.data import places
from cellwright.data.cache import (
    StaleError,
    checksum_of,
    made_once,
    mapped,
    still_read,
    sweep_leftovers,
)
from cellwright.data.sources import PARTS, Source
from cellwright.data.tagged.options import Options
from cellwright.data.tagged.prepare import ARRAYS, VOCABULARIES, Metadata, prepare
from cellwright.data.vocabulary import Vocabulary, from_rows

_MOST_VOCABULARY = 2**30


@dataclass(frozen=True)
class Entry:
    """Token files that passed every check; `why` says why they had to be made, if they had."""

    metadata: Metadata
    arrays: Mapping[tuple[str, str], NDArray[Any]]
    words: Vocabulary
    characters: Vocabulary
    why: str | None = None


def peek(source: Source, options: Options) -> Entry | None:
    """The token files if they are there and good."""
    sweep_leftovers()
    try:
        return _check(_folder(source, options), source)
    except StaleError:
        return None


def fetch(source: Source, options: Options, progress: Progress | None = None) -> Entry:
    """The token files, made if need be."""
    folder = _folder(source, options)
    entry, why = made_once(
        folder,
        source.name,
        lambda: _check(folder, source),
        lambda new: prepare(source, options, new, progress),
        progress,
    )
    return replace(entry, why=why)


def _folder(source: Source, options: Options) -> Path:
    text = json.dumps(asdict(options), sort_keys=True)
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return places.tokens_folder() / f"{source.key}-tagged-{digest}"


def _check(folder: Path, source: Source) -> Entry:
    try:
        metadata = Metadata.model_validate_json(read_regular(folder / "tagged.json"), strict=True)
        if metadata.texts.keys() != source.texts.keys():
            raise StaleError("its files are others now")
        texts = {name: read_regular(folder / name, _MOST_VOCABULARY) for name in VOCABULARIES}
        arrays = {
            (part, what): mapped(folder / f"{part}.{what}.bin", dtype)
            for part in PARTS
            for what, dtype in ARRAYS.items()
        }
        for name, text in texts.items():
            if hashlib.sha256(text).hexdigest() != metadata.files[name].checksum:
                raise StaleError(f"{name} is damaged")
        for (part, what), numbers in arrays.items():
            name = f"{part}.{what}.bin"
            kept = metadata.files[name]
            if numbers.nbytes != kept.size or checksum_of(numbers) != kept.checksum:
                raise StaleError(f"{name} is damaged")
        words, characters = (from_rows(texts[name]) for name in VOCABULARIES)
    except FileNotFoundError as error:
        there = folder.exists()
        raise StaleError(f"{error.filename} is missing" if there else "not prepared yet") from None
    except OSError as error:
        raise StaleError(f"{error.filename}: {reason(error)}") from None
    except (ValueError, KeyError):
        raise StaleError("made by another version, or damaged") from None
    now = still_read(source.texts, metadata.texts)
    if now != metadata.texts:
        metadata = metadata.model_copy(update={"texts": now})
        with contextlib.suppress(FileError):  # else the hashes are taken again next time
            write_whole(folder / "tagged.json", metadata.to_json())
    return Entry(metadata, arrays, words, characters)
