"""Spans of words, from tags and back: all sentences of a part at once, by arrays.

A tag says where in a span a word stands (its kind: outside, begin, inside, end, single) and of what
type the span is. What spans a sequence of tags has, broken ones included, is what conlleval counts,
the script of the CoNLL shared tasks, in the form in which it also knows E and S:

- B and S begin a span;
- I and E begin one after O, after E or S, after a word of another type, and at a sentence's start;
  otherwise they go on with the span before them;
- a span goes on until O, the begin of another span, or the sentence's end.

So every word that is not O is in one span, and IOB1, IOB2 and IOBES are read by the same rules. The
Perl script itself has no S, and no end between an E and a B of the same type; of IOB1 and IOB2 the
spans here are those that it counts, of IOBES those of its common extension, seqeval's among them.
Sound tags have the same spans in all three schemes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

OUTSIDE, BEGIN, INSIDE, END, SINGLE = range(5)
"""The kinds of tags."""

NO_TYPE = -1
"""The type of a word that is outside."""

Numbers = NDArray[np.int64]


class Spans(NamedTuple):
    """Spans in the order of their words; `end` is the position after the last word."""

    start: Numbers
    end: Numbers
    type: Numbers


class Span(NamedTuple):
    """One span of a sentence: the words from `start` up to, but not with, `end`."""

    start: int
    end: int
    type: str


class Marks(NamedTuple):
    """Each word's kind and type, the sentences one after another; `offsets` are their starts, and
    at last the number of words."""

    kinds: Numbers
    types: Numbers
    offsets: Numbers


def before(marks: Marks) -> tuple[Numbers, Numbers]:
    """The kind and the type of the word before each; at a sentence's start, of one outside."""
    kinds, types = np.roll(marks.kinds, 1), np.roll(marks.types, 1)
    starts = marks.offsets[:-1]
    starts = starts[starts < len(kinds)]  # of empty sentences at the end
    kinds[starts], types[starts] = OUTSIDE, NO_TYPE
    return kinds, types


def find(marks: Marks) -> Spans:
    """The spans that tags mark."""
    kinds, types, _ = marks
    kinds_before, types_before = before(marks)
    goes_on = ((kinds_before == BEGIN) | (kinds_before == INSIDE)) & (types == types_before)
    begins = (kinds == BEGIN) | (kinds == SINGLE)
    begins |= ((kinds == INSIDE) | (kinds == END)) & ~goes_on
    start = np.flatnonzero(begins)
    edges = np.append(np.flatnonzero(begins | (kinds == OUTSIDE)), len(kinds))
    end = edges[np.searchsorted(edges, start, side="right")]
    return Spans(start, end, types[start])


def mark(spans: Spans, offsets: Numbers, scheme: str) -> Marks:
    """The tags that mark spans in a scheme: IOB1, IOB2, IOBES, or plain (each word a span)."""
    words = int(offsets[-1])
    kinds, types = np.full(words, OUTSIDE), np.full(words, NO_TYPE)
    start, end, type = spans
    lengths = end - start
    inside = np.repeat(start - np.append(0, np.cumsum(lengths)[:-1]), lengths) + np.arange(
        lengths.sum()
    )
    kinds[inside], types[inside] = INSIDE, np.repeat(type, lengths)
    if scheme == "IOB1":
        marks = Marks(np.where(kinds == OUTSIDE, OUTSIDE, INSIDE), types, offsets)
        _, types_before = before(marks)
        kinds[start[types_before[start] == type]] = BEGIN
    else:
        kinds[start] = BEGIN
    if scheme in ("IOBES", "plain"):
        kinds[(end - 1)[lengths > 1]] = END
        kinds[start[lengths == 1]] = SINGLE
    return Marks(kinds, types, offsets)


def contradictions(marks: Marks, scheme: str) -> NDArray[np.bool_]:
    """Which words' tags cannot follow the one before them in a scheme, or cannot end a sentence."""
    kinds, types, offsets = marks
    kinds_before, types_before = before(marks)
    wrong: NDArray[np.bool_] = np.zeros(len(kinds), np.bool_)
    other = (types != types_before) | (kinds_before == OUTSIDE)
    if scheme in ("IOB1", "IOB2"):
        wrong |= (kinds == (BEGIN if scheme == "IOB1" else INSIDE)) & other
    elif scheme == "IOBES":
        is_open = (kinds_before == BEGIN) | (kinds_before == INSIDE)
        goes_on = (kinds == INSIDE) | (kinds == END)
        wrong |= (is_open != goes_on) | (is_open & goes_on & other)
        last = offsets[1:][np.diff(offsets) > 0] - 1
        wrong[last] |= (kinds[last] == BEGIN) | (kinds[last] == INSIDE)
    return wrong
