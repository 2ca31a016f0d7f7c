"""`cellwright compare`: train cells in the same way, and put them side by side."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellwright.cli import sources
from cellwright.cli.errors import INTERRUPTED
from cellwright.cli.files import Pdf
from cellwright.cli.help import examples
from cellwright.cli.options import (
    WHERE,
    Data,
    LimitGigabytes,
    LimitSeconds,
    Settings,
    TrainingRecipe,
    TrainingRetries,
    TrainingThreads,
    address_option,
    executor_option,
    workers_option,
)
from cellwright.cli.output import printable, say, stderr, stdout
from cellwright.cli.runs.options import TRAIN
from cellwright.cli.tables import Column, Listing, name_column

if TYPE_CHECKING:
    from cellwright.compare.contenders import Contender
    from cellwright.compare.plan import Plan
    from cellwright.compare.results import Standing
    from cellwright.trials.executors import Limits

EXAMPLES = examples(
    ("a small training, whose recipe is used below", TRAIN[1]),
    (
        "two cells trained like that, twice each",
        "cellwright compare gru rnn --recipe runs/gru/recipe.toml --seeds 2",
    ),
    ("its figures, for programs", "cat comparison/table.csv"),
    ("and for a paper", "cat comparison/table.tex"),
    (
        "a random cell of a search space, trained once",
        "cellwright compare --random ess --seeds 1 --recipe runs/gru/recipe.toml -o r",
    ),
)


def run(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CELL", help="Names from the zoo, files of any format, or - for input."
        ),
    ] = None,
    random: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPACE[:N]",
            help="N cells drawn uniformly from a search space. Settings of the space stand behind "
            "commas, as in ess:3,nodes=4,m=2. May be given again.",
        ),
    ] = None,
    recipe: TrainingRecipe = None,
    data: Data = None,
    settings: Settings = None,
    suite: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Train on every task of a suite, and average: glue, glue-laptop, sentence-pairs, "
            "sentence-pairs-laptop, or a TOML file of your own.",
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(metavar="K", min=1, max=10_000, help="How often each cell is trained.")
    ] = 3,
    parameters: Annotated[
        str | None,
        typer.Option(
            metavar="N|CELL",
            help="Models of the same size: each cell as wide as fits into so many parameters, or "
            "into those of this cell's model. Default: all as wide as the recipe says.",
        ),
    ] = None,
    tune: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=10**9,
            help="Tune every cell by N trials first, the same for all, and train it with its best "
            "settings. --recipe is one for tuning then ('cellwright tune --list-recipes').",
        ),
    ] = None,
    random_seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Decides which random cells are drawn.")
    ] = 0,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="SEARCH",
            help="The cells that a one-shot search had come to, by its folder or name: what they "
            "were worth as it went on.",
        ),
    ] = None,
    every: Annotated[
        int, typer.Option(metavar="N", min=1, help="Of the search, one cell in so many epochs.")
    ] = 10,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Where everything goes. Default: comparison, or suite.",
            show_default=False,
        ),
    ] = None,
    pdf: Pdf = None,
    executor: Annotated[str, executor_option("trainings", WHERE)] = "local",
    address: Annotated[str | None, address_option(WHERE)] = None,
    workers: Annotated[int | None, workers_option("Trainings", WHERE)] = None,
    threads: TrainingThreads = 1,
    limit_seconds: LimitSeconds = None,
    limit_gigabytes: LimitGigabytes = None,
    retries: TrainingRetries = 2,
) -> None:
    """Train cells by the same recipe from the same seeds, and compare them.

    Prints a table with parameters, the metric of the recipe's task (mean ±
    sample standard deviation over the seeds), time and memory, the best cell
    first, and says which differences the seeds can tell from chance. FOLDER
    gets a report (index.html), the figures (results.json, runs.csv, table.csv,
    and for papers table.tex and table.md), pictures, and a run folder for each
    training.

    Ctrl-C saves everything and stops. The same command again goes on from
    there, also after a crash, to the same figures; it trains only what is
    missing. Cells and seeds may be added; other settings need another folder.

    With --suite each task is such a comparison, in FOLDER/TASK. All are looked
    at before anything is trained; tasks whose data is not on this machine are
    named and left out. The table has cells by tasks, with the average over
    the tasks. --set holds for all tasks.
    """
    from cellwright.api import compare, compare_suite
    from cellwright.cli.compare_suite import print_suite
    from cellwright.cli.watching import Shown
    from cellwright.compare.failures import refuse_failures
    from cellwright.trials.retries import Retries

    contenders = _contenders(names or [], random or [], random_seed)
    if not contenders and search is None:
        raise typer.BadParameter(
            "a CELL is missing, or --random SPACE; as in: cellwright compare lstm gru"
        )
    options: dict[str, Any] = {
        "settings": settings,
        "seeds": seeds,
        "parameters": parameters,
        "executor": executor,
        "address": address,
        "workers": workers,
        "threads": threads,
        "limits": limits_of(limit_seconds, limit_gigabytes),
        "retries": Retries(retries),
        "command": shlex.join(["cellwright", *sys.argv[1:]]),
        "pdf": pdf,
        "watcher": Shown(),
    }
    if suite is not None:
        _refuse_beside_suite(recipe=recipe, data=data, search=search, tune=tune)
        with stopping():
            trained = compare_suite(contenders, suite, out=out or Path("suite"), **options)
        print_suite(trained)
        refuse_failures(trained.failures)
        return
    with stopping():
        found = compare(
            contenders,
            data,
            recipe=recipe,
            tune=tune,
            search=search,
            every=every,
            out=out or Path("comparison"),
            **options,
        )
    print_standings(found.plan, list(found.standings))
    stdout().print(printable(f"report: {found.report}"), soft_wrap=True)
    refuse_failures(found.failures)


def _refuse_beside_suite(**options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise typer.BadParameter(
                f"--{name} is for one task, and --suite has many, each with a recipe of its own"
            )


def _contenders(names: list[str], random: list[str], seed: int) -> list[Contender]:
    from cellwright.compare.contenders import contender, random_contenders

    found = []
    for loaded in sources.load(names):
        source = "" if loaded.label == loaded.cell.name else f"from {loaded.label}"
        stem = Path(loaded.label).stem if not loaded.cell.name else ""
        found.append(contender(loaded.cell, stem, source))
    for request in random:
        found += random_contenders(request, seed)
    return found


def limits_of(seconds: float | None, gigabytes: float | None) -> Limits:
    """What an attempt at a training may take, as the options have it."""
    from cellwright.trials.executors import Limits

    return Limits(seconds, None if gigabytes is None else int(gigabytes * 1e9))


@contextmanager
def stopping() -> Iterator[None]:
    """Work that Ctrl-C ends, and the same command goes on with: say so, and exit."""
    from cellwright.runs.errors import Stopped
    from cellwright.trials.study import StudyStopped

    try:
        yield
    except Stopped as stop:
        _print_stop("stopped; everything is saved")
        raise typer.Exit(128 + stop.signal) from None
    except StudyStopped as stop:
        _print_stop(f"stopped; {stop.lost or 'trials that have ended are kept'}")
        raise typer.Exit(INTERRUPTED) from None
    except KeyboardInterrupt:
        _print_stop("interrupted at once; saved are the last checkpoints")
        raise typer.Exit(INTERRUPTED) from None


def _print_stop(line: str) -> None:
    say(line, "yellow", stderr())
    say("the same command again goes on from there", "", stderr())


_GOES = {
    "failed": 1, "test": 2, "against the first": 3, "diverged": 4, "parameters": 5, "time": 6,
    "memory": 7,
}  # fmt: skip
"""Which columns of the table go where there is no room: the highest first."""


def print_standings(plan: Plan, found: list[Standing]) -> None:
    """The table, the outcome in words, and what there is to know about both."""
    from cellwright.report.comparison.page import NUMERIC, WORDS, table
    from cellwright.report.comparison.words import outcome, remarks

    header, rows = table(plan, found)
    shown = Listing(
        name_column(header[0]),
        *(
            Column(
                name,
                _GOES.get(name, 0),
                right=place in NUMERIC,
                short="fold" if name == WORDS else "",
                least=18,
            )
            for place, name in enumerate(header[1:], 1)
        ),
    )
    for row in rows:
        shown.add(*row)
    stdout().print()
    stdout().print(shown)
    stdout().print()
    say(outcome(plan, found))
    for remark in remarks(plan, found):
        say(remark, "dim")
    stdout().print()
