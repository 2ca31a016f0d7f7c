"""Skip-gram with negative sampling (SGNS, Mikolov et al. 2013): word vectors of a corpus alone.

The baseline of NAS-Bench-NLP's evaluation of embeddings (section 4.2): gensim's word2vec, trained
on the same text as the language model. The paper names no settings; these are gensim's own, but
that no word is left out for being rare, since the language model has a vector for it too.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from cellwright.base.optional import require
from cellwright.data import EOS, Corpus, DataError
from cellwright.tasks.language.similarity import WordVectors

Watch = Callable[[int, int], None]
"""Called with how many words are read, and how many there are, over all epochs."""

LONGEST_LINE = 10_000
"""gensim silently leaves out what a line has beyond this; so longer lines are cut here."""


@dataclass(frozen=True)
class SkipGramSettings:
    """How SGNS is trained.

    Args:
        epochs: how often the text is read.
        window: the most words between a word and one that it predicts, plus one.
        negative: noise words for each word.
        least: how often a word has to occur.
        seed: decides the first vectors and every draw.
    """

    epochs: int = 5
    window: int = 5
    negative: int = 5
    least: int = 1
    seed: int = 0


def skip_gram(
    corpus: Corpus,
    dimensions: int,
    settings: SkipGramSettings | None = None,
    watch: Watch | None = None,
) -> WordVectors:
    """Vectors for the words of a corpus's training text. The same arguments, the same vectors.

    A line is a sentence, as it is for gensim. Needs gensim.
    """
    word2vec = require("gensim.models.word2vec", "SGNS")
    settings = SkipGramSettings() if settings is None else settings
    words = corpus.vocabulary
    counts = dict(zip(words, words.counts.tolist(), strict=True))
    ended = counts.pop(EOS)  # it ends a sentence, and is no word of one
    counts = {word: count for word, count in counts.items() if count}
    if max(counts.values(), default=0) < settings.least:
        raise DataError(f"SGNS: no word of {corpus.name} occurs {settings.least:,} times or more")
    model = word2vec.Word2Vec(
        vector_size=dimensions,
        sg=1,
        hs=0,
        negative=settings.negative,
        window=settings.window,
        min_count=settings.least,
        epochs=settings.epochs,
        workers=1,  # several would race
        seed=settings.seed,
        hashfxn=lambda word: zlib.crc32(word.encode()),  # Python's own hash is salted
    )
    model.build_vocab_from_freq(counts, corpus_count=len(_ends(corpus)))
    lines = _Lines(corpus, settings.epochs, watch)
    model.train(lines, total_words=len(corpus.train) - ended, epochs=settings.epochs)
    known = model.wv.index_to_key
    return WordVectors(
        f"SGNS on {corpus.name}",
        tuple(known),
        np.array([counts[word] for word in known], np.int64),
        np.asarray(model.wv.vectors, np.float32),
    )


class _Lines:
    """The training text as gensim reads it: once for each epoch, a list of words for each line."""

    def __init__(self, corpus: Corpus, epochs: int, watch: Watch | None) -> None:
        self._corpus, self._watch = corpus, watch
        self._total = len(corpus.train) * epochs
        self._done = 0

    def __iter__(self) -> Iterator[list[str]]:
        tokens, start = self._corpus.train, 0
        for end in _ends(self._corpus):
            for first in range(start, end, LONGEST_LINE):
                last = min(end, first + LONGEST_LINE)
                yield self._corpus.vocabulary.decode(tokens[first:last].tolist())
            if self._watch is not None:
                self._watch(self._done + end, self._total)
            start = end + 1
        self._done += len(tokens)


def _ends(corpus: Corpus) -> list[int]:
    """Where each line's `<eos>` is, and the text's end if its last line has none."""
    ends: list[int] = np.flatnonzero(corpus.train == corpus.vocabulary.eos).tolist()
    length = len(corpus.train)
    return ends if ends and ends[-1] == length - 1 else [*ends, length]
