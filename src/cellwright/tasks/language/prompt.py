"""A text that a user has typed, in the words of a language model; and words as running text.

A model knows words as its corpus had them: cut at punctuation or not, in lower case or not, with
`N` for numbers or not. A run does not say which of these it was, but its words do: each piece of a
prompt is cut in the way that leaves the fewest unknown words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cellwright.data.tagged.words_of_text import words_of
from cellwright.data.texts.words import SPACE, tokenizer
from cellwright.data.vocabulary import EOS, UNK, Vocabulary

LINE = "\n"
"""What `<eos>` is in running text."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class Prompt:
    """A text in the words of a model.

    Args:
        words: as the model knows them, `<unk>` for others, with one `<eos>` before the first line
            and one for each end of a line.
        unknown: what became `<unk>`, each once.
    """

    words: tuple[str, ...]
    unknown: tuple[str, ...]


def spells(vocabulary: Vocabulary) -> bool:
    """Whether the words of a model are characters, as `data make --tokens characters` has them."""
    return SPACE in vocabulary and all(
        len(word) == 1 for word in vocabulary if word not in (EOS, UNK)
    )


def read_prompt(text: str, vocabulary: Vocabulary) -> Prompt:
    """A text in the words of a model, behind the end of the line before it.

    >>> vocabulary = Vocabulary(["the", "cat", ",", "is", "n't", "N", "<eos>", "<unk>"], [1] * 8)
    >>> read_prompt("The cat, 3 dogs\\nisn't", vocabulary).words
    ('<eos>', 'the', 'cat', ',', 'N', '<unk>', '<eos>', 'is', "n't")
    """
    words: list[str] = []
    unknown: dict[str, None] = {}
    cut = _characters if spells(vocabulary) else _pieces
    for line in text.replace("\r\n", LINE).split(LINE):
        words.append(EOS)
        for word in cut(line, vocabulary):
            known = _known(word, vocabulary)
            words.append(UNK if known is None else known)
            if known is None:
                unknown[word] = None
    return Prompt(tuple(words), tuple(unknown))


def running_text(words: Iterable[str], characters: bool, begun: bool = False) -> Iterator[str]:
    """What to write for each word, as it comes: with the space before it, if there is one.

    >>> "".join(running_text(["a", "b", "\\n", "c"], characters=False))
    'a b\\nc'

    Args:
        words: words, and `\\n` for ends of lines.
        characters: whether each word is a character.
        begun: whether something stands before them in the same line.
    """
    for word in words:
        if characters:
            yield " " if word == SPACE else word
        else:
            yield f" {word}" if begun and word != LINE else word
        begun = word != LINE


def _characters(line: str, vocabulary: Vocabulary) -> list[str]:
    return list(re.sub(r"\s+", SPACE, line.lstrip()))


def _pieces(line: str, vocabulary: Vocabulary) -> Iterator[str]:
    by_rule = tokenizer("words", lower=False, numbers=False)

    def unknown(words: list[str]) -> tuple[int, bool]:
        found = sum(_known(word, vocabulary) is None for word in words)
        return found, found == len(words)  # a piece of which nothing is known stays whole

    for piece in line.split():
        yield from min([piece], *by_rule(piece), words_of(piece), key=unknown)


def _known(word: str, vocabulary: Vocabulary) -> str | None:
    """The word as the model has it: as it is, in lower case, or as a number."""
    number = "N" if _NUMBER.fullmatch(word) else word
    return next((form for form in (word, word.lower(), number) if form in vocabulary), None)
