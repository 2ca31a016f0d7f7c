"""What runs keep of the words that they learned from, and what is made of it again."""

from __future__ import annotations

import json
from collections.abc import Mapping

from cellwright.data.vocabulary import Vocabulary, from_rows, to_text
from cellwright.tasks.words.known_words import KnownWords

WORDS, CHARACTERS = "words.txt", "characters.txt"
"""Words and characters with their counts."""

EMBEDDINGS = "embeddings.json"
"""Hashes of the frozen models that words became features by, if there are any."""


def kept_words(words: Vocabulary, characters: Vocabulary, known: KnownWords) -> dict[str, bytes]:
    """The files."""
    files = {
        name: to_text(vocabulary.tokens, vocabulary.counts.tolist())
        for name, vocabulary in ((WORDS, words), (CHARACTERS, characters))
    }
    if known.identities:
        files[EMBEDDINGS] = json.dumps(known.identities).encode() + b"\n"
    return files


def restored_words(files: Mapping[str, bytes]) -> tuple[Vocabulary, Vocabulary]:
    """Words and characters."""
    return from_rows(files[WORDS]), from_rows(files[CHARACTERS])


def check_models(known: KnownWords, files: Mapping[str, bytes]) -> None:
    """Frozen models have to be those of the training: weights mean nothing with other features.

    Raises:
        ValueError: one is not.
    """
    kept = json.loads(files.get(EMBEDDINGS, b"{}"))
    if not isinstance(kept, dict):
        raise ValueError(f"{EMBEDDINGS} has no hashes")
    for name, identity in known.identities.items():
        if kept.get(name, identity) != identity:
            number, _, kind = name.partition("-")
            raise ValueError(
                f"embedding {int(number) + 1} ({kind}) is not what the run was trained with"
            )
