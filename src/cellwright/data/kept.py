"""Token files of sentences: found whole and up to date, or made anew.

They are kept beside those of running text, in a folder that appears whole (`data/cache.py`). Its
name has a hash of how the files are read, so that the same files read in two ways are kept twice.

A folder has, for each part, arrays such as `train.words.bin`; `words.tsv` and `characters.tsv` (one
a line in the order of their numbers, with a tab and the count in train); and, written last, a JSON
file that says what the others must look like.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

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
from cellwright.data.prepare import Read, write_synced
from cellwright.data.sources import PARTS, Source
from cellwright.data.vocabulary import UNK, Vocabulary, from_rows, to_text

VOCABULARIES = ("words.tsv", "characters.tsv")

_MOST_VOCABULARY = 2**30


class Kept(BaseModel):
    """What a file must look like."""

    model_config = ConfigDict(frozen=True)

    size: int
    checksum: str


class KeptFacts(BaseModel):
    """What every JSON file of a folder says: the files that were read, the parts, what is kept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    texts: dict[str, Read]
    parts: Mapping[str, Any]
    files: dict[str, Kept]

    def to_json(self) -> bytes:
        """As it is written."""
        return json.dumps(self.model_dump(), indent=2, ensure_ascii=False).encode() + b"\n"


_Facts = TypeVar("_Facts", bound=KeptFacts)


@dataclass(frozen=True)
class Entry(Generic[_Facts]):
    """Token files that passed every check; `why` says why they had to be made, if they had."""

    metadata: _Facts
    arrays: Mapping[tuple[str, str], NDArray[Any]]
    words: Vocabulary
    characters: Vocabulary
    why: str | None = None


@dataclass(frozen=True)
class Shelf(Generic[_Facts]):
    """Where token files of one kind are kept, and what they are.

    `kind` is in the folder's name, and the JSON file has its name.
    """

    kind: str
    facts: type[_Facts]
    arrays: Mapping[str, np.dtype[Any]]

    def peek(self, source: Source, reading: Mapping[str, Any]) -> Entry[_Facts] | None:
        """The token files if they are there and good.

        Args:
            source: the files that were read.
            reading: how they were read, as JSON can have it.
        """
        sweep_leftovers()
        try:
            return self._check(self._folder(source, reading), source)
        except StaleError:
            return None

    def fetch(
        self,
        source: Source,
        reading: Mapping[str, Any],
        make: Callable[[Path], None],
        progress: Progress | None = None,
    ) -> Entry[_Facts]:
        """The token files, made if need be: `make` fills an empty folder with them."""
        folder = self._folder(source, reading)
        entry, why = made_once(
            folder, source.name, lambda: self._check(folder, source), make, progress
        )
        return replace(entry, why=why)

    def keep(
        self, folder: Path, words: Sequence[str], counts: NDArray[np.int64], parts: Iterable[str]
    ) -> dict[str, Kept]:
        """Write the vocabularies beside the arrays; returns what all of them look like."""
        texts = dict(zip(VOCABULARIES, _vocabularies(words, counts), strict=True))
        for name, text in texts.items():
            write_synced(folder / name, text)
        kept = {name: Kept(size=len(text), checksum=_sha256(text)) for name, text in texts.items()}
        for part in parts:
            for what, dtype in self.arrays.items():
                name = f"{part}.{what}.bin"
                numbers = mapped(folder / name, dtype)
                kept[name] = Kept(size=numbers.nbytes, checksum=checksum_of(numbers))
        return kept

    def write_facts(self, folder: Path, facts: _Facts) -> None:
        """Write the JSON file, after all others."""
        write_synced(folder / self._json, facts.to_json())

    @property
    def _json(self) -> str:
        return f"{self.kind}.json"

    def _folder(self, source: Source, reading: Mapping[str, Any]) -> Path:
        text = json.dumps(reading, sort_keys=True)
        digest = _sha256(text.encode("utf-8", "surrogateescape"))[:8]
        return places.tokens_folder() / f"{source.key}-{self.kind}-{digest}"

    def _check(self, folder: Path, source: Source) -> Entry[_Facts]:
        try:
            facts = self.facts.model_validate_json(read_regular(folder / self._json), strict=True)
            if facts.texts.keys() != source.texts.keys():
                raise StaleError("its files are others now")
            texts = {name: read_regular(folder / name, _MOST_VOCABULARY) for name in VOCABULARIES}
            arrays = {
                (part, what): mapped(folder / f"{part}.{what}.bin", dtype)
                for part in (*PARTS, *(part for part in facts.parts if part not in PARTS))
                for what, dtype in self.arrays.items()
            }
            for name, text in texts.items():
                if _sha256(text) != facts.files[name].checksum:
                    raise StaleError(f"{name} is damaged")
            for (part, what), numbers in arrays.items():
                name = f"{part}.{what}.bin"
                kept = facts.files[name]
                if numbers.nbytes != kept.size or checksum_of(numbers) != kept.checksum:
                    raise StaleError(f"{name} is damaged")
            words, characters = (from_rows(texts[name]) for name in VOCABULARIES)
        except FileNotFoundError as error:
            there = folder.exists()
            raise StaleError(
                f"{error.filename} is missing" if there else "not prepared yet"
            ) from None
        except OSError as error:
            raise StaleError(f"{error.filename}: {reason(error)}") from None
        except (ValueError, KeyError):
            raise StaleError("made by another version, or damaged") from None
        now = still_read(source.texts, facts.texts)
        if now != facts.texts:
            facts = facts.model_copy(update={"texts": now})
            with contextlib.suppress(FileError):  # else the hashes are taken again next time
                write_whole(folder / self._json, facts.to_json())
        return Entry(facts, arrays, words, characters)


def fingerprint_of(
    names: Iterable[str], vocabulary: Vocabulary, arrays: Iterable[NDArray[Any]]
) -> str:
    """A hash of words and numbers, wherever the files are; of large arrays samples are read."""
    digest = hashlib.sha256("\n".join(names).encode())
    digest.update("\n".join(vocabulary.tokens).encode())
    digest.update(vocabulary.counts.tobytes())
    for numbers in arrays:
        digest.update(checksum_of(np.ascontiguousarray(numbers)).encode())
    return digest.hexdigest()


def _sha256(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _vocabularies(words: Sequence[str], counts: NDArray[np.int64]) -> tuple[bytes, bytes]:
    """The words and their characters, each with `<unk>` at the end unless it is a word itself."""
    characters: Counter[str] = Counter()
    for word, count in zip(words, counts.tolist(), strict=True):
        for character in word:
            characters[character] += count
    written = []
    for table in (dict(zip(words, counts.tolist(), strict=True)), dict(characters)):
        table.setdefault(UNK, 0)
        written.append(to_text(table.keys(), table.values()))
    return written[0], written[1]
