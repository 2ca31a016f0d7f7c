"""Corpora of running text, sentences with tags (`tagged/`), sentences and pairs with labels
(`labelled/`): where they are, their tokens, how to get or make them.

May import `base/`, numpy, pydantic and pooch; no torch. Tokens are numpy arrays, mapped from files.
"""

from cellwright.data.batches import batchify
from cellwright.data.corpus import Corpus, load
from cellwright.data.errors import DataError
from cellwright.data.get import get
from cellwright.data.labelled_sets import LABELLED, KnownLabelled
from cellwright.data.registry import KNOWN, TAGGED, Known, KnownTagged
from cellwright.data.sources import PARTS
from cellwright.data.texts import Made, make
from cellwright.data.vocabulary import EOS, UNK, Vocabulary

__all__ = [
    "EOS",
    "KNOWN",
    "LABELLED",
    "PARTS",
    "TAGGED",
    "UNK",
    "Corpus",
    "DataError",
    "Known",
    "KnownLabelled",
    "KnownTagged",
    "Made",
    "Vocabulary",
    "batchify",
    "get",
    "load",
    "make",
]
