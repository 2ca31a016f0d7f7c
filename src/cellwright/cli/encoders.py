"""`cellwright encoders`: what are frozen language models worth to those who read sentences?"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cellwright.cli.compare import limits_of, stopping
from cellwright.cli.help import examples
from cellwright.cli.options import (
    WHERE,
    LimitGigabytes,
    LimitSeconds,
    Settings,
    TrainingRetries,
    TrainingThreads,
    address_option,
    executor_option,
    workers_option,
)
from cellwright.cli.output import printable, say, stdout
from cellwright.cli.runs.options import RUN_HELP, TRAIN, Runs
from cellwright.cli.tables import Column, Listing, name_column

if TYPE_CHECKING:
    from cellwright.api import EncoderComparison
    from cellwright.report.tables import Table

EXAMPLES = examples(
    TRAIN,
    (
        "its states as what heads for two tasks of GLUE learn from",
        "cellwright encoders gru --suite glue-laptop --tasks rte,wnli --no-baselines",
    ),
    ("all figures, for programs", "cat encoders/results.json"),
)


def run(
    names: Annotated[list[str], typer.Argument(metavar="RUN", help=RUN_HELP)],
    suite: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="glue, with jiant's settings; glue-laptop, with short trainings; or a TOML file "
            "of your own.",
        ),
    ] = "glue",
    tasks: Annotated[
        str | None,
        typer.Option(
            metavar="TASKS",
            help="Tasks of the suite, with commas between, as mrpc,sst-2. Default: all whose data "
            "is here.",
        ),
    ] = None,
    baselines: Annotated[
        bool,
        typer.Option(
            "--baselines/--no-baselines",
            help="Train a bag of words and an LSTM over word2vec of the same text as well.",
        ),
    ] = True,
    settings: Settings = None,
    seeds: Annotated[
        int, typer.Option(metavar="K", min=1, max=10_000, help="How often each head is trained.")
    ] = 1,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where everything goes.")
    ] = Path("encoders"),
    runs: Runs = Path("runs"),
    executor: Annotated[str, executor_option("trainings", WHERE)] = "local",
    address: Annotated[str | None, address_option(WHERE)] = None,
    workers: Annotated[int | None, workers_option("Trainings", WHERE)] = None,
    threads: TrainingThreads = 1,
    limit_seconds: LimitSeconds = None,
    limit_gigabytes: LimitGigabytes = None,
    retries: TrainingRetries = 2,
) -> None:
    """Measure trained language models by what heads learn on their states.

    As in NAS-Bench-NLP (Klyuchnikov et al. 2020, section 4.2), a model reads
    the sentences of GLUE's tasks and does not change; on each task a head
    learns on its states, and its words, as jiant has it. Prints for each
    metric mean, deviation, least, median and most over the models beside the
    baselines (the paper's Table 3), and each model with its perplexity. FOLDER
    gets a report (index.html), results.json, both tables (table and encoders,
    as .csv, .md and .tex), and for each task a comparison with its runs.

    Ctrl-C saves everything and stops; the same command goes on from there.
    Runs, behind those of before, tasks and seeds may be added. The baselines
    need gensim: pip install 'cellwright\\[search]'.
    """
    from cellwright.api import compare_encoders
    from cellwright.cli.watching import Shown
    from cellwright.compare.failures import refuse_failures
    from cellwright.trials.retries import Retries

    chosen = None
    if tasks is not None:
        chosen = [label for label in (part.strip() for part in tasks.split(",")) if label]
    with stopping():
        found = compare_encoders(
            names,
            suite,
            tasks=chosen,
            baselines=baselines,
            settings=settings,
            seeds=seeds,
            folder=runs,
            out=out,
            executor=executor,
            address=address,
            workers=workers,
            threads=threads,
            limits=limits_of(limit_seconds, limit_gigabytes),
            retries=Retries(retries),
            command=shlex.join(["cellwright", *sys.argv[1:]]),
            watcher=Shown(),
        )
    _print(found)
    refuse_failures(found.failures)


def _print(found: EncoderComparison) -> None:
    from cellwright.report.encoders.tables import caption, each_run, over_runs
    from cellwright.report.encoders.words import outcome, remarks

    console = stdout()
    console.print()
    console.print(_listing(over_runs(found.figures), "over all models", "measure"))
    console.print()
    console.print(_listing(each_run(found.figures), "each model", "encoder"))
    console.print()
    say(caption(found.figures), "dim")
    console.print()
    say(" ".join(outcome(found.figures)))
    for remark in remarks(found.figures):
        say(remark, "dim")
    console.print()
    console.print(printable(f"report: {found.report}"), soft_wrap=True)


_GOES = {"cell": 4, "text": 5, "std": 2, "median": 3}
"""Which columns go where there is no room: the highest first, then those of single metrics."""

_STAY = ("mean", "min", "max", "average", "flat mean", "perplexity")


def _listing(table: Table, title: str, first: str) -> Listing:
    from cellwright.report.tables import shown_rows

    columns = [column.title for column in table.columns[1:]]
    shown = Listing(
        name_column(first),
        *(
            Column(name, 0 if name in _STAY else _GOES.get(name, 1), right=column.right)
            for name, column in zip(columns, table.columns[1:], strict=True)
        ),
        title=title,
    )
    for row in shown_rows(table):
        shown.add(*row)
    return shown
