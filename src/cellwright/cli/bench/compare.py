"""`cellwright bench compare`: search methods against each other on a table, in simulated time."""

from __future__ import annotations

import math
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cellwright.cli.bench.options import SYNTHETIC, File
from cellwright.cli.figures import duration
from cellwright.cli.files import Pdf
from cellwright.cli.help import examples
from cellwright.cli.output import count, say, stderr, stdout
from cellwright.cli.tables import Column, Listing, name_column
from cellwright.cli.work_bar import work_bar

if TYPE_CHECKING:
    from cellwright.bench.compare.scheduling import Comparison
    from cellwright.bench.compare.summary import Summary

EXAMPLES = examples(
    SYNTHETIC,
    (
        "two methods, three seeds of each, without pictures",
        "cellwright bench compare my.bench -m rs-50e -m hyperband -n 3 --no-figures",
    ),
    (
        "other settings than the paper's, into another folder",
        "cellwright bench compare my.bench -m hyperband:eta=2 -n 2 --no-figures -o h",
    ),
    (
        "for two simulated hours",
        "cellwright bench compare my.bench -m rs-10e -n 2 --hours 2 --no-figures",
    ),
)


def run(
    file: File,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            metavar="METHOD",
            help="A method, or FILE.py:CLASS. May be given again. Default: all of the paper.",
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds", "-n", metavar="N", min=1, max=100_000, help="Searches of a method."
        ),
    ] = 30,
    hours: Annotated[
        float | None,
        typer.Option(metavar="H", help="Simulated time of a search. Default: see above."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Where the files go. Default: bench-comparison/NAME, by the name of FILE.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", "-w", metavar="N", min=1, help="Processes. Default: all cores."),
    ] = None,
    all_runs: Annotated[
        bool,
        typer.Option("--all-runs", help="A trial's seed chooses among the runs of its cell."),
    ] = False,
    idle: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="A search ends after N trials that train nothing."),
    ] = 200,
    pictures: Annotated[
        bool, typer.Option("--figures/--no-figures", help="Draw pictures, for the report as well.")
    ] = True,
    pdf: Pdf = None,
) -> None:
    """Compare search methods on a benchmark, in simulated time.

    As section 5 of the NAS-Bench-NLP paper: each method searches with each
    seed until its simulated time is spent; regret is the test loss of the best
    model by validation so far, minus the lowest of the table. The report
    has regret against time with 95% intervals (Figure 10), final regrets (Figure
    12), a table, and tests between methods, paired over seeds; CSV files have
    the same, and summary.tex and summary.md the table for a paper.

    Methods of the paper: rs-10e, rs-50e, hyperband, bo-10d, bo-50d, ae, tpe,
    smac. Any other by its name, and a class of your own with ask() and tell() by
    its file or module: mine.py:Mine, module:Mine (docs/your-own-method.md). Its
    code runs, each search in a process of its own. Settings follow:
    NAME:SETTING=VALUE,…; features=50 chooses graph2vec's dimensions, features=none
    none, label=… what it is called.

    Without --hours a search has 1,000 hours, as in the paper, but at most a
    quarter of what training all cells of the table takes.

    Finished searches are kept in the folder: the same command goes on after
    Ctrl-C, and more seeds or methods only run what is new. A folder is for one
    table; one that has something else is refused.
    """
    from cellwright.bench.compare.folder import EARLIER, default_folder
    from cellwright.bench.compare.summary import summarize
    from cellwright.report.methods.page import write_report
    from cellwright.report.paper import paper_width

    if hours is not None and not (math.isfinite(hours) and hours > 0):
        raise typer.BadParameter(f"--hours must be more than 0, not {hours:g}")
    width = paper_width(pdf)
    if pictures or width is not None:
        from cellwright.report.drawing import matplotlib

        matplotlib()  # says that it is missing before minutes of work, not after
    folder = default_folder(file) if output is None else output
    earlier = EARLIER if output is None else None
    comparison = _compare(file, method, seeds, hours, folder, earlier, workers, all_runs, idle)
    summary = summarize(comparison)
    command = shlex.join(["cellwright", *sys.argv[1:]])
    files = write_report(comparison, summary, folder, command=command, pictures=pictures, pdf=width)
    _print(summary, comparison, files)
    if comparison.failed:
        raise typer.Exit(1)


def _compare(
    file: Path,
    method: list[str] | None,
    seeds: int,
    hours: float | None,
    output: Path,
    earlier: Path | None,
    workers: int | None,
    all_runs: bool,
    idle: int,
) -> Comparison:
    from dataclasses import replace

    from cellwright.base.cores import check_at_once, cores
    from cellwright.bench.compare.preparing import prepare
    from cellwright.bench.compare.scheduling import compare

    console = stderr()
    if workers is not None:
        check_at_once("workers", workers)
    table, entries, left_out = prepare(file, method, output, single_run=not all_runs)
    for label, why in left_out.items():
        say(f"{label}: left out; {why}", "yellow", console)
    budget = table.default_hours if hours is None else hours
    done = 0
    try:
        with work_bar("searches") as tell:

            def watch(ended: int, total: int) -> None:
                nonlocal done
                done = ended
                tell("searches", ended, total)

            found = compare(
                table, entries, range(seeds), budget * 3600, output,
                idle=idle, workers=workers or cores(), earlier=earlier, watch=watch,
            )  # fmt: skip
    except KeyboardInterrupt:
        note = f"{done} of {seeds * len(entries)} searches are kept; the same command goes on"
        say(note, "", console)
        raise
    for label, why in found.failed.items():
        say(f"{label}: left out; {why}", "yellow", console)
    return replace(found, left_out=left_out)


def _print(summary: Summary, comparison: Comparison, files: list[Path]) -> None:
    hours = comparison.seconds / 3600
    console = stdout()
    say(
        f"final regret in {summary.metric.loss_name} after {hours:,.4g} simulated hours, "
        f"{count(len(comparison.seeds), 'seed')}"
        f" of each method, {count(comparison.table.cells, 'cell')}"
    )
    table = Listing(
        name_column("method"),
        Column("mean", right=True),
        Column("95% interval", 1, right=True),
        Column("median", 2, right=True),
        Column("best found", 3, right=True),
        Column("hours", 4, right=True),
        Column("trials", 5, right=True),
        Column("real time", 6, right=True),
    )
    for line in summary.lines:
        interval = f"{line.low:.4f} to {line.high:.4f}" if math.isfinite(line.low) else "–"
        table.add(
            line.label, f"{line.mean:.4f}", interval, f"{line.median:.4f}",
            f"{line.best:.0%}", f"{line.hours:,.1f}", f"{line.trials:,.1f}",
            duration(line.real_seconds),
        )  # fmt: skip
    console.print(table)
    say(
        "best found: seeds that end with the best of the table; hours are simulated; "
        "real time, hours and trials are of one search, in the mean",
        "dim",
    )
    names = ", ".join(file.name for file in files[1:])
    say(f"{files[0]}, with {names}", "dim")
