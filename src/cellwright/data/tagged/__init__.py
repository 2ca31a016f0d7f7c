"""Sentences whose words have tags, from column files: named entities, chunks, labels of words.

`load` is what others call; `schemes` and `spans` say what tags mean. May import what `data/` may.
"""

from cellwright.data.tagged.options import Options
from cellwright.data.tagged.schemes import SCHEMES, TagSet, convert, spans_of
from cellwright.data.tagged.spans import Span, Spans
from cellwright.data.tagged.tagged import Sentences, Tagged, load

__all__ = [
    "SCHEMES",
    "Options",
    "Sentences",
    "Span",
    "Spans",
    "TagSet",
    "Tagged",
    "convert",
    "load",
    "spans_of",
]
