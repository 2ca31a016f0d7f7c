"""`Pool`: some cells as a space, with features that say which of them are alike."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cellwright.cell import Cell
from cellwright.spaces.settings import check_word
from cellwright.spaces.space import Interval, Space, SpaceError, Value, require

Features = npt.NDArray[np.float64]

DISTANCES = ("cosine", "euclidean")
_FIRST_NOISE = 0.5
_MOST_NOISE = 2.0**40


class Pool(Space):
    """A list of different cells with a row of features for each.

    Methods that work on features choose among these cells: a sample of a large space, or all
    cells of a benchmark's table. As in NAS-Bench-NLP section 5, a point of feature space stands
    for the nearest cell, so every method runs on a pool.

    Args:
        cells: the cells, all different.
        features: an array of shape (cells, dimensions), graph2vec's or others; without them
            the pool can be sampled from, but not moved in.
        distance: what nearest means: `"cosine"`, as the release compares graph2vec features,
            or `"euclidean"`.
        live_only: whether cells that surely cannot learn are left out of searches. Not so for
            cells that somebody chose, or for which a table has losses.
    """

    name: ClassVar[str] = "pool"

    def __init__(
        self,
        cells: Sequence[Cell],
        features: npt.ArrayLike | None = None,
        distance: str = "cosine",
        live_only: bool = False,
    ) -> None:
        self.cells = tuple(cells)
        self.live_only = live_only
        self.distance = check_word(self.title, "distance", distance, DISTANCES)
        self._places = {cell.id: place for place, cell in enumerate(self.cells)}
        if not self.cells:
            raise SpaceError("a pool needs at least one cell")
        if len(self._places) < len(self.cells):
            raise SpaceError("a pool's cells must be different, but some have the same id")
        self._features = None if features is None else self._checked(features)

    def _checked(self, features: npt.ArrayLike) -> Features:
        try:
            array = np.asarray(features, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise SpaceError(f"a pool's features must be numbers: {error}") from None
        if array.ndim != 2 or len(array) != len(self.cells) or array.shape[1] < 1:
            raise SpaceError(
                f"a pool's features must be one row for each of its {len(self.cells)} cells, "
                f"but have the shape {array.shape}"
            )
        if not np.isfinite(array).all():
            raise SpaceError("a pool's features must be finite numbers")
        return array

    @property
    def features(self) -> Features:
        """The features, one row for each cell."""
        if self._features is None:
            raise SpaceError("this pool has no features; give them to `Pool(cells, features)`")
        return self._features

    def place(self, cell: Cell) -> int:
        """Where in the list the cell stands."""
        require(self, cell)
        return self._places[cell.id]

    def nearest(self, point: npt.ArrayLike, without: Sequence[int] = ()) -> int:
        """The place of the cell whose features are nearest to `point`; the first of equals.

        Cells at the places `without` do not count.
        """
        target = np.asarray(point, dtype=np.float64)
        features = self.features
        if self.distance == "cosine":
            lengths = np.linalg.norm(features, axis=1) * np.linalg.norm(target)
            products = features @ target
            far = 1 - np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
        else:
            far = np.linalg.norm(features - target, axis=1)
        far[list(without)] = np.inf
        return int(far.argmin())

    # -- as a space --------------------------------------------------------------------

    def sample(self, rng: np.random.Generator) -> Cell:
        """Each cell is as likely as every other."""
        return self.cells[int(rng.integers(len(self.cells)))]

    def mutate(self, cell: Cell, rng: np.random.Generator) -> Cell:
        """The cell nearest to this one's features plus noise.

        The noise has a standard deviation of 0.5, doubled until the nearest cell is another,
        and the point stays within the range of the features.
        """
        place = self.place(cell)
        if len(self.cells) == 1:
            raise SpaceError("a pool of one cell has no other cell to go to")
        features = self.features
        low, high = features.min(axis=0), features.max(axis=0)
        noise = _FIRST_NOISE
        while noise < _MOST_NOISE:
            moved = features[place] + noise * rng.standard_normal(features.shape[1])
            found = self.nearest(np.clip(moved, low, high))
            if found != place:
                return self.cells[found]
            noise *= 2
        return self.cells[self.nearest(features[place], without=[place])]  # features all alike

    def contains(self, cell: Cell) -> bool:
        return cell.id in self._places

    def wanted(self, cell: Cell) -> bool:
        return not self.live_only or super().wanted(cell)

    @cached_property
    def unwanted(self) -> frozenset[int]:
        """The places of the cells that no search should train."""
        return frozenset(i for i, cell in enumerate(self.cells) if not self.wanted(cell))

    def size(self) -> int:
        return len(self.cells)

    def distinct_size(self) -> int:
        return len(self.cells)

    def choices(self) -> Mapping[str, Interval] | None:
        """A number for each dimension of the features, within their range."""
        if self._features is None:
            return None
        low, high = self._features.min(axis=0), self._features.max(axis=0)
        return {
            _dimension(i): Interval(float(a), float(b))
            for i, (a, b) in enumerate(zip(low, high, strict=True))
        }

    def decode(self, values: Mapping[str, Value]) -> Cell:
        """The cell nearest to the point."""
        names = map(_dimension, range(self.features.shape[1]))
        return self.cells[self.nearest([float(values[name]) for name in names])]

    def known(self) -> dict[str, Cell]:
        return {cell.name: cell for cell in self.cells if cell.name}

    def settings(self) -> dict[str, Any]:
        """How many cells there are and a hash of them: the cells themselves are not settings."""
        return {"cells": len(self.cells), "digest": self._digest, "distance": self.distance}

    @cached_property
    def _digest(self) -> str:
        found = hashlib.sha256(" ".join(self._places).encode())
        if self._features is not None:
            found.update(self._features.tobytes())
        return found.hexdigest()[:16]


def _dimension(number: int) -> str:
    """The name of a dimension of the features, as the release's files have it."""
    return f"v{number:02d}"
