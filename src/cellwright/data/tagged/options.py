"""How a column file is to be read: which columns, which scheme, what about documents."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cellwright.base.errors import did_you_mean, shown
from cellwright.data.errors import DataError
from cellwright.data.tagged.schemes import scheme_named

SEPARATORS = ("spaces", "tabs")
"""What is between columns: white space of any length, or one tab."""

DOCUMENTS = ("drop", "keep")
"""What becomes of lines that begin a document."""


@dataclass(frozen=True)
class Options:
    """How words and tags are read. Two sets of token files differ if any of this does.

    `word` and `tag` are names of `columns`, or numbers from 1 on; from −1 down they count from the
    last column.
    """

    columns: str = ""
    word: str | int = 1
    tag: str | int = -1
    separator: str = "spaces"
    comment: str = ""
    scheme: str = "IOBES"
    source: str = "auto"
    documents: str = "drop"
    strict: bool = False

    def __post_init__(self) -> None:
        for what, value, known in (
            ("separator", self.separator, SEPARATORS),
            ("documents", self.documents, DOCUMENTS),
        ):
            if value not in known:
                raise DataError(f"{what} is {shown(value)}; it is one of {', '.join(known)}")
        for name in ("word", "tag"):  # numbers from a command line
            if re.fullmatch(r"-?\d{1,6}", str(getattr(self, name))):
                object.__setattr__(self, name, int(getattr(self, name)))
        object.__setattr__(self, "scheme", scheme_named(self.scheme))
        if self.source != "auto":
            object.__setattr__(self, "source", scheme_named(self.source))
        if "plain" in (self.scheme, self.source) and self.scheme != self.source:
            if self.source != "auto" and self.scheme != "IOBES":
                raise DataError(
                    f"labels that are plain cannot be read as {self.source} and written as "
                    f"{self.scheme}; leave out one of the two"
                )
            object.__setattr__(self, "scheme", "plain")
            object.__setattr__(self, "source", "plain")
        names = self.names
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise DataError(f"columns has {shown(twice)} twice")
        word, tag = self._index("word", self.word), self._index("tag", self.tag)
        if word == tag:
            raise DataError(f"word and tag are the same column, {shown(self.word)}")

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return self.columns.split()

    @property
    def given_source(self) -> str | None:
        """The scheme that the tags are written in, if it is given."""
        return None if self.source == "auto" else self.source

    @property
    def word_index(self) -> int:
        """The words' place in a row, from 0 on, or from the end as in Python."""
        return self._index("word", self.word)

    @property
    def tag_index(self) -> int:
        """The tags' place in a row."""
        return self._index("tag", self.tag)

    def _index(self, what: str, column: str | int) -> int:
        names = self.names
        if isinstance(column, str) and column in names:
            return names.index(column)
        try:
            number = int(column)
        except ValueError:
            known = (
                did_you_mean(str(column), names) or f"; they are {', '.join(names)}"
                if names
                else "; give their names as columns='word pos ner', or a number from 1 on"
            )
            raise DataError(f"{what}: no column has the name {shown(column)}{known}") from None
        if number == 0:
            raise DataError(f"{what}: columns are counted from 1 on, or from −1 from the last")
        if names and not -len(names) <= number <= len(names):
            raise DataError(f"{what}: there is no column {number} of the {len(names)} in columns")
        index = number - 1 if number > 0 else number
        return index + len(names) if names and index < 0 else index


def column(which: str | int) -> str:
    """A column in words.

    >>> column(-1), column(2), column("ner")
    ('the last column', 'column 2', "column 'ner'")
    """
    return "the last column" if str(which) == "-1" else f"column {which!r}"
