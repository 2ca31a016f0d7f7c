"""Whether two corpora are the same text."""

from __future__ import annotations

import hashlib

import numpy as np

from cellwright.data import PARTS, Corpus
from cellwright.data.cache import checksum_of


def fingerprint(corpus: Corpus) -> str:
    """A hash of the tokens and the vocabulary, wherever the text is.

    Of large parts only samples are read, as the token files' own checksums do; but the counts of
    all words are in the hash, so that hardly any change of the training text escapes.
    """
    words = corpus.vocabulary
    digest = hashlib.sha256("\n".join(words.tokens).encode("utf-8", "surrogateescape"))
    digest.update(words.counts.tobytes())
    for part in PARTS:
        digest.update(checksum_of(np.asarray(getattr(corpus, part))).encode())
    return digest.hexdigest()
