"""The tabular benchmark: one file of trained architectures, simulated training on it, analysis.

May import everything below it (`run/` and further down), and `search/` beside it.
"""

from cellwright.bench.assembling import assemble
from cellwright.bench.benchmark import Benchmark, UnknownArchitectureError
from cellwright.bench.environment import Best, Environment, Metrics
from cellwright.bench.errors import BenchError
from cellwright.bench.feature_files import attach_features
from cellwright.bench.file import load, save
from cellwright.bench.importing import Imported, import_logs
from cellwright.bench.runs import CURVES, STATUSES, Architecture, Run

__all__ = [
    "CURVES",
    "STATUSES",
    "Architecture",
    "BenchError",
    "Benchmark",
    "Best",
    "Environment",
    "Imported",
    "Metrics",
    "Run",
    "UnknownArchitectureError",
    "assemble",
    "attach_features",
    "import_logs",
    "load",
    "save",
]
