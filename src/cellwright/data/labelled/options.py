"""How sentences with labels are to be read: which parts, which columns, what a word is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cellwright.base.errors import did_you_mean, shown
from cellwright.data.errors import DataError

TOKENIZERS = ("words", "spaces", "spacy", "pieces")
"""What cuts a sentence into words."""

WAYS = ("official", "dev-as-test", "dev-alone")
"""How files become train, valid and test."""

SEPARATORS = ("auto", "tabs", "commas", "semicolons", "json")
"""What is between columns; `auto` goes by the file's ending."""


@dataclass(frozen=True)
class Options:
    """How sentences and labels are read. Two sets of token files differ if any of this does.

    Columns are names, or numbers from 1 on; an empty name is one of the usual.
    """

    tokenizer: str = "words"
    encoder: str = ""
    lower: bool = False
    longest: int = 0
    most_words: int = 0
    parts: str = "auto"
    valid: str = "file"
    mismatched: bool = False
    first: str | int = ""
    second: str | int = ""
    label: str | int = ""
    separator: str = "auto"
    score: bool | None = None

    def __post_init__(self) -> None:
        for what, known in (
            ("tokenizer", TOKENIZERS),
            ("parts", ("auto", *WAYS)),
            ("valid", ("file", "cut")),
            ("separator", SEPARATORS),
        ):
            value = getattr(self, what)
            if value not in known:
                hint = did_you_mean(str(value), known) or f"; it is one of {', '.join(known)}"
                raise DataError(f"{what} is {shown(value)}{hint}")
        for what in ("longest", "most_words"):
            if getattr(self, what) < 0:
                raise DataError(f"{what} is {getattr(self, what)}; it is 0, no limit, or more")
        if self.tokenizer == "pieces" and not self.encoder:
            raise DataError("the tokenizer 'pieces' needs encoder, the folder or name of one")
        if self.encoder and self.tokenizer != "pieces":
            raise DataError("encoder is for the tokenizer 'pieces'")
        for name in ("first", "second", "label"):  # numbers from a command line
            value = getattr(self, name)
            if re.fullmatch(r"-?\d{1,6}", str(value)):
                if int(value) < 1:
                    raise DataError(f"{name} is {value}; columns are counted from 1 on")
                object.__setattr__(self, name, int(value))

    @property
    def columns(self) -> dict[str, str | int]:
        """The columns that are said."""
        said = {name: getattr(self, name) for name in ("first", "second", "label")}
        return {name: value for name, value in said.items() if value != ""}
