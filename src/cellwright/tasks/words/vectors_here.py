"""Which recipe fits what is on this machine."""

from __future__ import annotations

from collections.abc import Mapping

from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.vector_names import find_vectors

VECTORS = ("glove-100d", "glove-50d")
"""The vectors that recipes for laptops need, if any."""


def suggested(data: str, with_vectors: Mapping[str, str], otherwise: str) -> str:
    """The recipe with pretrained vectors for some data, if they are here, or the one without."""
    try:
        for vectors in VECTORS:
            find_vectors(vectors)
    except EmbeddingError:
        return otherwise
    return with_vectors.get(data, otherwise)
