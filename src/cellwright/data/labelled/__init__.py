"""Sentences and pairs with labels or scores: GLUE, SICK, one's own files.

`load` is what others call; `read_examples` reads files without labels. May import what `data/` may,
and of `embeddings/` the files of encoders, for their word pieces.
"""

from cellwright.data.labelled.files import hidden_files, locate, looks_labelled
from cellwright.data.labelled.labelled import (
    Examples,
    Labelled,
    load,
    load_with,
    without_examples,
)
from cellwright.data.labelled.options import Options
from cellwright.data.labelled.targets import Target
from cellwright.data.labelled.tokenizers import EMPTY, Tokenizer
from cellwright.data.labelled.unlabelled import examples_of, read_examples
from cellwright.data.labelled_sets import LABELLED, Form, KnownLabelled

__all__ = [
    "EMPTY",
    "LABELLED",
    "Examples",
    "Form",
    "KnownLabelled",
    "Labelled",
    "Options",
    "Target",
    "Tokenizer",
    "examples_of",
    "hidden_files",
    "load",
    "load_with",
    "locate",
    "looks_labelled",
    "read_examples",
    "without_examples",
]
