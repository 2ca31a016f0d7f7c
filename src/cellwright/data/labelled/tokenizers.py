"""A sentence as words, in the ways that a setting can ask for.

| name | what a word is |
|---|---|
| `words` | as `data/tagged/words_of_text.py` has it |
| `spaces` | what stands between white space |
| `spacy` | what spaCy's rules for English make of it; no model is needed |
| `pieces` | a piece of the encoder's own vocabulary |
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cellwright.base.optional import require
from cellwright.data.labelled.options import Options
from cellwright.data.tagged.words_of_text import words_of

EMPTY = "<empty>"
"""The one word of a sentence without words."""

WORDS_VERSION = 1
"""Counts up when the rules of `words_of` change, so that old token files are not used."""

Split = Callable[[Sequence[str]], list[list[str]]]


@dataclass(frozen=True)
class Tokenizer:
    """Cuts sentences into words as options say."""

    options: Options

    @cached_property
    def identity(self) -> str:
        """What tells its words from those of another one.

        Raises:
            MissingPackageError: a package that it needs is not installed.
            EmbeddingError: there is no such encoder.
        """
        kind = self.options.tokenizer
        if kind == "words":
            return f"words {WORDS_VERSION}"
        if kind == "spacy":
            try:
                return f"spacy {importlib.metadata.version('spacy')}"
            except importlib.metadata.PackageNotFoundError:
                _spacy()
        if kind == "pieces":
            from cellwright.embeddings.encoder_files import find_encoder, tokenizer_fingerprint

            return f"pieces {tokenizer_fingerprint(find_encoder(self.options.encoder))}"
        return kind

    @cached_property
    def _split(self) -> Split:
        kind, lower = self.options.tokenizer, self.options.lower
        if kind == "pieces":
            return _pieces(self.options.encoder, lower)
        cut: Callable[[str], list[str]] = str.split
        if kind == "words":
            cut = words_of
        elif kind == "spacy":
            cut = _spacy()
        if lower:
            return lambda texts: [[word.lower() for word in cut(text)] for text in texts]
        return lambda texts: [cut(text) for text in texts]

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        """The words of each sentence, as many as it has; white space of any kind is a space.

        >>> Tokenizer(Options(lower=True))(["Isn't it  odd?", ""])
        [['is', "n't", 'it', 'odd', '?'], []]
        """
        return self._split([" ".join(text.split()) for text in texts])

    def limited(self, texts: Sequence[str]) -> list[list[str]]:
        """The words that a model is given: at most `longest`, and at least `<empty>`.

        >>> Tokenizer(Options(longest=2)).limited(["Isn't it odd?", ""])
        [['Is', "n't"], ['<empty>']]
        """
        end = self.options.longest or None
        return [words[:end] or [EMPTY] for words in self(texts)]


def _spacy() -> Callable[[str], list[str]]:
    spacy = require("spacy", "the tokenizer 'spacy'", "sentences")
    tokenizer = spacy.blank("en").tokenizer
    return lambda text: [token.text for token in tokenizer(text)]


def _pieces(encoder: str, lower: bool) -> Split:
    from cellwright.embeddings.encoder_files import find_encoder, read_tokenizer

    tokenizer: Any = read_tokenizer(find_encoder(encoder))

    def split(texts: Sequence[str]) -> list[list[str]]:
        given = [text.lower() for text in texts] if lower else list(texts)
        found = tokenizer(given, add_special_tokens=False, verbose=False)
        return [list(found.tokens(number)) for number in range(len(given))]

    return split
