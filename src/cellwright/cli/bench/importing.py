"""`cellwright bench import`: a benchmark out of training logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cellwright.cli.help import examples
from cellwright.cli.output import count, say, stderr
from cellwright.cli.work_bar import work_bar

if TYPE_CHECKING:
    from cellwright.bench import Benchmark, Imported

EXAMPLES = examples(
    (
        "a made-up benchmark, to try the commands on",
        "cellwright bench import --synthetic 30 -o my.bench",
    ),
    ("its logs, one file for each training", "cellwright bench export my.bench logs"),
    ("a zip file or a folder of logs", "cellwright bench import logs.zip -o mine.bench"),
    ("", "cellwright bench info mine.bench"),
)

_MOST_LISTED = 20


def run(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="JSON files, and folders and zip files of them."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Default: TITLE.bench, here."),
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TITLE", help="What to call it. Default: its corpus.")
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Take only logs of this corpus, such as ptb."),
    ] = None,
    features: Annotated[
        list[Path] | None,
        typer.Option(metavar="CSV", help="Features of the architectures; may be given again."),
    ] = None,
    graph2vec: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=1, max=1000, help="Add graph2vec features of N dimensions."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at a bad log instead of leaving it out.")
    ] = False,
    synthetic: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=100_000, help="Make up N architectures instead."),
    ] = None,
) -> None:
    """Make a benchmark of training logs, as NAS-Bench-NLP's release has them.

    A log is a JSON object with a recipe ('recepie', as the release spells it),
    lists of losses and wall times, and settings. A file may have one log, or a
    list of logs or of recipes. Logs of one recipe are runs of one architecture.
    A bad log is told by name and left out.

    A file of features has a heading, a label ('recepie_id') in its first
    column, and numbers in the others.
    """
    from cellwright.bench import attach_features, embedding, save

    if (synthetic is None) == (not paths):
        raise typer.BadParameter("give paths of logs, or --synthetic with a number")
    if synthetic is not None:
        from cellwright.bench.synthetic import synthetic as made_up

        benchmark = made_up(synthetic)
    else:
        imported = _imported(paths or [], title, corpus, strict)
        _report(imported)
        benchmark = imported.benchmark
    for path in features or []:
        benchmark, covered = attach_features(benchmark, path)
        note = f"{path}: features of {covered:,} of {count(len(benchmark), 'architecture')}"
        say(note)
    for dimensions in graph2vec or []:
        found = embedding(benchmark, dimensions).features
        benchmark = benchmark.with_features(f"graph2vec-{dimensions}", found)
    target = save(benchmark, output or Path(_file_name(benchmark)))
    say(f"{target}: {_described(benchmark)}")


def _imported(paths: list[str], title: str | None, corpus: str | None, strict: bool) -> Imported:
    from cellwright.bench import import_logs

    with work_bar("reading logs") as tell:
        return import_logs(
            paths,
            title=title,
            corpus=corpus,
            strict=strict,
            watch=lambda done: tell("reading logs", done, 0),
        )


def _report(found: Imported) -> None:
    console = stderr()
    for what, remarks, style in (
        (f"left out {count(len(found.skipped), 'log')}", found.skipped, "yellow"),
        (f"{count(len(found.remarks), 'remark')}", found.remarks, "dim"),
    ):
        if remarks:
            console.print(f"{what}:", style=style)
        for remark in remarks[:_MOST_LISTED]:
            say(f"  {remark.label}: {remark.reason}", "", console)
        if len(remarks) > _MOST_LISTED:
            console.print(f"  … and {len(remarks) - _MOST_LISTED:,} more")


def _described(benchmark: Benchmark) -> str:
    graphs = count(len(benchmark.by_graph), "distinct graph")
    runs = count(benchmark.run_count, "run")
    diverged = int(benchmark.has_status("diverged").sum())
    return (
        f"{count(len(benchmark), 'architecture')} ({graphs}), {runs}, {diverged:,} of them diverged"
    )


def _file_name(benchmark: Benchmark) -> str:
    from cellwright.base.names import file_stem
    from cellwright.bench.file import ENDING

    return file_stem(benchmark.title, "benchmark") + ENDING
