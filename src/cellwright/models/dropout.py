"""Dropouts that stand outside of a cell: those of AWD-LSTM (Merity et al. 2018, section 4), and the
same for sentences of different lengths.

Masks are drawn from torch's global generator, and so are all others, in a fixed order: a seed
decides them all.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from cellwright.engine.ragged import Ragged


def locked_dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """Drop features of each sequence of x (steps, batch, width), the same at every step."""
    if not training or p == 0:
        return x
    return x * F.dropout(x.new_ones(1, *x.shape[1:]), p)


def sentence_dropout(x: Tensor, p: float, ragged: Ragged, training: bool) -> Tensor:
    """Drop features of each sentence, the same at all of its words, of what `ragged` keeps."""
    if not training or p == 0:
        return x
    masks = F.dropout(x.new_ones(len(ragged.lengths), x.shape[1]), p)
    return x * masks.index_select(0, ragged.word_rows.to(x.device))


def embed(tokens: Tensor, embedding: nn.Embedding, p: float, training: bool) -> Tensor:
    """The vectors of `tokens`; words dropped with probability p are zero wherever they occur.

    One draw over the vocabulary serves the call, as if whole rows of the embedding matrix were
    removed and the others scaled up; but only the vectors that are looked up are touched.
    """
    vectors: Tensor = embedding(tokens)
    if not training or p == 0:
        return vectors
    words = F.dropout(vectors.new_ones(embedding.num_embeddings), p)
    return vectors.mul_(words[tokens].unsqueeze(-1))  # nobody else has seen these vectors
