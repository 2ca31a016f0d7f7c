"""`cellwright evaluate`: what a trained model makes of a text, word by word if asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellwright.cli import evaluate_tables as tables
from cellwright.cli.figures import jsonable
from cellwright.cli.help import examples
from cellwright.cli.output import emit_json, printable, stderr, stdout, write_whole
from cellwright.cli.runs.options import RUN_HELP, SECOND, TRAIN, Runs

if TYPE_CHECKING:
    from cellwright.runs.texts import Evaluation, Watch

EXAMPLES = examples(
    TRAIN,
    ("the perplexity of its best weights", "cellwright evaluate gru --part test"),
    ("which words cost most, and how rare they are", "cellwright evaluate gru --words"),
    SECOND,
    ("where the first is better", "cellwright evaluate gru --against rnn --json gru-rnn.json"),
)


class Part(str, Enum):
    """The parts of a corpus."""

    VALID = "valid"
    TEST = "test"
    TRAIN = "train"


def run(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    data: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Another corpus or folder. Default: the run's own."),
    ] = None,
    part: Annotated[Part, typer.Option(help="Which text of it.")] = Part.VALID,
    words: Annotated[
        bool, typer.Option("--words", help="Show losses by word, and by frequency.")
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Compare with this run, word by word."),
    ] = None,
    top: Annotated[int, typer.Option(metavar="N", min=1, help="How many words to show.")] = 8,
    least: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="How often the most improved words occur in the text."
        ),
    ] = 3,
    json_file: Annotated[
        str | None,
        typer.Option(
            "--json", metavar="FILE", help="Write figures of all words as JSON; - for output."
        ),
    ] = None,
    runs: Runs = Path("runs"),
) -> None:
    """Evaluate the best weights of a run on a text.

    With --words, what each word costs: words are grouped by how often the
    training text has them. With --against, where the run is better than
    another of the same vocabulary: the difference in loss for each word, by
    occurrence, for the words that improve most and for the most frequent
    ones, as ESS (Li et al. 2020, Table 3) shows it. Negative is better.

    The text is read in as many columns as in training's own measurements, and
    the first word of each column is not predicted.
    """
    found = _evaluate(run, data, part.value, runs)
    other = None if against is None else _evaluate(against, data, part.value, runs, found)
    if json_file is not None:
        document = jsonable(_document(found, other))
        if json_file == "-":
            emit_json(document)
            return
        _write(Path(json_file), document)
    if other is None:
        tables.print_summary(found)
        if words:
            tables.print_classes(found)
            tables.print_costliest(found, top)
    else:
        tables.print_both(found, other)
        tables.print_compared_classes(found, other)
        tables.print_compared_words(found, other, top, least)
    if json_file is not None:
        stdout().print()
        stdout().print(printable(json_file), soft_wrap=True)


# -- measuring ---------------------------------------------------------------------------------


def _evaluate(
    run: str, data: str | None, part: str, runs: Path, first: Evaluation | None = None
) -> Evaluation:
    """A run on a text; on the very same words as the first one, if there is one."""
    from cellwright.cli.data.progress import bar
    from cellwright.runs.texts import check_same_words, evaluate, text_for
    from cellwright.runs.trained import load_trained

    with bar() as progress:
        trained = load_trained(run, runs=runs, data=data, progress=progress)
        if first is None:
            text, batch = text_for(trained, part, data, progress), None
        else:
            check_same_words(first.trained, trained)
            text, batch = first.text, first.batch
    with _words_bar(f"reading {part}") as watch:
        return evaluate(trained, text, batch, watch)


@contextmanager
def _words_bar(what: str) -> Iterator[Watch]:
    """A bar on standard error while a text is read, where that is a terminal."""
    from rich import progress as rich

    console = stderr()
    with rich.Progress(
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


# -- figures for programs ----------------------------------------------------------------------


def _document(found: Evaluation, other: Evaluation | None) -> dict[str, Any]:
    words = _words(found)
    if other is None:
        return {"run": _figures(found), "words": words}
    for row, against in zip(words, _words(other), strict=True):
        row["loss_against"] = against["loss"]
        row["difference"] = (row["loss"] - against["loss"]) / row["count"]
    return {"run": _figures(found), "against": _figures(other), "words": words}


def _figures(found: Evaluation) -> dict[str, Any]:
    from cellwright.tasks.language.metric import perplexity
    from cellwright.tasks.language.words import by_frequency

    info = found.trained.folder.info
    return {
        "path": str(found.trained.folder.path),
        "cell": info.cell.name or info.cell.id,
        "epoch": found.trained.epoch,
        "data": found.text.corpus.name,
        "part": found.text.part,
        "batch": found.batch,
        "tokens": found.words.tokens,
        "unknown": found.text.unknown,
        "loss": found.words.mean,
        "perplexity": perplexity(found.words.mean),
        "seconds": found.seconds,
        "by_training_count": [
            {
                "least": group.least,
                "most": group.most,
                "types": group.types,
                "tokens": group.tokens,
                "loss": group.loss,
            }
            for group in by_frequency(found.words)
        ],
    }


def _words(found: Evaluation) -> list[dict[str, Any]]:
    from cellwright.tasks.language.words import most_frequent

    words = found.words
    return [
        {
            "word": words.vocabulary.token(word),
            "training_count": int(words.vocabulary.counts[word]),
            "count": int(words.counts[word]),
            "loss": float(words.losses[word]),
        }
        for word in most_frequent(words, len(words.vocabulary)).tolist()
    ]


def _write(path: Path, document: Any) -> None:
    import json

    write_whole(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
