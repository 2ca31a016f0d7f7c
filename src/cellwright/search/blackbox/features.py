"""graph2vec (Narayanan et al. 2017): cells as vectors, so that alike cells are near each other.

A cell is a document whose words are its Weisfeiler-Lehman subtree labels, and doc2vec (PV-DBOW)
embeds the documents. NAS-Bench-NLP uses such features of 10 and 50 dimensions (section 4).

The words are made here and not by networkx, whose hashes of directed graphs changed between its
releases: features are kept in files, and equal cells must have equal words for good.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from cellwright.base.optional import require
from cellwright.cell import Cell
from cellwright.spaces import Pool, Space
from cellwright.spaces.pool import Features
from cellwright.spaces.settings import SettingError, check_count

_TRIES_FOR_EACH = 100


def words(cell: Cell, depth: int = 2) -> list[str]:
    """The cell's subtree labels up to a depth, sorted; equal for equal graphs.

    The label of depth 0 is a node's operation with its attributes and what it is to the cell
    (a state, the output), or an input's name. The label of depth d + 1 is made of a node's own
    of depth d, of those that it reads, with their places where the order counts, and of those
    that read it.
    """
    labels = {name: f"input {name}" for name in cell.inputs}
    arcs: list[tuple[str, str, str]] = []
    for node in cell.nodes:
        parts = [node.op]
        given = node.spec.attributes
        parts += [f"{a}={getattr(node, a)}" for a in ("bias", "width") if a in given]
        parts += [f"h{i}" for i, state in enumerate(cell.states) if state == node.name]
        parts += ["output"] if cell.output == node.name else []
        labels[node.name] = " ".join(parts)
        places = ("" if node.spec.commutative else str(i) for i in range(len(node.inputs)))
        arcs += [(node.name, *arc) for arc in zip(node.inputs, places, strict=True)]
    found = list(labels.values())
    for _ in range(depth):
        around: dict[str, list[str]] = {name: [] for name in labels}
        for reader, source, place in arcs:
            around[reader].append(f"<{place} {labels[source]}")
            around[source].append(f">{place} {labels[reader]}")
        labels = {name: _digest([labels[name], *sorted(near)]) for name, near in around.items()}
        found += labels.values()
    return sorted(found)


def _digest(parts: Sequence[str]) -> str:
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()


def _fixed_hash(text: str) -> int:
    """A hash that is the same in every process: Python's own is salted."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")


class Graph2Vec:
    """Vectors learned for some cells, and inferred for others.

    The same cells give the same vectors, bit for bit, in whatever order they come and whatever
    their nodes are called. Needs gensim.

    >>> from cellwright import zoo
    >>> embed = Graph2Vec([zoo["lstm"], zoo["gru"], zoo["rnn"]], dimensions=10)  # doctest: +SKIP
    >>> embed.features.shape, embed(zoo["nbnlp-gru"]).shape  # doctest: +SKIP
    ((3, 10), (10,))

    Args:
        cells: what to learn from.
        dimensions: of a vector; 10 and 50 in NAS-Bench-NLP.
        depth: of the subtrees.
        epochs: how often doc2vec goes through all cells.
        seed: decides the first vectors and every draw.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        dimensions: int = 10,
        *,
        depth: int = 2,
        epochs: int = 20,
        seed: int = 0,
    ) -> None:
        owner = "graph2vec"
        check_count(owner, "dimensions", dimensions, 1, 10_000)
        check_count(owner, "depth", depth, 0, 100)
        check_count(owner, "epochs", epochs, 1, 10**6)
        check_count(owner, "seed", seed, 0, 2**32 - 1)
        if not cells:
            raise SettingError("graph2vec: there are no cells to learn from")
        self._depth, self._seed = depth, seed
        self._doc2vec = doc2vec = require("gensim.models.doc2vec", "graph2vec")
        by_id = {cell.id: cell for cell in cells}
        documents = [
            doc2vec.TaggedDocument(words(by_id[tag], depth), [tag]) for tag in sorted(by_id)
        ]
        self._model: Any = doc2vec.Doc2Vec(
            documents,
            vector_size=dimensions,
            dm=0,  # PV-DBOW: a document's words in no order
            min_count=1,
            sample=0,  # no words are left out: a cell has few
            workers=1,  # several would race
            epochs=epochs,
            seed=seed,
            hashfxn=_fixed_hash,
        )
        self._known = {tag: self._vector(self._model.dv[tag]) for tag in by_id}
        self.features: Features = np.stack([self._known[cell.id] for cell in cells])
        """A row for each of the cells."""

    def __call__(self, cell: Cell) -> Features:
        """The vector of a cell: the learned one, or one that is inferred."""
        if cell.id in self._known:
            return self._known[cell.id].copy()
        return self._inferred(words(cell, self._depth))

    def _inferred(self, document: list[str]) -> Features:
        """The vector that fits a new document best while the words' weights stay as they are.

        gensim's own `infer_vector` starts from Python's salted hash, whatever `hashfxn` says, and
        goes on with the draws of the call before, so its loop is written out here.
        """
        model = self._model
        model.random = np.random.RandomState(self._seed)
        start = np.random.default_rng([self._seed, _fixed_hash(" ".join(document))])
        size = model.vector_size
        vectors = ((start.random((1, size)) - 0.5) / size).astype(np.float32)
        for rate in np.linspace(model.alpha, model.min_alpha, model.epochs):
            self._doc2vec.train_document_dbow(
                model,
                document,
                [0],
                rate,
                np.zeros(size, dtype=np.float32),
                learn_words=False,
                learn_hidden=False,
                doctag_vectors=vectors,
                doctags_lockf=np.ones(1, dtype=np.float32),
            )
        return self._vector(vectors[0])

    @staticmethod
    def _vector(values: Any) -> Features:
        return np.asarray(values, dtype=np.float64)


def graph2vec(
    cells: Sequence[Cell],
    dimensions: int = 10,
    *,
    depth: int = 2,
    epochs: int = 20,
    seed: int = 0,
) -> Features:
    """Features of shape (cells, dimensions); see `Graph2Vec`."""
    return Graph2Vec(cells, dimensions, depth=depth, epochs=epochs, seed=seed).features


def draw_pool(space: Space, cells: int = 1000, dimensions: int = 10, *, seed: int = 0) -> Pool:
    """Different cells of a space, drawn at random, with graph2vec features.

    What methods that work on features search in, where the space itself is too large to list.
    A space that has fewer cells gives them all, or nearly so. Cells that surely cannot learn are
    among them, for the features' sake, but no method asks for one.
    """
    check_count("a pool", "cells", cells, 1, 10**7)
    rng = np.random.default_rng(seed)
    found: dict[str, Cell] = {}
    for _ in range(_TRIES_FOR_EACH * cells):
        if len(found) == cells:
            break
        cell = space.sample(rng)
        found.setdefault(cell.id, cell)
    drawn = list(found.values())
    return Pool(drawn, graph2vec(drawn, dimensions, seed=seed % 2**32), live_only=True)
