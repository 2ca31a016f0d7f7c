"""From text to token files: one pass over each part, streaming.

A folder of token files has `train.bin`, `valid.bin` and `test.bin` (32-bit integers, little
endian, nothing else), `vocabulary.tsv` (one word a line in the order of their numbers, with its
count in train) and, written last, `corpus.json`, which says what the others must look like.

Words are numbered as they first occur in train. A word of valid or test that train does not have
becomes `<unk>`, and how many there were is kept. Where train has no `<unk>` it gets the last
number.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import repeat
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import reason
from cellwright.base.files import sync
from cellwright.base.progress import Progress
from cellwright.data.errors import DataError
from cellwright.data.reading import pieces
from cellwright.data.sources import PARTS, Source, Stamp, Text
from cellwright.data.vocabulary import UNK, to_text

FORMAT = "cellwright-tokens/1"
"""Changes when older token files no longer fit; they are then made anew."""

DTYPE = np.dtype("<i4")

MOST_TYPES = 4_000_000
"""The largest vocabulary; beyond it the text is hardly one of words, and memory would be."""

_BLOCKS, _BLOCK_BYTES = 64, 2**18


@dataclass(frozen=True)
class Read:
    """What is kept about a file that was read, to notice that it has changed."""

    file: str
    size: int
    mtime_ns: int
    sha256: str
    checked_ns: int


@dataclass(frozen=True)
class Part(Read):
    """What is kept about one part."""

    lines: int
    tokens: int
    unknown: int
    checksum: str


@dataclass(frozen=True)
class Metadata:
    """The contents of `corpus.json`."""

    types: int
    vocabulary_sha256: str
    parts: dict[str, Part]

    def to_json(self) -> bytes:
        """As it is written."""
        value = {"format": FORMAT, "dtype": DTYPE.str, **asdict(self)}
        return json.dumps(value, indent=2).encode() + b"\n"

    @staticmethod
    def from_json(text: bytes) -> Metadata:
        """As it is read; a `ValueError`, `KeyError` or `TypeError` if it is anything else."""
        value: dict[str, Any] = json.loads(text)
        if value["format"] != FORMAT or value["dtype"] != DTYPE.str:
            raise ValueError("another version")
        parts = {part: Part(**value["parts"][part]) for part in PARTS}
        for part in parts.values():
            for name, kept in asdict(part).items():
                if type(kept) is not (str if name in ("file", "sha256", "checksum") else int):
                    raise TypeError(f"{name} is {kept!r}")
        return Metadata(int(value["types"]), str(value["vocabulary_sha256"]), parts)


def prepare(source: Source, folder: Path, progress: Progress | None = None) -> None:
    """Write the token files of a corpus into an empty folder."""
    work = _Work(source, folder, progress)
    parts = {"train": work.train()}
    parts |= {part: work.later(part) for part in PARTS[1:]}
    text = to_text(work.ids, work.counts.tolist())
    write_synced(folder / "vocabulary.tsv", text)
    metadata = Metadata(len(work.ids), hashlib.sha256(text).hexdigest(), parts)
    write_synced(folder / "corpus.json", metadata.to_json())


_Word = TypeVar("_Word", str, bytes)


class Numbers(dict[_Word, int]):
    """Gives the next number to a word that it has not met."""

    def __missing__(self, word: _Word) -> int:
        self[word] = number = len(self)
        return number


class _Work:
    """The vocabulary as it grows, and how far the reading has come."""

    def __init__(self, source: Source, folder: Path, progress: Progress | None) -> None:
        self.source, self.folder = source, folder
        self.passing = Passing(source, progress)
        self.ids = Numbers[str]()
        self.counts = np.zeros(0, dtype=np.int64)

    def train(self) -> Part:
        def encode(words: list[str]) -> NDArray[np.int32]:
            ids = np.fromiter(map(self.ids.__getitem__, words), DTYPE, len(words))
            if len(self.ids) > MOST_TYPES:
                raise too_many(self.source.texts["train"])
            counts = np.bincount(ids, minlength=len(self.ids))
            counts[: len(self.counts)] += self.counts
            self.counts = counts
            return ids

        part = self._part("train", encode)
        if UNK not in self.ids:
            self.ids[UNK] = len(self.ids)
            self.counts = np.append(self.counts, 0)
        return part

    def later(self, part: str) -> Part:
        def encode(words: list[str]) -> NDArray[np.int32]:
            return np.fromiter(map(self.ids.get, words, repeat(-1)), DTYPE, len(words))

        return self._part(part, encode)

    def _part(self, name: str, encode: Callable[[list[str]], NDArray[np.int32]]) -> Part:
        text = self.source.texts[name]
        watched = Watched(text, self.passing.of(name))
        lines = tokens = unknown = 0
        path = self.folder / f"{name}.bin"
        with open(path, "w+b") as file:
            for piece in pieces(text, watched.update):
                ids = encode(piece.words)
                unseen = ids < 0
                if unseen.any():
                    unknown += int(unseen.sum())
                    ids[unseen] = self.ids[UNK]
                file.write(ids.data)
                lines += piece.lines
                tokens += len(ids)
            sync(file)
            if tokens == lines:  # nothing but ends of lines
                what = "has no words" if tokens else "is empty"
                raise DataError(f"{text.label} {what}; every part needs some text")
            total = file.tell()
            checksum = sampled_checksum(lambda at, size: read_at(file, at, size), total)
        return Part(
            **asdict(watched.finish()),
            lines=lines,
            tokens=tokens,
            unknown=unknown,
            checksum=checksum,
        )


class Passing:
    """Tells how much of all files of some data has been read."""

    def __init__(self, source: Source, progress: Progress | None) -> None:
        self.total = sum(stamp_of(text).size for text in source.texts.values())
        self.done, self.progress = 0, progress

    def of(self, part: str) -> Callable[[int], None]:
        """What is to be told how many more bytes of a part were read."""

        def advance(size: int) -> None:
            self.done += size
            if self.progress is not None and self.total:
                self.progress(f"reading {part}", self.done, self.total)

        return advance


class Watched:
    """A file while it is read: its hash, and whether it stays as it is."""

    def __init__(self, text: Text, advance: Callable[[int], None]) -> None:
        self.text, self.advance = text, advance
        self.before, self.started = stamp_of(text), time.time_ns()
        self.digest = hashlib.sha256()

    def update(self, block: bytes) -> None:
        """Take in what was read."""
        self.digest.update(block)
        self.advance(len(block))

    def finish(self) -> Read:
        """What is to be kept about it.

        Raises:
            DataError: it was written to meanwhile.
        """
        size, time_ns = self.before.size, self.before.mtime_ns
        if stamp_of(self.text) != self.before:
            raise DataError(f"{self.text.label} was written to while it was read; try again")
        return Read(self.text.label, size, time_ns, self.digest.hexdigest(), self.started)


def too_many(text: Text) -> DataError:
    """The error for a text with more words than `MOST_TYPES`."""
    return DataError(
        f"{text.label}: more than {MOST_TYPES:,} different words; replace rare ones by <unk>, or "
        "cut words into smaller units"
    )


def sampled_checksum(read: Callable[[int, int], bytes], size: int) -> str:
    """A checksum that is quick for any size: of all bytes up to 16 MiB, beyond that of the head,
    the tail and 62 blocks between them."""
    digest = hashlib.sha256(size.to_bytes(8, "little"))
    if size <= _BLOCKS * _BLOCK_BYTES:
        digest.update(read(0, size))
    else:
        for block in range(_BLOCKS):
            digest.update(read((size - _BLOCK_BYTES) * block // (_BLOCKS - 1), _BLOCK_BYTES))
    return digest.hexdigest()


def write_synced(path: Path, data: bytes) -> None:
    """Write a new file and wait until the disk has it."""
    with open(path, "xb") as file:
        file.write(data)
        sync(file)


def read_at(file: BinaryIO, at: int, size: int) -> bytes:
    """Some bytes of a file."""
    file.seek(at)
    return file.read(size)


def stamp_of(text: Text) -> Stamp:
    """A text's size and time.

    Raises:
        DataError: there is no such file.
    """
    try:
        return text.stamp()
    except OSError as error:
        raise DataError(f"{text.label}: {reason(error)}") from None
