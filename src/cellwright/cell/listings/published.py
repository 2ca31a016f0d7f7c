"""Cells that papers printed, as listings."""

from __future__ import annotations

from cellwright.cell.listings.darts import DartsListing
from cellwright.cell.listings.enas import EnasListing
from cellwright.cell.listings.fenas import FenasListing, FenasNode

FENAS_LSTM = FenasListing(
    (
        FenasNode("sigmoid", "x", "h"),
        FenasNode("sigmoid", "x", "h"),
        FenasNode("tanh", "x", "h"),
        FenasNode("sigmoid", "x", "h"),
        FenasNode("mul", 2, "c"),
        FenasNode("mul", 1, 3),
        FenasNode("add", 5, 6),
        FenasNode("tanh*", 7),
        FenasNode("mul", 4, 8),
    ),
    c=7,
)
"""Nodes 1 to 4 are the gates i, f, g, o; 7 is c(t); 9 is h(t)."""

FENAS_GRU = FenasListing(
    (
        FenasNode("sigmoid", "x", "h"),
        FenasNode("sigmoid", "x", "h"),
        FenasNode("identity", "x"),
        FenasNode("identity", "h"),
        FenasNode("mul", 1, 4),
        FenasNode("add", 3, 5),
        FenasNode("tanh*", 6),
        FenasNode("sub", "h", 7),
        FenasNode("mul", 2, 8),
        FenasNode("add", 7, 9),
    )
)
"""Nodes 1 and 2 are the gates r and z; 7 is n; 10 is n + z·(h − n)."""


def _pairs(text: str) -> list[tuple[str, int]]:
    """`"relu0 tanh1"` as [("relu", 0), ("tanh", 1)]."""
    words = text.split()
    return [(w.rstrip("0123456789"), int(w[len(w.rstrip("0123456789")) :])) for w in words]


DARTS_V1 = DartsListing.of(_pairs("relu0 relu1 tanh2 relu3 relu4 identity1 relu5 relu1"))
DARTS_V2 = DartsListing.of(_pairs("sigmoid0 relu1 relu1 identity1 tanh2 sigmoid5 tanh3 relu5"))
ENAS = EnasListing(
    "tanh",
    tuple(
        (predecessor, op)
        for op, predecessor in _pairs(
            "tanh0 tanh1 relu1 tanh3 tanh3 relu3 relu4 relu7 relu8 relu8 relu8"
        )
    ),
)

_CODES = {"t": "tanh", "r": "relu", "i": "identity", "s": "sigmoid"}
_TABLE_6 = """
t 0r 0r 0r 0r 0r
t 0r 1r 2r 0r 2r
t 0r 1r 0i 0i 0i
i 0r 0s 0r 2r 1r
t 0r 0r 0i 0i 4r
i 0s 0r 0r 2r 3r
t 0t 0r 0t 3t 0t
t 0i 0t 0i 0i 0t
t 0t 0r 0t 0t 0t
t 0i 0t 0i 0t 0i
t 0t 0i 0t 0i 0i
r 0t 1s 0r 0s 0r
i 0i 1i 0s 3i 0s
s 0r 0s 0r 0r 0s
s 0i 0t 0t 0t 0t
s 0t 0t 0i 0i 0i
t 0s 1s 2r 3s 1s
t 0s 1s 0s 1s 2s
s 0s 0s 0r 0r 0s
r 0s 1s 0s 0s 0s
t 0i 0s 1t 2s 0t
s 0r 0s 0s 2i 0i
t 0s 0r 0r 2t 1i
s 0s 1t 1s 1s 1r
s 0t 0t 0i 0t 1i
i 0s 0i 0s 0s 4s
"""
"""A row for each architecture: node 0's operation, then input and operation of nodes 1 to 5."""


def _sentence_pair_listings() -> list[EnasListing]:
    rows = [row.split() for row in _TABLE_6.split("\n") if row]
    return [
        EnasListing(_CODES[row[0]], tuple((int(w[:-1]), _CODES[w[-1]]) for w in row[1:]))
        for row in rows
    ]


SENTENCE_PAIRS = tuple(_sentence_pair_listings())
"""The 26 cells of ENAS-pairs Table 6, in its order."""
