"""From files to parts, in steps that hold no text.

Every file is read twice: once to see that it is text, how many lines it has and whether another is
the same; once to cut it into words, which go to a file for each part while those of train are
counted. Then the rare words in these files become `<unk>`. Only the counts of words are in memory.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import BinaryIO

from cellwright.base.errors import reason
from cellwright.base.files import write_whole
from cellwright.base.progress import Progress
from cellwright.base.signals import StopRequest
from cellwright.data.errors import DataError
from cellwright.data.sources import PARTS, Stamp, find_parts
from cellwright.data.texts.found import Found, is_bare
from cellwright.data.texts.lines import NotDecodedError, NotTextError, lines
from cellwright.data.texts.made import Made, Options, Part
from cellwright.data.texts.split import Blocks, by_file, by_share, is_even
from cellwright.data.texts.words import tokenizer
from cellwright.data.vocabulary import UNK

MOST_TYPES = 20_000_000
"""The most different words that are counted: a few GB of memory."""

_READ_BYTES = 2**18


class StoppedError(KeyboardInterrupt):
    """Ctrl-C or the signal TERM came; nothing was written."""

    def __init__(self, number: int) -> None:
        super().__init__("interrupted; nothing was written")
        self.signal = number


class Meter:
    """Says how far it is, and stops where stopping is safe."""

    def __init__(self, progress: Progress | None, stop: StopRequest) -> None:
        self.progress, self.stop = progress, stop
        self.what, self.done, self.total = "", 0, 0

    def start(self, what: str, total: int) -> None:
        self.what, self.done, self.total = what, 0, total
        self.advance(0)

    def advance(self, size: int) -> None:
        if self.stop.signal is not None:
            raise StoppedError(self.stop.signal)
        self.done += size
        if self.progress is not None and self.total:
            self.progress(self.what, min(self.done, self.total), self.total)


@dataclass
class _Text:
    """A file that was read once."""

    path: Path
    name: str
    stamp: Stamp
    lines: int
    size: int
    part: str = ""


class Work:
    """From files to parts, a step after the other."""

    def __init__(self, origin: Path, found: Found, options: Options, meter: Meter) -> None:
        self.origin, self.found, self.options, self.meter = origin, found, options, meter
        self.texts: list[_Text] = []
        self.source = hashlib.sha256()
        self.blocks: Blocks | None = None
        self.counts: Counter[str] = Counter()
        self.lines: dict[str, int] = dict.fromkeys(PARTS, 0)
        self.tokens: dict[str, int] = dict.fromkeys(PARTS, 0)
        self.files: dict[str, set[str]] = {part: set() for part in PARTS}

    # -- first reading ---------------------------------------------------------------------------

    def read_all(self) -> None:
        stamps = [_stamp(path) for path in self.found.files]
        self.meter.start("reading", sum(stamp.size for stamp in stamps))
        seen: set[bytes] = set()
        for path, stamp in zip(self.found.files, stamps, strict=True):
            read = self._read(path, stamp)
            if read is None:
                continue
            text, digest = read
            if not text.lines:
                self.found.skipped["empty"] += 1
            elif digest in seen:
                self.found.skipped["same as another"] += 1
            else:
                seen.add(digest)
                self.texts.append(text)
                self.source.update(os.fsencode(text.name) + b"\0" + digest)
        if not self.texts:
            raise DataError(f"{self.origin}: no text in it{_why_none(self.found.skipped)}")

    def _read(self, path: Path, stamp: Stamp) -> tuple[_Text, bytes] | None:
        """The file and a hash of its text; None if it is passed over."""
        named = path == self.origin
        name = path.name if named else path.relative_to(self.origin).as_posix()
        text, digest = _Text(path, name, stamp, 0, 0), hashlib.sha256()
        try:
            for few in lines(path, self.options.encoding, self.meter.advance):
                block = "\n".join(few)
                text.lines += len(few)
                text.size += len(block)
                digest.update(block.encode("utf-8", "surrogatepass") + b"\n")
        except NotTextError:
            if named:
                raise DataError(f"{path} is not text: it has NUL bytes") from None
            self.found.skipped["binary"] += 1
            return None
        except NotDecodedError:
            bare = is_bare(path) and not self.options.files
            if named or not (bare or self.options.skip_bad):
                raise
            self.found.skipped["binary" if bare else "of another encoding"] += 1
            return None
        return text, digest.digest()

    # -- which part ------------------------------------------------------------------------------

    def decide(self) -> None:
        """By file or by share; every text, or every block of lines, has its part then."""
        options, split = self.options, self.options.split
        if split != "share" and (split == "files" or len(self.texts) >= 3):
            names, sizes = [t.name for t in self.texts], [t.size for t in self.texts]
            parts = by_file(names, sizes, options.shares, options.seed)
            if split == "files" or is_even(parts, sizes, options.shares):
                for text, part in zip(self.texts, parts, strict=True):
                    text.part = part
                return
        total = sum(text.lines for text in self.texts)
        self.blocks = by_share(total, options.shares, options.seed)

    def _placed(self, text: _Text, first: int) -> Iterator[tuple[str, list[str]]]:
        """The lines of a text with their part; `first` is the number of its first line."""
        for few in lines(text.path, self.options.encoding, self.meter.advance):
            if self.blocks is None:
                yield text.part, few
                continue
            while few:
                end = self.blocks.until(first)
                here = few if end is None else few[: end - first]
                yield self.blocks.part(first), here
                few = few[len(here) :]
                first += len(here)

    # -- second reading --------------------------------------------------------------------------

    def write_words(self, folder: Path) -> None:
        """All words of each part into a file; count those of train."""
        cut = tokenizer(self.options.tokens, self.options.lower, self.options.numbers)
        self.meter.start("cutting", sum(text.stamp.size for text in self.texts))
        first = 0
        with ExitStack() as stack:
            outputs: dict[str, BinaryIO] = {
                part: stack.enter_context(open(_words_of(folder, part), "xb")) for part in PARTS
            }
            for text in self.texts:
                _check_same(text)
                for part, few in self._placed(text, first):
                    rows = [words for line in few for words in cut(line)]
                    joined = "".join(" ".join(words) + "\n" for words in rows)
                    outputs[part].write(joined.encode("utf-8", "replace"))
                    self._count(part, text, rows)
                _check_same(text)
                first += text.lines

    def _count(self, part: str, text: _Text, rows: list[list[str]]) -> None:
        self.files[part].add(text.name)
        self.lines[part] += len(rows)
        self.tokens[part] += sum(map(len, rows)) + len(rows)
        if part == "train":
            self.counts.update(chain.from_iterable(rows))
            if len(self.counts) > MOST_TYPES:
                raise DataError(
                    f"{self.origin}: more than {MOST_TYPES:,} different words; --lower, --numbers "
                    "or --tokens characters makes them fewer"
                )

    # -- what is rare ----------------------------------------------------------------------------

    def write_parts(self, folder: Path, where: str, started: float) -> Made:
        """The parts with rare words as `<unk>`, and `corpus.json`."""
        for part in PARTS:
            if self.tokens[part] == self.lines[part]:
                raise DataError(f"no words are left for {part}; more text is needed")
        self.counts.pop(UNK, None)
        read = len(self.counts)
        kept = most_frequent(self.counts, self.options.vocabulary - 2, self.options.least)
        files = [_words_of(folder, part) for part in PARTS]
        self.meter.start("writing", sum(path.stat().st_size for path in files))
        same = {word: word for word in kept}
        parts = {part: self._write_part(folder, part, same) for part in PARTS}
        made = Made(
            where=where,
            source=self.origin.absolute().name,
            source_sha256=self.source.hexdigest(),
            options=self.options,
            split="files" if self.blocks is None else "share",
            read=len(self.texts),
            skipped=dict(self.found.skipped),
            types=len(kept) + 2,
            types_read=read,
            frequent={word: kept[word] for word in list(kept)[:10]},
            parts=parts,
            seconds=time.perf_counter() - started,
            had_parts=self._had_parts(),
        )
        write_whole(folder / "corpus.json", made.to_bytes())
        return made

    def _had_parts(self) -> bool:
        try:
            find_parts([text.name for text in self.texts], "")
        except DataError:
            return False
        return True

    def _write_part(self, folder: Path, part: str, same: Mapping[str, str]) -> Part:
        digest, unknown = hashlib.sha256(), 0
        path = _words_of(folder, part)

        def blocks() -> Iterator[bytes]:
            nonlocal unknown
            with open(path, "rb") as file:
                while few := file.readlines(_READ_BYTES):
                    rows = []
                    for line in few:
                        words = list(map(same.get, line.decode("utf-8").split(), repeat(UNK)))
                        unknown += words.count(UNK)
                        rows.append(" ".join(words) + "\n")
                    block = "".join(rows).encode("utf-8")
                    digest.update(block)
                    self.meter.advance(sum(map(len, few)))
                    yield block

        write_whole(folder / f"{part}.txt", blocks())
        path.unlink()
        files, rows, tokens = len(self.files[part]), self.lines[part], self.tokens[part]
        return Part(files, rows, tokens, unknown, digest.hexdigest())


def most_frequent(counts: Mapping[str, int], most: int, least: int) -> dict[str, int]:
    """The most frequent words with their counts, the most frequent first; of two that are equally
    frequent, the one that comes first in Unicode's order.

    >>> most_frequent({"b": 2, "c": 5, "a": 2, "d": 1}, 2, 2)
    {'c': 5, 'a': 2}
    """
    ranked = sorted((-count, word) for word, count in counts.items() if count >= least)
    return {word: -count for count, word in ranked[:most]}


def _words_of(folder: Path, part: str) -> Path:
    return folder / f"{part}.words"


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError as error:
        raise DataError(f"cannot read {path}: {reason(error)}") from None
    return Stamp(status.st_size, status.st_mtime_ns)


def _check_same(text: _Text) -> None:
    if _stamp(text.path) != text.stamp:
        raise DataError(f"{text.path} was written to while it was read; try again")


def _why_none(skipped: Mapping[str, int]) -> str:
    if not skipped:
        return "; it has no files"
    there = ", ".join(f"{number:,} {why}" for why, number in sorted(skipped.items()))
    return f" ({there}); --files '*.py', for example, takes files with another ending"
