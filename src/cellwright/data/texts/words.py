r"""From a line of text to words. Three ways, and none knows a language.

- `words`: runs of letters, marks and digits, of any script. An apostrophe, a hyphen or a joiner
  between two letters or digits belongs to the word (`don't`, `well-known`), and so does a point or
  a comma between two digits (`3,000.5`). Every other character that is not white space is a word
  of its own, with the marks on it. Chinese, Japanese, Thai, Lao, Khmer and Burmese are written
  without spaces between words: there each letter is one.
- `spaces`: what stands between white space, as it is. An `<unk>` in the text is an unknown word,
  and an `<eos>` ends a line there: both mean what they mean in every corpus.
- `characters`: each character is a word, and `␣` stands for white space between two of them.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable

from cellwright.data.vocabulary import EOS, UNK

SPACE = "␣"
"""Stands for white space where each character is a word."""

LONGEST = 1_000
"""Characters of the longest word. What is longer is no word of a language, and becomes `<unk>`."""

TOKENS = ("words", "spaces", "characters")
"""The ways to cut a line into words."""

_SOLITARY = (
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46"  # Thai
    "\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd\u0ec0-\u0ec6\u0edc-\u0edf"  # Lao
    "\u1000-\u102a\u103f\u1050-\u1055\u105a-\u105d\u1061\u1065\u1066\u106e-\u1070"  # Burmese
    "\u1075-\u1081\u108e\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7a"
    "\u1780-\u17b3\u17d7\u17dc"  # Khmer
    "\u3005-\u3007\u3021-\u3029\u3031-\u303c\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese
)
"""Letters that are words: of scripts that are written without spaces."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def tokenizer(tokens: str, lower: bool, numbers: bool) -> Callable[[str], list[list[str]]]:
    """A function from a line of text to lines of words; nearly always to one, or none.

    >>> tokenizer("words", lower=True, numbers=True)("Don't pay 3,000.50 (or else)!")
    [["don't", 'pay', 'N', '(', 'or', 'else', ')', '!']]
    >>> tokenizer("spaces", lower=False, numbers=False)("a <unk> b. <eos> c")
    [['a', '<unk>', 'b.'], ['c']]
    >>> tokenizer("characters", lower=False, numbers=False)("To  be")
    [['T', 'o', '␣', 'b', 'e']]
    """
    ways: dict[str, Callable[[str], list[str]]] = {
        "words": _words().findall,
        "spaces": str.split,
        "characters": _characters,
    }
    cut = ways[tokens]
    written_out = tokens == "spaces"

    def lines(text: str) -> list[list[str]]:
        if lower:
            text = text.lower()
        if numbers:
            text = _NUMBER.sub("N", text)
        found = cut(text)
        if len(text) > LONGEST:
            found = [word if len(word) <= LONGEST else UNK for word in found]
        if written_out and EOS in found:
            return _ended(found)
        return [found] if found else []

    return lines


def _characters(text: str) -> list[str]:
    return list(SPACE.join(text.split()))


def _ended(words: list[str]) -> list[list[str]]:
    lines: list[list[str]] = [[]]
    for word in words:
        if word == EOS:
            lines.append([])
        else:
            lines[-1].append(word)
    return [line for line in lines if line]


@functools.cache
def _words() -> re.Pattern[str]:
    letter, mark = rf"[^\W_{_SOLITARY}]", f"[{marks()}]"
    run = f"{letter}+(?:{mark}+{letter}*)*"
    # Hyphens; apostrophes; the soft hyphen and the joiners that Persian and Indian scripts write.
    inner = "[-\u2010\u2011'\u2019\u02bc\u00ad\u200c\u200d]"
    return re.compile(rf"{run}(?:(?:{inner}|(?<=\d)[.,](?=\d)){run})*|\S{mark}*")


def marks() -> str:
    r"""All marks of Unicode, such as accents and vowel signs, as ranges for a regular expression:
    Python's `\w` has none of them, and would tear most scripts of India apart."""
    codes = [*range(0x300, 0x20000), *range(0xE0100, 0xE01F0)]  # nowhere else are any
    found = [code for code in codes if unicodedata.category(chr(code))[0] == "M"]
    ranges: list[list[int]] = []
    for code in found:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
