"""A cheap guess at how good a cell will be, from the cells that were trained so far.

Ridge regression from the words of a cell's graph (Weisfeiler-Lehman subtree labels, as graph2vec
has them) and its size to the rank of its loss. Ranks, since losses of cells that hardly learn are
far off, and infinite ones of those that diverged have a rank as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cellwright.cell import Cell
from cellwright.cell.measure import multiply_adds
from cellwright.search.blackbox.features import words

Floats = npt.NDArray[np.float64]

_DEPTH = 1
_PENALTY = 1.0


class Predictor:
    """Learns from cells and their losses.

    Args:
        cells: that were trained.
        losses: of each; infinite for one that diverged.
    """

    def __init__(self, cells: Sequence[Cell], losses: Sequence[float]) -> None:
        texts = [words(cell, _DEPTH) for cell in cells]
        vocabulary = sorted({word for text in texts for word in text})
        self._places = {word: place for place, word in enumerate(vocabulary)}
        rows = np.stack([self._row(cell, text) for cell, text in zip(cells, texts, strict=True)])
        self._center = rows.mean(0)
        self._scale = rows.std(0) + 1e-9
        known = (rows - self._center) / self._scale
        ranks = _ranks(losses)
        # the dual form: as many equations as cells, however many words there are
        gram = known @ known.T / known.shape[1] + _PENALTY * np.eye(len(cells)) / len(cells)
        self._known, self._weights = known, np.linalg.solve(gram, ranks - ranks.mean())

    def first(self, cells: Sequence[Cell]) -> int:
        """The place of the cell of the lowest predicted rank; the first of equals."""
        rows = np.stack([self._row(cell, words(cell, _DEPTH)) for cell in cells])
        scaled = (rows - self._center) / self._scale
        guesses = scaled @ self._known.T @ self._weights
        return int(np.argmin(np.round(guesses, 9)))

    def _row(self, cell: Cell, text: Sequence[str]) -> Floats:
        """How often each known word is in a cell, how many are not known, and its size."""
        row = np.zeros(len(self._places) + 3)
        for word in text:
            row[self._places.get(word, len(self._places))] += 1
        row[-2:] = math.log(1 + multiply_adds(cell, 1, 1)), math.log(cell.depth)
        return row


def _ranks(losses: Sequence[float]) -> Floats:
    """From 0 for the best to 1 for the worst; equal losses have equal ranks."""
    order = {loss: place for place, loss in enumerate(sorted(set(losses)))}
    return np.array([order[loss] for loss in losses], dtype=np.float64) / max(1, len(order) - 1)
