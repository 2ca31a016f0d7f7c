"""Using models that have learned sentences or pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from cellwright.api.progress import chosen
from cellwright.api.results import TrainedRun
from cellwright.api.training import load
from cellwright.base.errors import UserError
from cellwright.runs.folder import RUNS
from cellwright.runs.glue_submission import GlueSubmission, write_glue_submission
from cellwright.tasks.sentences.use import Example, Prediction


def predict(
    run: TrainedRun | Path | str, examples: Iterable[Example], *, runs: Path | str = RUNS
) -> list[Prediction]:
    """Give sentences or pairs a label or a score with a run's best weights.

    The run's folder is enough; pretrained vectors and models that it uses have to be there. For
    more examples than fit into memory, `run.predictor.predict(examples)` gives one after the other.

    Args:
        run: a run on sentences, its folder or its name. A `TrainedRun` is loaded once.
        examples: each a sentence, or for runs on pairs two of them.
        runs: where runs are.

    Raises:
        UserError: there is no such run, it has learned another task, or something is no example.
    """
    if isinstance(examples, str):
        raise UserError("examples are a list: [sentence], or [(first, second), …]")
    known = run if isinstance(run, TrainedRun) else load(run, runs=runs)
    return list(known.predictor.predict(examples))


def glue_submission(
    runs: Sequence[TrainedRun | Path | str],
    out: Path | str,
    *,
    folder: Path | str = RUNS,
    progress: bool = True,
) -> GlueSubmission:
    """Write what runs say of GLUE's test files as the zip file that GLUE takes.

    Each run has learned one of GLUE's tasks by its name, as `cola`; that of `mnli` says what there
    is to say of the diagnostic set, too. What has no run, or whose test file is not on this
    machine, is left out, and `missing` of the result names it.

    Args:
        runs: runs, their folders or their names.
        out: the zip file.
        folder: where runs are.
        progress: whether to show it.

    Raises:
        UserError: a run has learned something else, two have learned the same, or a test file is
            not GLUE's.
    """
    paths = [run.path if isinstance(run, TrainedRun) else run for run in runs]
    with chosen(None, progress).reading() as tell:
        return write_glue_submission(paths, Path(out), folder=Path(folder), progress=tell)
