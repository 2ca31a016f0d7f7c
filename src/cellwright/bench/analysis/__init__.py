"""What NAS-Bench-NLP's section 4.1 finds out about a table, each as a table and a figure.

One file for each figure of the paper. All of them return a `Finding`, which `write` puts into
files.
"""

from cellwright.bench.analysis.distances import distances
from cellwright.bench.analysis.finding import Finding, write
from cellwright.bench.analysis.measures import measures
from cellwright.bench.analysis.prediction import prediction
from cellwright.bench.analysis.ranks import ranks
from cellwright.bench.analysis.surrogates import surrogates
from cellwright.bench.analysis.transfer import transfer

__all__ = [
    "Finding",
    "distances",
    "measures",
    "prediction",
    "ranks",
    "surrogates",
    "transfer",
    "write",
]
