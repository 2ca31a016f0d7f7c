"""The tabular benchmark: one file of trained architectures, simulated training on it, analysis.

May import everything below it (`trials/` and further down), and `search/` beside it.
"""

from cellwright.bench.assembling import assemble
from cellwright.bench.benchmark import Benchmark, UnknownArchitectureError
from cellwright.bench.environment import Best, Environment, Metrics
from cellwright.bench.errors import BenchError
from cellwright.bench.evaluator import Evaluator, nearest, predicted
from cellwright.bench.feature_files import attach_features
from cellwright.bench.file import load, save
from cellwright.bench.importing import Imported, import_logs
from cellwright.bench.pool import embedding, pool_of
from cellwright.bench.runs import CURVES, STATUSES, Architecture, Run
from cellwright.bench.surrogate import Surrogate, SurrogateError, cross_validate, fit_surrogate

__all__ = [
    "CURVES",
    "STATUSES",
    "Architecture",
    "BenchError",
    "Benchmark",
    "Best",
    "Environment",
    "Evaluator",
    "Imported",
    "Metrics",
    "Run",
    "Surrogate",
    "SurrogateError",
    "UnknownArchitectureError",
    "assemble",
    "attach_features",
    "cross_validate",
    "embedding",
    "fit_surrogate",
    "import_logs",
    "load",
    "nearest",
    "pool_of",
    "predicted",
    "save",
]
