"""What was made from texts, and how: the contents of `corpus.json`, and a report for people."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cellwright.base.errors import did_you_mean
from cellwright.data.errors import DataError
from cellwright.data.registry import KNOWN
from cellwright.data.texts.found import FORMAT
from cellwright.data.texts.lines import check_encoding
from cellwright.data.texts.split import Shares
from cellwright.data.texts.words import TOKENS

SPLITS = ("files", "share")
"""The ways to split a text into parts."""

_MANY = 0.4
_LITTLE = 500


@dataclass(frozen=True)
class Options:
    """How texts become a corpus; `make` says what each means."""

    files: tuple[str, ...] = ()
    encoding: str = "utf-8"
    skip_bad: bool = False
    tokens: str = "words"
    lower: bool = False
    numbers: bool = False
    split: str | None = None
    valid: float = 0.1
    test: float = 0.1
    seed: int = 0
    vocabulary: int = 10_000
    least: int = 2

    def __post_init__(self) -> None:
        _check_one_of("tokens", self.tokens, TOKENS)
        if self.split is not None:
            _check_one_of("split", self.split, SPLITS)
        if self.vocabulary < 3:
            raise DataError(
                f"a vocabulary of {self.vocabulary} has no room for a word: <unk> and <eos> are "
                "two of its types; 10000 is usual"
            )
        if self.least < 1:
            raise DataError(f"a word cannot occur {self.least} times; least has to be 1 or more")
        if self.seed < 0:
            raise DataError(f"the seed is {self.seed}; it has to be 0 or more")
        if not all(self.files):
            raise DataError("a pattern of file names is empty; '*' stands for all files")
        check_encoding(self.encoding)
        _ = self.shares

    @property
    def shares(self) -> Shares:
        """What valid and test get."""
        return Shares(self.valid, self.test)


def _check_one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        hint = did_you_mean(value, known) or f"; it is one of {', '.join(known)}"
        raise DataError(f"{what} is {value!r}{hint}")


@dataclass(frozen=True)
class Part:
    """One part of a corpus. Its tokens have one `<eos>` a line; `unknown` of them are `<unk>`."""

    files: int
    lines: int
    tokens: int
    unknown: int
    sha256: str

    @property
    def unknown_share(self) -> float:
        """How many of its words, without ends of lines, are `<unk>`."""
        return self.unknown / max(1, self.tokens - self.lines)


@dataclass(frozen=True)
class Made:
    """A corpus that was made from texts."""

    where: str
    source: str
    source_sha256: str
    options: Options
    split: str
    read: int
    skipped: Mapping[str, int]
    types: int
    types_read: int
    frequent: Mapping[str, int]
    parts: Mapping[str, Part]
    seconds: float
    had_parts: bool = False
    """Had the folder train, valid and test text already?"""

    def to_json(self) -> dict[str, Any]:
        """What `corpus.json` says. It has no times and no paths of this machine: the same texts and
        options give the same file."""
        return {
            "format": FORMAT,
            "source": self.source,
            "source_sha256": self.source_sha256,
            "options": asdict(self.options),
            "split": self.split,
            "files": {"read": self.read, "skipped": dict(sorted(self.skipped.items()))},
            "types": self.types,
            "types_before_the_cut": self.types_read,
            "most_frequent": dict(self.frequent),
            "parts": {name: asdict(part) for name, part in self.parts.items()},
        }

    def to_bytes(self) -> bytes:
        """`corpus.json` as it is written."""
        text = json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"
        return text.encode("utf-8", "backslashreplace")  # a name may be no text

    def notes(self) -> Iterator[str]:
        """What to think of before using it."""
        if self.had_parts:
            yield (
                f"{self.source} had train, valid and test text, which is mixed and split anew; "
                "as it is, it is a corpus already: --data takes it"
            )
        if self.parts["train"].unknown_share > _MANY:
            share = 100 * self.parts["train"].unknown_share
            yield (
                f"{share:.0f}% of train's words are <unk>: --least 1, --lower or a larger "
                "--vocabulary keeps more"
            )
        few = [name for name, part in self.parts.items() if part.tokens < _LITTLE]
        if few:
            yield (
                f"there is little text in {', '.join(few)}: recipes may need a smaller batch, as "
                "--set training.batch=4"
            )

    def next_commands(self) -> list[str]:
        """What can be done with it."""
        path = self.where
        if path in KNOWN or path == "builtin" or path.startswith("-"):
            path = f"./{path}"  # or it would be the known corpus, or an option
        data = shlex.quote(path)
        return [
            f"cellwright train gru --data {data}",
            f"cellwright search ess-laptop --data {data}",
            f"cellwright compare lstm gru --data {data} -o comparison",
        ]
