"""A stream of tokens as the columns of a batch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cellwright.data.errors import DataError


def batchify(tokens: NDArray[np.int32], batch: int) -> NDArray[np.int32]:
    """Cut a stream into `batch` streams of equal length, one a column; drop what is left over.

    The result has the shape (steps, batch), and it is a view: rows of a mapped file are read
    when they are used. Column b goes on where column b − 1 ends, so a state that is carried from
    row to row sees running text.

    >>> batchify(np.arange(11, dtype=np.int32), 3).tolist()
    [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
    """
    if batch < 1:
        raise DataError(f"a batch of {batch} has no columns; it has to be 1 or more")
    steps = len(tokens) // batch
    if steps < 2:
        raise DataError(
            f"{len(tokens):,} tokens are too few for a batch of {batch:,}: each column needs 2 "
            f"or more, so at least {2 * batch:,}; use a smaller batch or more text"
        )
    return tokens[: steps * batch].reshape(batch, steps).T
