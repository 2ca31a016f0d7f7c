"""What words become: pretrained vectors, frozen language models and encoders, characters.

May import `data/`, `spaces/`, `engine/`, `cell/` and `base/`. What is frozen is computed once, kept
in the cache folder and mapped into memory from there. Settings need no torch, so that recipes are
read without.
"""

from typing import TYPE_CHECKING, Any

from cellwright.embeddings.all_vectors import AllVectors
from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.vectors import WordVectors, word_vectors

if TYPE_CHECKING:
    from cellwright.embeddings.characters import (
        Alphabet,
        CharacterBatch,
        CharacterCell,
        CharacterCNN,
    )
    from cellwright.embeddings.flair_lm import CharacterModel, kept_states
    from cellwright.embeddings.pooled import WordMemory

__all__ = [
    "AllVectors",
    "Alphabet",
    "CharacterBatch",
    "CharacterCNN",
    "CharacterCell",
    "CharacterModel",
    "EmbeddingError",
    "WordMemory",
    "WordVectors",
    "kept_states",
    "word_vectors",
]

_NEEDS_TORCH = {
    **dict.fromkeys(("Alphabet", "CharacterBatch", "CharacterCNN", "CharacterCell"), "characters"),
    **dict.fromkeys(("CharacterModel", "kept_states"), "flair_lm"),
    "WordMemory": "pooled",
}


def __getattr__(name: str) -> Any:
    # torch takes a second to import, which those who only read settings need not wait for.
    if name in _NEEDS_TORCH:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_NEEDS_TORCH[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
