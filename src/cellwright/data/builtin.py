"""The corpus that is on every machine: the help topics that come with Python.

`pydoc_data.topics`, which Python's `help("for")` shows, is some hundred pages of English about
Python. It differs a little from one version of Python to the next, and so do the counts; for one
version everything here is fixed.

- A topic has sections: a title with a line of `*`, `=`, `-`, `~` or `^` under it. A section goes
  as a whole into one part, by a hash of its title: of ten sections about eight go into train and
  one each into valid and test. Some sections occur under two topics; their titles put both
  copies into the same part, so that no text of valid or test is in train.
- Every line that is not empty is a line of the corpus. Lines that only underline are left out.
- Words are in lower case, with an ending such as 's; what starts with a digit is `N`, as in Penn
  Treebank; other marks stand alone, and a run of one mark (`...`, `>>>`) is one word of at most
  three.
- A word that train has only once is `<unk>` everywhere.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from cellwright.data.vocabulary import UNK

VERSION = 1
"""Counts up when the rules above change, so that old token files are not used."""

LEAST_COUNT = 2

_UNDERLINE = re.compile(r"([*=\-~^])\1{2,}")
_WORD = re.compile(r"[^\W\d]\w*(?:['’][^\W\d]+)?|\d[\w.]*|([^\w\s])\1*")
_PART = {8: "valid", 9: "test"}


def tokenize(line: str) -> list[str]:
    """The words of a line.

    >>> " ".join(tokenize('The "for" statement’s 2nd form: "x += 1.5" ...'))
    'the " for " statement’s N form : " x + = N " ...'
    """
    words = []
    for found in _WORD.finditer(line.lower()):
        word = found.group()
        if word[0].isdigit():
            words.append("N")
        else:
            words.append(word[:3] if found.group(1) else word)
    return words


def texts(topics: Mapping[str, str] | None = None) -> dict[str, bytes]:
    """The three parts, tokenised, one line a line."""
    lines: dict[str, list[list[str]]] = {"train": [], "valid": [], "test": []}
    topics = _topics() if topics is None else topics
    for name in sorted(topics):
        for title, line in _titled_lines(topics[name]):
            words = tokenize(line)
            if words:
                lines[part_of(title)].append(words)
    counts = Counter(word for words in lines["train"] for word in words)
    return {
        part: "".join(
            " ".join(word if counts[word] >= LEAST_COUNT else UNK for word in words) + "\n"
            for words in found
        ).encode("utf-8")
        for part, found in lines.items()
    }


def fingerprint() -> str:
    """Tells one Python's topics, and one version of the rules, from another."""
    digest = hashlib.sha256(f"{VERSION}\n".encode())
    for name, text in sorted(_topics().items()):
        digest.update(f"{name}\0{text}\0".encode())
    return digest.hexdigest()


def part_of(title: str) -> str:
    """The part that a section with this title belongs to.

    >>> part_of('The "for" statement'), part_of("Primaries"), part_of("Conversions")
    ('train', 'valid', 'test')
    """
    digest = hashlib.sha256(f"builtin{title.lower()}".encode()).digest()
    return _PART.get(digest[0] % 10, "train")


def _titled_lines(topic: str) -> Iterator[tuple[str, str]]:
    """The lines of a topic, each with the title of its section."""
    title = ""
    lines = topic.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if _UNDERLINE.fullmatch(line.strip()):
            continue
        if line.strip() and not line[0].isspace() and _UNDERLINE.fullmatch(below.rstrip()):
            title = line.strip()
        yield title, line


def _topics() -> Mapping[str, str]:
    from pydoc_data.topics import topics

    return topics
