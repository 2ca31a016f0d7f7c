"""What NAS-Bench-NLP's section 4.1 finds out about a table, one file for each figure of the paper.

All of them return a `Finding`; `report/analysis/` makes files and pictures of it.
"""

from cellwright.bench.analysis.distances import Distances, distances
from cellwright.bench.analysis.finding import Finding
from cellwright.bench.analysis.measures import Measures, measures
from cellwright.bench.analysis.prediction import Prediction, prediction
from cellwright.bench.analysis.ranks import Ranks, ranks
from cellwright.bench.analysis.scores import Scores, scores, similarity_baseline
from cellwright.bench.analysis.surrogates import Surrogates, surrogates
from cellwright.bench.analysis.transfer import Transfer, transfer

__all__ = [
    "Distances",
    "Finding",
    "Measures",
    "Prediction",
    "Ranks",
    "Scores",
    "Surrogates",
    "Transfer",
    "distances",
    "measures",
    "prediction",
    "ranks",
    "scores",
    "similarity_baseline",
    "surrogates",
    "transfer",
]
