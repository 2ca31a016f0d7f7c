"""The front door: the whole system from Python, without the command line.

    import cellwright as cw

    run = cw.train("gru", "builtin", epochs=2)
    found = cw.search("ess-laptop")
    table = cw.compare([found.cell, "lstm"], seeds=2)
    cw.export(run, "model.onnx")

What comes back are objects with a cell, a status, a cost and a table, which show themselves in a
notebook. The commands call these functions too, and print. May import everything but `cli/`.
"""

from cellwright.api.comparing import compare
from cellwright.api.comparing_suites import compare_suite
from cellwright.api.encoding import compare_encoders
from cellwright.api.exporting import export
from cellwright.api.grids import grid
from cellwright.api.inputs import as_cell
from cellwright.api.predicting import glue_submission, predict
from cellwright.api.results import (
    Comparison,
    Cost,
    EncoderComparison,
    Evaluation,
    Found,
    GridFound,
    Sensitivity,
    StudyFound,
    SuiteComparison,
    TrainedRun,
    TuningFound,
)
from cellwright.api.searching import search
from cellwright.api.tagging import tag
from cellwright.api.training import evaluate, load, train
from cellwright.api.tuning import tune
from cellwright.api.varying import sensitivity
from cellwright.api.watching import Watcher

__all__ = [
    "Comparison",
    "Cost",
    "EncoderComparison",
    "Evaluation",
    "Found",
    "GridFound",
    "Sensitivity",
    "StudyFound",
    "SuiteComparison",
    "TrainedRun",
    "TuningFound",
    "Watcher",
    "as_cell",
    "compare",
    "compare_encoders",
    "compare_suite",
    "evaluate",
    "export",
    "glue_submission",
    "grid",
    "load",
    "predict",
    "search",
    "sensitivity",
    "tag",
    "train",
    "tune",
]
