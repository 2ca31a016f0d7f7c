"""A submission to GLUE: what trained models say of the test files whose labels are not public.

It is a zip file with a table for each test file, under GLUE's names. The bytes depend on what the
models say alone.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cellwright.base.errors import UserError
from cellwright.base.files import write_named
from cellwright.base.progress import Progress
from cellwright.data.errors import DataError, DataNotHereError
from cellwright.data.labelled import LABELLED, examples_of, hidden_files
from cellwright.data.sources import file_text
from cellwright.runs.errors import RunError
from cellwright.runs.folder import RUNS, RunFolder
from cellwright.runs.predictors import SENTENCES, load_predictor
from cellwright.tasks.sentences.use import Prediction

FILES = {called: name for name, known in LABELLED.items() for called in known.hidden}
"""The tables of a submission without their ending, and the data that each one's model learned."""

HEADER = "index\tprediction\n"

_DATE = (1980, 1, 1, 0, 0, 0)
_MODE = 0o644 << 16
_UNIX = 3


@dataclass(frozen=True)
class GlueSubmission:
    """A submission that was written.

    Attributes:
        path: the zip file.
        rows: how many predictions each table has.
        runs: the run that made each table.
        missing: the tables that are not in it, and why.
    """

    path: Path
    rows: dict[str, int]
    runs: dict[str, Path]
    missing: dict[str, str]


@dataclass(frozen=True)
class _Test:
    """A test file, and the run that has learned its task."""

    called: str
    name: str
    file: Path
    run: Path

    def examples(self) -> Iterator[tuple[str, ...]]:
        """Its sentences or pairs."""
        return examples_of(
            file_text(self.file), name=self.name, per_example=LABELLED[self.name].per_example
        )

    @property
    def rows(self) -> int:
        """As many as GLUE's file has."""
        known = LABELLED[self.name]
        return known.rows[known.hidden[self.called]]

    def check(self) -> None:
        """Say so if it has not as many rows."""
        found = sum(1 for _ in self.examples())
        if found != self.rows:
            raise DataError(
                f"{self.file} has {found:,} rows, and GLUE's file for {self.called} {self.rows:,}; "
                "every row needs a prediction"
            )


def write_glue_submission(
    runs: Sequence[Path | str],
    out: Path,
    *,
    folder: Path = RUNS,
    progress: Progress | None = None,
) -> GlueSubmission:
    """Say what runs make of GLUE's test files, and write it as the zip file that GLUE takes.

    The run of MNLI says what there is to say of the diagnostic set, too. What has no run, or whose
    test file is not on this machine, is left out and named.

    Args:
        runs: folders, or names in `folder`, of runs that have learned GLUE's tasks by their names.
        out: the zip file, which is whole or not there.
        folder: where runs are.
        progress: told how far it is.

    Raises:
        UserError: a run has learned something else, two have learned the same, or a test file is
            not GLUE's.
    """
    by_name = _by_name([RunFolder.open(run, folder) for run in runs])
    tests, missing = _tests(by_name)
    if not tests:
        raise UserError(f"there is no test file for {', '.join(by_name)} on this machine")
    for test in tests:
        test.check()
    tables: dict[str, str] = {}
    for name, run in by_name.items():
        own = [test for test in tests if test.name == name]
        if own:
            tables.update(_predicted(name, run, own, progress))
    tables = {called: tables[called] for called in sorted(tables)}
    write_named(out, zipped({f"{called}.tsv": table for called, table in tables.items()}))
    return GlueSubmission(
        out,
        {called: table.count("\n") - 1 for called, table in tables.items()},
        {called: by_name[FILES[called]] for called in tables},
        missing,
    )


def _by_name(folders: Sequence[RunFolder]) -> dict[str, Path]:
    """The run of each of GLUE's tasks, by the name of its data."""
    tasks = dict.fromkeys(FILES.values())
    found: dict[str, Path] = {}
    for folder in folders:
        task = folder.info.recipe.task
        name = getattr(task, "data", "")
        if task.kind != SENTENCES or name not in tasks:
            what = f"{name} ({task.kind})" if name else task.kind
            raise RunError(
                f"{folder.path} has learned {what}; a submission to GLUE is made by runs on "
                f"{', '.join(tasks)}"
            )
        if name in found:
            raise RunError(f"{found[name]} and {folder.path} have both learned {name}; give one")
        found[name] = folder.path
    return found


def _tests(by_name: dict[str, Path]) -> tuple[list[_Test], dict[str, str]]:
    """The test files that runs are for, and why others are not."""
    tests, missing = [], {}
    for called, name in sorted(FILES.items()):
        if name not in by_name:
            missing[called] = f"no run has learned {name}"
            continue
        try:
            here = hidden_files(name)
        except DataNotHereError:
            here = {}
        if called in here:
            tests.append(_Test(called, name, here[called], by_name[name]))
        else:
            missing[called] = f"the test file {LABELLED[name].hidden[called]} is not here"
    return tests, missing


def _predicted(
    name: str, run: Path, tests: Sequence[_Test], progress: Progress | None
) -> Iterator[tuple[str, str]]:
    """The tables that a run makes, by their names."""
    predictor = load_predictor(run, progress=progress)
    target, known = predictor.task.data.target, LABELLED[name]
    if target.labels != known.labels or (target.lowest, target.highest) != (
        known.lowest,
        known.highest,
    ):
        raise RunError(f"{run} tells {target}, and that is not what GLUE's {name} has")
    for test in tests:
        rows = [HEADER]
        for index, prediction in enumerate(predictor.predict(test.examples())):
            rows.append(f"{index}\t{_written(prediction)}\n")
            if progress is not None:
                progress(f"predicting {test.called}", index + 1, test.rows)
        yield test.called, "".join(rows)


def _written(prediction: Prediction) -> str:
    if prediction.label is not None:
        return prediction.label
    return f"{prediction.score:.3f}"


def zipped(tables: dict[str, str]) -> bytes:
    """A zip file that is the same bytes for the same tables, whenever and wherever it is made."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, table in tables.items():
            info = zipfile.ZipInfo(name, _DATE)
            info.create_system, info.external_attr = _UNIX, _MODE
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, table.encode())
    return stream.getvalue()
