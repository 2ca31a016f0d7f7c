"""What words become: pretrained vectors, character language models, characters.

May import `data/`, `spaces/`, `engine/`, `cell/` and `base/`. What is frozen is computed once, kept
in the cache folder and mapped into memory from there.
"""

from cellwright.embeddings.characters import Alphabet, CharacterBatch, CharacterCell, CharacterCNN
from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.flair_lm import CharacterModel, kept_states
from cellwright.embeddings.pooled import WordMemory
from cellwright.embeddings.vectors import WordVectors, word_vectors

__all__ = [
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
