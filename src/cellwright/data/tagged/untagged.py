"""Sentences that have no tags yet, from any bytes: lines of plain text, or columns.

Nothing is refused: what is no UTF-8 becomes `�`, and control characters are characters. Memory does
not depend on the size of the input: a line without end becomes several, and so does a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from cellwright.base.errors import shown
from cellwright.data.errors import DataError
from cellwright.data.tagged.words_of_text import words_of

LONGEST_LINE = 2**22
"""Bytes of the longest line."""

MOST_WORDS = 200_000
"""Words of the longest sentence."""

SPLITS: dict[str, Callable[[str], list[str]]] = {"words": words_of, "spaces": str.split}
"""How a line of text becomes words."""

_BOM = "\ufeff"
_DOCUMENT = "-DOCSTART-"


def lines_of(stream: BinaryIO) -> Iterator[str]:
    """The lines of a stream without their ends, as they come."""
    first = True
    while line := stream.readline(LONGEST_LINE):
        text = line.rstrip(b"\r\n").decode("utf-8", "replace")
        yield text.removeprefix(_BOM) if first else text
        first = False


def text_sentences(lines: Iterable[str], split: str = "words") -> Iterator[list[str]]:
    """Each line's words; none for an empty line.

    Args:
        lines: of plain text.
        split: one of `SPLITS`.
    """
    cut = SPLITS[split]
    for line in lines:
        words = cut(line)
        for at in range(0, max(1, len(words)), MOST_WORDS):
            yield words[at : at + MOST_WORDS]


def column_sentences(lines: Iterable[str], word: int = 1) -> Iterator[list[str]]:
    """The words of rows, sentences apart by empty lines; lines -DOCSTART- are left out.

    Args:
        lines: rows of columns, with white space between them.
        word: the words' column, from 1 on; negative numbers count from the last.

    Raises:
        DataError: a row has no such column.
    """
    if not word:
        raise DataError("columns are counted from 1 on, or from −1 from the last")
    sentence: list[str] = []
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if fields and fields[0] != _DOCUMENT:
            if len(fields) < abs(word):
                raise DataError(
                    f"line {number:,} has no column {word}: {shown(line)}; a row has the word in "
                    "that column, and an empty line ends a sentence"
                )
            sentence.append(fields[word - 1 if word > 0 else word])
        if sentence and (not fields or fields[0] == _DOCUMENT or len(sentence) >= MOST_WORDS):
            yield sentence
            sentence = []
    if sentence:
        yield sentence
