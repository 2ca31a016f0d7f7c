"""`cellwright sensitivity`: search in smaller and larger spaces, and compare what is found."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cellwright.cli.compare import limits_of, stopping
from cellwright.cli.files import Pdf
from cellwright.cli.help import examples
from cellwright.cli.options import (
    WHERE,
    Data,
    LimitGigabytes,
    LimitSeconds,
    SearchSettings,
    Seed,
    TrainingRetries,
    TrainingThreads,
    address_option,
    executor_option,
    workers_option,
)
from cellwright.cli.output import printable, say, stdout
from cellwright.cli.tables import Column, Listing

if TYPE_CHECKING:
    from cellwright.api import Sensitivity

_SMALL = (
    "cellwright sensitivity ess-laptop --vary nodes=1 --data short --seeds 1 "
    "--set search.nodes=2 --set search.rounds=1 --set search.batch=16 --set model.hidden=8 "
    "--set selection_cells=1 --set-training training.epochs=1 --executor in-process"
)

EXAMPLES = examples(
    ("a short text, so that what is below takes seconds", "cellwright data get builtin --to texts"),
    (
        "",
        "mkdir short; for f in texts/*/*.txt; do head -n 200 $f > short/${f##*/}; done",
    ),
    ("cells of 1 node beside those of 2, which the recipe has here, trained once each", _SMALL),
    ("its figures, for programs", "cat sensitivity/points.csv"),
    ("the same folder goes on, with an LSTM of the same size", f"{_SMALL} --against lstm"),
    ("what was found with 1 node", "cellwright cells show sensitivity/cells/nodes1-m2.json"),
)


def run(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE", help="Of a one-shot search, by name or a TOML file.")
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SETTING=N,…",
            help="What is varied, and its values, as nodes=2,4,8: nodes inside the cell, or m of "
            "ESS. The recipe's own value is always among them. Again for another setting.",
        ),
    ] = None,
    data: Data = None,
    settings: SearchSettings = None,
    seed: Seed = 0,
    search_seeds: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=1000,
            help="Search so often at each point, from --seed on, and choose by short trainings.",
        ),
    ] = 1,
    training: Annotated[
        str | None,
        typer.Option(
            "--recipe",
            metavar="NAME|FILE",
            help="How to train what is found. Default: as RECIPE says.",
        ),
    ] = None,
    training_settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set-training",
            metavar="KEY=VALUE",
            help="Another setting of the trainings, as training.epochs=3. May be given again.",
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(metavar="K", min=1, max=10_000, help="How often each cell is trained.")
    ] = 3,
    parameters: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=10**15,
            help="What each trained model has at most. Default: what that of the recipe's own "
            "cell has.",
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CELL",
            help="A cell in a model of the same size, as lstm. May be given again.",
        ),
    ] = None,
    random: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=1000,
            help="So many random cells of each space too, in models of the same size.",
        ),
    ] = 0,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where everything goes.")
    ] = Path("sensitivity"),
    pdf: Pdf = None,
    executor: Annotated[str, executor_option("trainings", WHERE)] = "local",
    address: Annotated[str | None, address_option(WHERE)] = None,
    workers: Annotated[int | None, workers_option("Trainings", WHERE)] = None,
    threads: TrainingThreads = 1,
    limit_seconds: LimitSeconds = None,
    limit_gigabytes: LimitGigabytes = None,
    retries: TrainingRetries = 2,
) -> None:
    """How good the cells are that a search finds as its space grows (ESS, Figure 5).

    Each setting is varied alone, the others stay as RECIPE has them; each
    value is a search of its own. What it finds is trained from scratch, in
    models of one size: each has the largest width (model.hidden) at which it
    has at most so many parameters. Searches keep the width that RECIPE says.
    ESS' two curves, for a small search on a laptop:
    ess-laptop --vary nodes=2,4,6,8 --vary m=1,2,3 --against lstm

    FOLDER gets a picture of the metric against each setting
    (sensitivity.svg), the figures (points.json, points.csv), the searches, and
    all that 'cellwright compare' writes of the trainings (index.html).

    Ctrl-C saves everything and stops. The same command again goes on from
    there, to the same figures; searches and trainings that have ended are not
    done again. Values, seeds and cells may be added.
    """
    from cellwright.api import sensitivity
    from cellwright.cli.watching import Shown
    from cellwright.compare.failures import refuse_failures
    from cellwright.trials.retries import Retries

    if not vary:
        raise typer.BadParameter("--vary is missing, as in: --vary nodes=2,4,8")
    with stopping():
        found = sensitivity(
            recipe,
            vary,
            data,
            settings=settings,
            seed=seed,
            search_seeds=search_seeds,
            training=training,
            training_settings=training_settings,
            seeds=seeds,
            parameters=parameters,
            against=against or (),
            random=random,
            out=out,
            executor=executor,
            address=address,
            workers=workers,
            threads=threads,
            limits=limits_of(limit_seconds, limit_gigabytes),
            retries=Retries(retries),
            command=shlex.join(["cellwright", *sys.argv[1:]]),
            pdf=pdf,
            watcher=Shown(),
        )
    _print(found)
    refuse_failures(found.failures)


def _print(found: Sensitivity) -> None:
    """The table, the outcome in words, and where everything is."""
    from cellwright.report.sensitivity import PICTURE, numeric, table

    header, rows = table(found.figures)
    metric, many = found.figures.plan.metric, numeric(found.figures)
    shown = Listing(
        *(
            Column(name, {"width": 3, "test": 1}.get(name, 0), right=place < many)
            for place, name in enumerate(header[:-1])
        ),
        Column("", 2, short="fold", least=14),
        title=f"{metric.name} at {found.parameters:,} parameters at most: mean ± deviation",
    )
    for row in rows:
        shown.add(*row)
    stdout().print()
    stdout().print(shown)
    stdout().print()
    for words in found.words:
        say(words)
    stdout().print()
    drawn = found.path / PICTURE
    for what, path in (("picture", drawn), ("report", found.report)):
        if path.exists():
            stdout().print(printable(f"{what}: {path}"), soft_wrap=True)
