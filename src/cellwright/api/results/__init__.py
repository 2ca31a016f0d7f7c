"""What the front door gives back: objects that say what came out, and show it in a notebook."""

from cellwright.api.results.comparison import Comparison
from cellwright.api.results.encoders import EncoderComparison
from cellwright.api.results.found import Found
from cellwright.api.results.grid import GridFound
from cellwright.api.results.sensitivity import Sensitivity
from cellwright.api.results.shown import Cost, Shown
from cellwright.api.results.study_found import StudyFound
from cellwright.api.results.suite import SuiteComparison
from cellwright.api.results.trained_run import Evaluation, TrainedRun
from cellwright.api.results.tuned import TuningFound

__all__ = [
    "Comparison",
    "Cost",
    "EncoderComparison",
    "Evaluation",
    "Found",
    "GridFound",
    "Sensitivity",
    "Shown",
    "StudyFound",
    "SuiteComparison",
    "TrainedRun",
    "TuningFound",
]
