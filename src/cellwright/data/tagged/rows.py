"""From a column file to numbers of words and tags: one pass, a few sentences in memory at a time.

A row is a word and its tags; a line with nothing but white space ends a sentence. What is written
are three files: the words' numbers, the tags' as `code` has them, and where sentences start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cellwright.base.errors import shown
from cellwright.data.byte_lines import blocks
from cellwright.data.errors import DataError
from cellwright.data.prepare import MOST_TYPES, Numbers, Read, Watched, too_many
from cellwright.data.sentence_files import SentenceFiles
from cellwright.data.sources import Text
from cellwright.data.tagged.options import Options, column
from cellwright.data.tagged.schemes import Recognition, not_a_tag, split_tag, written
from cellwright.data.tagged.spans import NO_TYPE, OUTSIDE, SINGLE, Marks
from cellwright.data.tagged.spans import Numbers as Array

BATCH = 2**18
"""Words in memory at a time, with the rest of the sentence that they end in."""

MOST_WORDS = 1_000_000
"""Words of the longest sentence."""

MOST_TAG_TYPES = 10_000
"""The most types of spans; beyond it the column is hardly one of tags."""

UNKNOWN = -1
"""How many columns a file has before its first row was read."""

_DOCUMENT = b"-DOCSTART-"
_KINDS = SINGLE + 1


def code(kind: int, type: int) -> int:
    """A kind and a type as one number, 0 for outside."""
    return kind + _KINDS * (type + 1)


def decoded(codes: Array, offsets: Array) -> Marks:
    """The inverse of `code`, for sentences."""
    return Marks(codes % _KINDS, codes // _KINDS - 1, offsets)


@dataclass(frozen=True)
class Found:
    """What was found in a file, beside its words. One with no tags but O has no scheme."""

    scheme: str
    contradictions: int
    example: str
    documents: int


class _TagError(Exception):
    """No tag; the message is what is wrong with it."""


class Codes(dict[bytes, int]):
    """The codes of tags as they are written. Types are numbered as they are met."""

    def __init__(self, scheme: str | None) -> None:
        super().__init__()
        self.scheme = scheme
        self.types = Numbers[str]()

    def __missing__(self, tag: bytes) -> int:
        text = tag.decode("utf-8")
        found = split_tag(text, self.scheme)
        if found is None:
            raise _TagError(not_a_tag(text, self.scheme))
        kind, type = found
        self[tag] = code(kind, NO_TYPE if kind == OUTSIDE else self.types[type])
        if len(self.types) > MOST_TAG_TYPES:
            raise _TagError(f"more than {MOST_TAG_TYPES:,} different tags")
        return self[tag]


@dataclass
class Rows:
    """A file as it is read: how far, and the sentences that are not written yet."""

    text: Text
    options: Options
    ids: Numbers[bytes]
    codes: Codes
    files: SentenceFiles
    words: list[int] = field(default_factory=list)
    tags: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=lambda: [0])
    lines: list[int] = field(default_factory=list)
    line: int = 0
    width: int = UNKNOWN
    documents: int = 0

    def __post_init__(self) -> None:
        self.recognition = Recognition(self.options.given_source)
        self.width = len(self.options.names) or UNKNOWN
        self.split = _tabs if self.options.separator == "tabs" else bytes.split

    def read(self, advance: Callable[[int], None]) -> tuple[Read, Found]:
        """Read the file from start to end."""
        watched = Watched(self.text, advance)
        for lines in blocks(self.text, watched.update):
            self._add(lines)
            if len(self.words) - self.ends[-1] > MOST_WORDS:
                raise DataError(
                    f"{self.text.label}: the sentence that begins on line {self.lines[-1]:,} has "
                    f"more than {MOST_WORDS:,} words; an empty line ends a sentence"
                )
            if len(self.words) > BATCH:
                self._write()
        self._end()
        self._write()
        if not self.files.words:
            what = "has no words" if watched.before.size else "is empty"
            raise DataError(f"{self.text.label} {what}; every part needs some sentences")
        return watched.finish(), self._found()

    def _found(self) -> Found:
        seen = self.recognition
        if self.options.strict and seen.count:
            raise DataError(
                f"{self.text.label}: {seen.example}: this is not {seen.scheme}; mend it, or leave "
                "out strict, and it is read as conlleval reads it"
            )
        scheme = seen.scheme if seen.tells else ""
        return Found(scheme, seen.count, seen.example, self.documents)

    def _add(self, lines: list[bytes]) -> None:
        word_at, tag_at = self.options.word_index, self.options.tag_index
        comment = self.options.comment.encode()
        special = (_DOCUMENT, comment) if comment else (_DOCUMENT,)
        split, ids, codes = self.split, self.ids, self.codes
        words, tags = self.words, self.tags
        begins, first = len(words) == self.ends[-1], self.line + 1
        for self.line, line in enumerate(lines, first):
            fields = split(line)
            if line.startswith(special):
                if line.startswith(_DOCUMENT):
                    self._document(fields)
                    begins = True
                    continue
                if begins:
                    continue
            if len(fields) != self.width and self._is_end(line, fields):
                self._end()
                begins = True
                continue
            if begins:
                self.lines.append(self.line)
                begins = False
            word = fields[word_at]
            if not word:
                raise DataError(f"{self._here()} has no word in {column(self.options.word)}")
            try:
                tags.append(codes[fields[tag_at]])
            except _TagError as error:
                raise self._wrong_tag(error) from None
            words.append(ids[word])

    def _is_end(self, line: bytes, fields: list[bytes]) -> bool:
        """Whether a line ends a sentence; if not, it is the first row, and has all columns."""
        if not line or not line.decode("utf-8").strip():
            return True
        found, names = len(fields), self.options.names
        columns = "1 column" if found == 1 else f"{found} columns"
        if self.width != UNKNOWN:
            why = f" ({' '.join(names)})" if names else ", as the rows before it"
            raise DataError(
                f"{self._here()} has {columns}, and should have {self.width}{why}: "
                f"{shown(line.decode('utf-8'))}"
            )
        places = [self.options.word_index, self.options.tag_index]
        least = max(index + 1 if index >= 0 else -index for index in places)
        if found < max(least, 2) or len({index % found for index in places}) < 2:
            raise DataError(
                f"{self._here()} has {columns}: {shown(line.decode('utf-8'))}; a row has the word "
                f"in {column(self.options.word)} and its tag in {column(self.options.tag)}, with "
                f"{self.options.separator} between columns"
            )
        self.width = found
        return False

    def _document(self, fields: list[bytes]) -> None:
        self._end()
        self.documents += 1
        if self.options.documents == "keep":
            self.lines.append(self.line)
            self.words.append(self.ids[fields[0]])
            self.tags.append(self.codes[b"O"])
            self._end()

    def _end(self) -> None:
        if len(self.words) > self.ends[-1]:
            self.ends.append(len(self.words))

    def _write(self) -> None:
        """Write all sentences that have ended, and keep the rest."""
        done = self.ends[-1]
        if not done:
            return
        if len(self.ids) > MOST_TYPES:
            raise too_many(self.text)
        words, codes, offsets = (
            np.array(each, np.int64) for each in (self.words[:done], self.tags[:done], self.ends)
        )
        self.recognition.add(decoded(codes, offsets), lambda at: self._told(at, offsets))
        self.files.append(words, codes, offsets)
        del self.words[:done], self.tags[:done], self.lines[: len(offsets) - 1]
        self.ends[:] = [0]

    def _told(self, at: int, offsets: Array) -> str:
        sentence = int(np.searchsorted(offsets, at, side="right")) - 1
        start, end = offsets[sentence], offsets[sentence + 1]
        after = self._tag(at - 1) if at > start else "the sentence's start"
        ending = ", at the sentence's end" if at + 1 == end else ""
        return f"line {self.lines[sentence] + at - start:,}: {self._tag(at)} after {after}{ending}"

    def _tag(self, at: int) -> str:
        kind, type = self.tags[at] % _KINDS, self.tags[at] // _KINDS - 1
        scheme = self.options.given_source or "IOBES"
        return written(kind, "" if type < 0 else list(self.codes.types)[type], scheme)

    def _here(self) -> str:
        return f"{self.text.label}: line {self.line:,}"

    def _wrong_tag(self, error: _TagError) -> DataError:
        return DataError(
            f"{self._here()}: {error}; is {column(self.options.tag)} that of the tags? "
            "(Labels of single words are read with the scheme plain.)"
        )


def _tabs(line: bytes) -> list[bytes]:
    return [field.strip() for field in line.split(b"\t")] if line.strip() else []
