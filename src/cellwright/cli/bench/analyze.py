"""`cellwright bench analyze`: what a benchmark says about architectures, as tables and figures."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cellwright.base.errors import UserError, did_you_mean
from cellwright.cli.bench.options import SYNTHETIC, File
from cellwright.cli.files import Pdf
from cellwright.cli.help import examples
from cellwright.cli.output import say, stderr
from cellwright.cli.work_bar import work_bar

if TYPE_CHECKING:
    from cellwright.bench import Benchmark
    from cellwright.bench.analysis import Finding
    from cellwright.bench.columns import Floats

KINDS = ("measures", "ranks", "transfer", "scores", "distances", "prediction", "surrogates")

EXAMPLES = examples(
    SYNTHETIC,
    (
        "parameters, time and test results, as a table alone",
        "cellwright bench analyze my.bench --only measures --no-figures",
    ),
    ("into another folder", "cellwright bench analyze my.bench --only ranks --no-figures -o r"),
    (
        "what two benchmarks have in common",
        "cellwright bench analyze my.bench my.bench --only transfer --no-figures",
    ),
)


def run(
    file: File,
    other: Annotated[
        Path | None,
        typer.Argument(metavar="OTHER", help="A benchmark of another corpus, for transfer."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the files go.")
    ] = Path("analysis"),
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help=f"Some of: {', '.join(KINDS)}. May be given again."),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Features of the file. Default: graph2vec, made now."),
    ] = None,
    dimensions: Annotated[
        int, typer.Option(metavar="N", min=1, max=1000, help="Of graph2vec, if it is made now.")
    ] = 10,
    pairs: Annotated[
        int, typer.Option(metavar="N", min=1, help="Pairs for distances, as many as there are.")
    ] = 1000,
    seconds: Annotated[
        float, typer.Option(metavar="S", min=0.001, help="Time for each pair of distances.")
    ] = 0.1,
    sgns: Annotated[
        bool,
        typer.Option("--sgns", help="Train word2vec on the same text, to compare scores with."),
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Decides pairs and splits.")] = 0,
    figures: Annotated[
        bool, typer.Option("--figures/--no-figures", help="Draw SVG and PNG as well as tables.")
    ] = True,
    pdf: Pdf = None,
) -> None:
    """Analyse a benchmark as section 4.1 of the NAS-Bench-NLP paper does.

    measures: parameters, time and test results (Figure 4). ranks: how the ranking
    at early epochs agrees with the final one (5). transfer: two corpora (6).
    scores: word similarity and perplexity (9, 13), where it was kept; --sgns
    adds the paper's baseline.
    distances: graph edit distances of random pairs (7). prediction: divergence
    and final loss from features, on halves (8). surrogates: the error of a
    surrogate for cells that the benchmark does not have, by cross-validation.

    Without --only, all are done that can be; what is missing for the others
    is told.
    """
    from cellwright.bench import load
    from cellwright.report.analysis.files import write
    from cellwright.report.paper import paper_width

    width = paper_width(pdf)
    wanted = _kinds(only)
    benchmark = load(file)
    makers = _makers(
        benchmark,
        None if other is None else load(other),
        _features(benchmark, features, dimensions, seed),
        pairs,
        seconds,
        seed,
        sgns,
    )
    done = 0
    for kind in wanted:
        try:
            finding = makers[kind]()
            files = write(finding, output, ("svg", "png") if figures else (), width)
        except UserError as error:
            if only or (done == 0 and kind == wanted[-1]):
                raise
            note = f"{kind}: left out; {error}"
            say(note, "yellow", stderr())
            continue
        done += 1
        _print(finding, files)


def _kinds(only: list[str] | None) -> tuple[str, ...]:
    for kind in only or ():
        if kind not in KINDS:
            hint = did_you_mean(kind, KINDS) or f"; there are {', '.join(KINDS)}"
            raise typer.BadParameter(f"unknown analysis {kind!r}{hint}")
    return tuple(kind for kind in KINDS if only is None or kind in only)


def _makers(
    benchmark: Benchmark,
    other: Benchmark | None,
    features: Callable[[], Floats],
    pairs: int,
    seconds: float,
    seed: int,
    sgns: bool,
) -> dict[str, Callable[[], Finding]]:
    from cellwright.bench import analysis

    def transfer() -> Finding:
        if other is None:
            raise UserError("a second benchmark is needed: cellwright bench analyze FILE OTHER")
        return analysis.transfer(benchmark, other)

    def scores() -> Finding:
        if not sgns:
            return analysis.scores(benchmark)
        with work_bar("SGNS") as tell:
            baseline = analysis.similarity_baseline(
                benchmark, watch=lambda done, all_: tell("SGNS", done, all_)
            )
        return analysis.scores(benchmark, baseline)

    def distances() -> Finding:
        with work_bar("graph edit distances") as tell:
            return analysis.distances(
                benchmark,
                pairs=pairs,
                seconds=seconds,
                seed=seed,
                watch=lambda done, all_: tell("graph edit distances", done, all_),
            )

    return {
        "measures": lambda: analysis.measures(benchmark),
        "ranks": lambda: analysis.ranks(benchmark),
        "transfer": transfer,
        "scores": scores,
        "distances": distances,
        "prediction": lambda: analysis.prediction(benchmark, features(), seed=seed),
        "surrogates": lambda: analysis.surrogates(benchmark, features(), seed=seed),
    }


def _features(
    benchmark: Benchmark, name: str | None, dimensions: int, seed: int
) -> Callable[[], Floats]:
    """The features for analyses that need some, made when the first of them asks."""
    from functools import cache

    from cellwright.bench import embedding

    @cache
    def features() -> Floats:
        if name is not None:
            return benchmark.featured(name)
        return embedding(benchmark, dimensions, seed=seed % 2**32).features

    return features


def _number(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.0f}" if value.is_integer() else f"{value:.3f}"


def _print(finding: Finding, files: list[Path]) -> None:
    say(finding.title, "bold")
    for name, value in finding.numbers.items():
        say(f"  {name}: {_number(value)}")
    say("  " + ", ".join(map(str, files)), "dim")
