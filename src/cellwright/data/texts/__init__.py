"""From files of text to a corpus: which files, their lines, their words, the parts.

`make` is the one function that others call. May import what `data/` may.
"""

from cellwright.data.texts.made import Made, Options
from cellwright.data.texts.make import make

__all__ = ["Made", "Options", "make"]
