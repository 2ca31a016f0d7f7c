"""`cellwright similarity`: do a language model's word vectors agree with people?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellwright.base.files import write_named
from cellwright.cli.figures import jsonable
from cellwright.cli.files import PaperSize, check_table
from cellwright.cli.help import examples
from cellwright.cli.output import count, emit_json, encoded, printable, say, stdout
from cellwright.cli.runs.options import RUN_HELP, TRAIN, Runs
from cellwright.cli.tables import Column, Listing, name_column
from cellwright.cli.work_bar import work_bar

if TYPE_CHECKING:
    from cellwright.data.word_pairs import WordPairs
    from cellwright.runs.word_similarity import Row
    from cellwright.tasks.language.similarity import Agreement, Similarity

EXAMPLES = examples(
    TRAIN,
    ("its embeddings on both sets", "cellwright similarity gru"),
    ("beside word2vec, trained on the same text", "cellwright similarity gru --sgns"),
    ("figures for programs", "cellwright similarity gru --pairs simlex999 --json gru.json"),
)

FEW = 100
"""Correlations of fewer pairs come with a remark."""


def run(
    names: Annotated[list[str], typer.Argument(metavar="RUN", help=RUN_HELP)],
    pairs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SET",
            help="wordsim353, simlex999, or a file with two words and a number a line, apart by "
            "tabs. May be given again. Default: both.",
        ),
    ] = None,
    sgns: Annotated[
        bool, typer.Option("--sgns", help="Train word2vec on the same text to compare with.")
    ] = False,
    sgns_epochs: Annotated[
        int, typer.Option(metavar="N", min=1, max=1000, help="How often it reads the text.")
    ] = 5,
    sgns_least: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="How often a word has to occur for it."),
    ] = 1,
    seed: Annotated[int, typer.Option(metavar="N", min=0, max=2**32 - 1, help="Of word2vec.")] = 0,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw correlations against perplexities: .svg, .pdf or .png."
        ),
    ] = None,
    size: PaperSize = None,
    table: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the correlations as a .csv, .md or .tex file."),
    ] = None,
    json_file: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE", help="Write all figures as JSON; - for output."),
    ] = None,
    runs: Runs = Path("runs"),
) -> None:
    """Compare word vectors of trained models with human judgements of similarity.

    The cosine of two words' embeddings is correlated with how alike people
    found the words, by Pearson and Spearman, as in NAS-Bench-NLP (Klyuchnikov
    et al. 2020, section 4.2), on WordSim-353 and SimLex-999, which come with
    gensim. Upper and lower case are alike.

    Correlations are of the pairs both of whose words all shown models have;
    the column 'has' says how many pairs each model has by itself. With --sgns,
    skip-gram word2vec with negative sampling, as wide as the embeddings, is
    trained on each text. Needs gensim: pip install 'cellwright\\[search]'.
    """
    from cellwright.data.word_pairs import KNOWN_PAIRS, load_pairs
    from cellwright.report.drawing import picture_kind
    from cellwright.report.paper import paper_width
    from cellwright.report.similarity_plots import draw_similarities
    from cellwright.report.similarity_tables import similarity_table
    from cellwright.report.tables import write_table
    from cellwright.runs.word_similarity import similarities
    from cellwright.tasks.language.skip_gram import SkipGramSettings

    width = paper_width(size)
    if plot is not None:
        picture_kind(plot)
    if table is not None:
        check_table(table)
    sets = [load_pairs(name) for name in dict.fromkeys(pairs or KNOWN_PAIRS)]
    settings = SkipGramSettings(epochs=sgns_epochs, least=sgns_least, seed=seed)
    with work_bar() as watch:
        rows = similarities(_loaded(names, runs), sets, settings if sgns else None, watch)
    if plot is not None:
        draw_similarities(rows, sets, plot, width=width)
    if table is not None:
        write_table(similarity_table(rows, sets), table)
    if json_file is not None:
        document = jsonable(_document(rows, sets, asdict(settings) if sgns else None))
        if json_file == "-":
            emit_json(document)
            return
        _write(Path(json_file), document)
    for number, one in enumerate(sets):
        if number:
            stdout().print()
        _print(one, rows, number)
    written = [str(file) for file in (plot, table, json_file) if file is not None]
    if written:
        stdout().print()
        stdout().print(printable(", ".join(written)), soft_wrap=True)


def _loaded(names: list[str], runs: Path) -> Iterator[Any]:
    from cellwright.runs.trained import load_trained

    for name in dict.fromkeys(names):
        yield load_trained(name, runs=runs)


# -- for people --------------------------------------------------------------------------------


def _print(pairs: WordPairs, rows: list[Row], number: int) -> None:
    from cellwright.tasks.language.metric import PERPLEXITY

    used = rows[0].found[number].common.pairs
    console = stdout()
    console.print(f"{pairs.name}: {used:,} of {count(len(pairs), 'pair')}", style="bold cyan")
    table = Listing(
        name_column("model"),
        Column("cell", 5, short="end"),
        Column("text", 7, short="middle"),
        Column("width", 8, right=True),
        Column(PERPLEXITY.name, 3, right=True),
        Column("has", 6, right=True),
        Column("pearson", right=True),
        Column("95%", 2, right=True),
        Column("spearman", 1, right=True),
    )
    for row in rows:
        model, found = row.model, row.found[number]
        table.add(
            model.name,
            model.cell or "–",
            model.corpus,
            f"{model.dimensions:,}",
            PERPLEXITY.shown(model.valid),
            f"{found.own.pairs:,}",
            _figure(found.common.pearson),
            _interval(found.common),
            _figure(found.common.spearman),
        )
    console.print(table)
    if used < FEW:
        note = f"{count(used, 'pair')} are too few to say much: see how wide the 95% intervals are"
        say(note, "dim")


def _figure(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _interval(found: Agreement) -> str:
    low, high = found.interval
    return "–" if math.isnan(low) else f"{low:.2f} to {high:.2f}"


# -- for programs ------------------------------------------------------------------------------


def _document(
    rows: list[Row], sets: list[WordPairs], sgns: dict[str, Any] | None
) -> dict[str, Any]:
    return {
        "sets": [{"name": pairs.name, "pairs": len(pairs)} for pairs in sets],
        "sgns": sgns,
        "models": [
            {
                **asdict(row.model),
                "similarity": [
                    {"set": pairs.name, **_found(found)}
                    for pairs, found in zip(sets, row.found, strict=True)
                ],
            }
            for row in rows
        ],
    }


def _found(found: Similarity) -> dict[str, Any]:
    return {
        which: {**asdict(one), "pearson_95": one.interval}
        for which, one in (("common", found.common), ("own", found.own))
    }


def _write(path: Path, document: Any) -> None:
    import json

    write_named(path, encoded(json.dumps(document, indent=2, ensure_ascii=False) + "\n"))
