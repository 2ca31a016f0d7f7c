"""Any sentences side by side, as a model reads them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import torch

from cellwright.base.progress import Progress
from cellwright.data.vocabulary import Vocabulary
from cellwright.embeddings.pooled import WordMemory
from cellwright.models.words import WordBatch
from cellwright.tasks.words.features import NOT_POOLED, Rows, Source, Texts
from cellwright.tasks.words.pooling import Memories, full_width
from cellwright.tasks.words.spellings import Spellings


def any_words(
    sentences: Texts,
    vocabulary: Vocabulary,
    features: Sequence[Source],
    spellings: Spellings | None = None,
    before: Memories | None = None,
    progress: Progress | None = None,
    *,
    per_example: int = 1,
) -> WordBatch:
    """Any sentences side by side.

    Args:
        sentences: their words; each has some. Of pairs the first, the second, the first of the
            next pair, and so on.
        vocabulary: that of the model. Words that are not in it have the number behind its last.
        features: what is known of any word.
        spellings: how words are written, if that is wanted.
        before: what words were in the training part, for features that are pooled. To that each
            example adds its own words alone, so that it is read as it would be without others.
        progress: told while vectors are read for the first time.
        per_example: how many sentences belong together. The batch has all first ones side by side,
            and behind them all second ones.
    """
    lengths = [len(sentence) for sentence in sentences]
    steps, count, other = max(lengths), len(lengths), len(vocabulary)
    places = np.arange(count).reshape(per_example, -1).T.reshape(-1)
    columns = np.repeat(places, lengths)
    rows = np.concatenate([np.arange(length) for length in lengths])
    numbers = np.zeros((steps, count), np.int64)
    numbers[rows, columns] = [
        vocabulary.get(word, other) for sentence in sentences for word in sentence
    ]
    together = np.reshape(lengths, (-1, per_example)).sum(1).tolist()
    known = {}
    for each in features:
        padded = np.zeros((steps, count, full_width(each)), np.float32)
        found = each.rows(sentences, progress)
        if each.pooling != NOT_POOLED:
            keys = [vocabulary.get(word, word) for sentence in sentences for word in sentence]
            found = _with_pooled(each, found, keys, together, (before or {}).get(each.name))
        padded[rows, columns] = found
        known[each.name] = torch.from_numpy(padded)
    written = None
    if spellings is not None:
        whole = np.full((steps, count), "", object)
        whole[rows, columns] = [word for sentence in sentences for word in sentence]
        written = spellings.of(whole.reshape(-1).tolist())
    return WordBatch(
        torch.from_numpy(numbers),
        torch.tensor(lengths)[np.argsort(places)],
        known,
        written,
    )


def _with_pooled(
    source: Source,
    rows: Rows,
    words: Sequence[Hashable],
    lengths: Sequence[int],
    before: WordMemory | None,
) -> Rows:
    """Features with what their words were in front: in training, and in their own example."""
    found, start = [], 0
    for length in lengths:
        memory = WordMemory(source.width, source.pooling, before)
        end = start + length
        own = torch.from_numpy(np.asarray(rows[start:end], np.float32))
        found.append(memory.with_pooled(words[start:end], own).numpy())
        start = end
    return np.concatenate(found)
