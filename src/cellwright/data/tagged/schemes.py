"""How spans are written as tags, and which scheme a file is written in.

| scheme | a span of one word | of three | also known as |
|---|---|---|---|
| IOB1 | I | I I I; the first is B right after a span of the same type | IOB |
| IOB2 | B | B I I | BIO |
| IOBES | S | B I E | BIOES; BIOLU and BILOU write L, U; BMEWO writes M, W; BMES writes M |
| plain | the label | three spans: each word is one, of its label's type | |

A tag is the letter, a hyphen, and the type, which may have hyphens itself; or the letter alone,
where all spans are of one type without a name. `O` is a word outside of all spans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cellwright.base.errors import did_you_mean, shown
from cellwright.data.errors import DataError
from cellwright.data.tagged.spans import (
    BEGIN,
    END,
    INSIDE,
    NO_TYPE,
    OUTSIDE,
    SINGLE,
    Marks,
    Numbers,
    Span,
    Spans,
    contradictions,
    find,
    mark,
)

SCHEMES = ("IOB1", "IOB2", "IOBES", "plain")
"""The ways to write spans."""

ALIASES = {
    "IOB": "IOB1",
    "BIO": "IOB2",
    **dict.fromkeys(("BIOES", "BIOLU", "BILOU", "BMEWO", "BMES"), "IOBES"),
}

_LETTERS = {
    "B": BEGIN, "I": INSIDE, "E": END, "S": SINGLE, "L": END, "U": SINGLE, "M": INSIDE, "W": SINGLE,
}  # fmt: skip
_KINDS = {
    "IOB1": (BEGIN, INSIDE),
    "IOB2": (BEGIN, INSIDE),
    "IOBES": (BEGIN, INSIDE, END, SINGLE),
    "plain": (SINGLE,),
}
_WRITTEN = {BEGIN: "B", INSIDE: "I", END: "E", SINGLE: "S"}


def scheme_named(name: str) -> str:
    """A scheme by one of its names.

    Raises:
        DataError: there is none.
    """
    known = {each.upper(): each for each in SCHEMES} | ALIASES
    if name.upper() not in known:
        hint = did_you_mean(name.upper(), known) or f"; it is one of {', '.join(SCHEMES)}"
        raise DataError(f"unknown scheme of tags {shown(name)}{hint}")
    return known[name.upper()]


def split_tag(tag: str, scheme: str | None = None) -> tuple[int, str] | None:
    """A tag's kind and type, or None if it is no tag of the scheme, or of any where none is given.

    >>> split_tag("B-creative-work"), split_tag("O"), split_tag("NN"), split_tag("NN", "plain")
    ((1, 'creative-work'), (0, ''), None, (4, 'NN'))
    """
    if scheme == "plain":
        return SINGLE, tag
    if tag == "O":
        return OUTSIDE, ""
    letter, hyphen, type = tag.partition("-")
    kind = _LETTERS.get(letter)
    if kind is None or (hyphen and not type) or (scheme and kind not in _KINDS[scheme]):
        return None
    return kind, type


def written(kind: int, type: str, scheme: str) -> str:
    """The tag of a word.

    >>> written(BEGIN, "PER", "IOB2"), written(OUTSIDE, "", "IOB2"), written(SINGLE, "NN", "plain")
    ('B-PER', 'O', 'NN')
    """
    if kind == OUTSIDE:
        return "O"
    if scheme == "plain":
        return type
    return f"{_WRITTEN[kind]}-{type}" if type else _WRITTEN[kind]


@dataclass(frozen=True)
class TagSet:
    """All tags of a scheme for some types, and their numbers.

    `O` is 0; the tags of each type follow in the order of the types, each as B, I, E, S as far as
    the scheme has them. A plain one has its types alone.

    >>> TagSet("IOB2", ("LOC", "PER")).names
    ('O', 'B-LOC', 'I-LOC', 'B-PER', 'I-PER')
    """

    scheme: str
    types: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The tags in the order of their numbers."""
        return tuple(
            written(kind, self.types[type] if type >= 0 else "", self.scheme)
            for kind, type in zip(self.kinds, self.tag_types, strict=True)
        )

    @cached_property
    def kinds(self) -> Numbers:
        """Each tag's kind."""
        outside = [] if self.scheme == "plain" else [OUTSIDE]
        return np.array(outside + len(self.types) * list(_KINDS[self.scheme]), np.int64)

    @cached_property
    def tag_types(self) -> Numbers:
        """Each tag's type, as its place in `types`; of `O`, −1."""
        outside = [] if self.scheme == "plain" else [NO_TYPE]
        each = np.repeat(np.arange(len(self.types)), len(_KINDS[self.scheme]))
        return np.array([*outside, *each], np.int64)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {name: id for id, name in enumerate(self.names)}

    @cached_property
    def _table(self) -> Numbers:
        """The number of the tag of each type and kind."""
        table = np.zeros((len(self.types) + 1, SINGLE + 1), np.int64)
        table[self.tag_types, self.kinds] = np.arange(len(self.kinds))
        return table

    def __getitem__(self, tag: str) -> int:
        """The number of a tag; a `KeyError` if there is no such tag."""
        return self._ids[tag]

    def __contains__(self, tag: object) -> bool:
        return tag in self._ids

    def encode(self, tags: Iterable[str]) -> NDArray[np.int32]:
        """The numbers of tags; a `KeyError` if there is no such tag."""
        return np.array([self._ids[tag] for tag in tags], np.int32)

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The tags with these numbers."""
        return [self.names[id] for id in ids]

    def marks(self, ids: NDArray[np.integer], offsets: NDArray[np.integer]) -> Marks:
        """Kinds and types of words from the numbers of their tags."""
        return Marks(self.kinds[ids], self.tag_types[ids], np.asarray(offsets, np.int64))

    def spans(self, ids: NDArray[np.integer], offsets: NDArray[np.integer]) -> Spans:
        """The spans of sentences whose tags have these numbers."""
        return find(self.marks(ids, offsets))

    def named(self, spans: Spans) -> list[Span]:
        """Spans one by one, with the names of their types."""
        rows = zip(*(column.tolist() for column in spans), strict=True)
        return [Span(start, end, self.types[type]) for start, end, type in rows]

    def ids(self, marks: Marks) -> NDArray[np.int32]:
        """The numbers of tags from kinds and types."""
        return self._table[marks.types, marks.kinds].astype(np.int32)


def _marks_of(tags: Sequence[str], scheme: str | None) -> tuple[Marks, list[str]]:
    types: dict[str, int] = {}
    kinds, numbers = [], []
    for tag in tags:
        found = split_tag(tag, scheme)
        if found is None:
            raise DataError(not_a_tag(tag, scheme))
        kind, type = found
        kinds.append(kind)
        numbers.append(NO_TYPE if kind == OUTSIDE else types.setdefault(type, len(types)))
    offsets = np.array([0, len(tags)])
    return Marks(np.array(kinds, np.int64), np.array(numbers, np.int64), offsets), list(types)


def not_a_tag(tag: str, scheme: str | None) -> str:
    """What is wrong with a tag."""
    known = "O, B-TYPE, I-TYPE, E-TYPE or S-TYPE"
    if scheme in ("IOB1", "IOB2"):
        known = "O, B-TYPE or I-TYPE"
    return f"{shown(tag)} is no tag of {scheme or 'any scheme'}, as {known}"


def spans_of(tags: Sequence[str], scheme: str | None = None) -> list[tuple[str, int, int]]:
    """The spans of one sentence: type, first word, and the position after the last.

    >>> spans_of(["B-PER", "I-PER", "I-LOC", "O", "I-LOC"])
    [('PER', 0, 2), ('LOC', 2, 3), ('LOC', 4, 5)]

    Raises:
        DataError: a tag is none of the scheme.
    """
    marks, types = _marks_of(tags, scheme)
    rows = zip(*(column.tolist() for column in find(marks)), strict=True)
    return [(types[type], start, end) for start, end, type in rows]


def convert(tags: Sequence[str], scheme: str, source: str | None = None) -> list[str]:
    """The tags of one sentence in another scheme, by way of its spans.

    >>> convert(["I-PER", "I-PER", "B-PER", "O"], "IOBES")
    ['B-PER', 'E-PER', 'S-PER', 'O']

    Raises:
        DataError: a tag is none of `source`, or there is no such scheme.
    """
    source = source and scheme_named(source)
    scheme = scheme_named(scheme)
    marks, types = _marks_of(tags, source)
    new = mark(find(marks), marks.offsets, scheme)
    return [
        written(int(kind), types[type] if type >= 0 else "", scheme)
        for kind, type in zip(new.kinds, new.types, strict=True)
    ]


class Recognition:
    """Which scheme tags are written in, as they are read a few sentences at a time.

    Tags with E or S (L, U, M, W) are IOBES. Others are IOB2 if no I begins a span, IOB1 if no B
    is there without need, and otherwise whichever of the two they contradict less often.
    """

    def __init__(self, given: str | None) -> None:
        self.given = given
        self.wrong = dict.fromkeys((given,) if given else SCHEMES[:3], 0)
        self.first: dict[str, str] = {}
        self.has_ends = False

    def add(self, marks: Marks, told: Callable[[int], str]) -> None:
        """Look at some more sentences; `told` gives words for what is wrong at one of theirs."""
        self.has_ends |= bool((marks.kinds >= END).any())
        for scheme in self.wrong:
            at = np.flatnonzero(contradictions(marks, scheme))
            self.wrong[scheme] += len(at)
            if len(at) and scheme not in self.first:
                self.first[scheme] = told(int(at[0]))

    @property
    def tells(self) -> bool:
        """Whether anything but O was read, or the scheme is given."""
        return bool(self.given or self.has_ends or self.wrong["IOB1"] or self.wrong["IOB2"])

    @property
    def scheme(self) -> str:
        """The scheme, as far as was read; IOB2 where nothing tells."""
        if self.given:
            return self.given
        if self.has_ends:
            return "IOBES"
        return "IOB1" if self.wrong["IOB1"] < self.wrong["IOB2"] else "IOB2"

    @property
    def count(self) -> int:
        """How many tags contradict that scheme."""
        return self.wrong[self.scheme]

    @property
    def example(self) -> str:
        """The first of them, in words; empty if there is none."""
        return self.first.get(self.scheme, "")
