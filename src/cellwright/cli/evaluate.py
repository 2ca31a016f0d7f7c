"""`cellwright evaluate`: what a trained model is worth; if asked, word by word, or its errors."""

from __future__ import annotations

from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellwright.base.files import write_named
from cellwright.cli import evaluate_tables as tables
from cellwright.cli.evaluate_documents import language_document, scored_document
from cellwright.cli.evaluate_tables import Scored
from cellwright.cli.figures import jsonable
from cellwright.cli.help import examples
from cellwright.cli.output import emit_json, encoded, printable, stdout
from cellwright.cli.runs.options import RUN_HELP, SECOND, TRAIN, Runs
from cellwright.cli.work_bar import work_bar

if TYPE_CHECKING:
    from cellwright.runs.texts import Evaluation
    from cellwright.runs.trained import Trained
    from cellwright.tasks.details import Subject
    from cellwright.tasks.task import Part as DataPart

EXAMPLES = examples(
    TRAIN,
    ("what its best weights are worth", "cellwright evaluate gru --part test"),
    ("which words cost most, and how rare they are", "cellwright evaluate gru --words"),
    SECOND,
    ("where the first is better", "cellwright evaluate gru --against rnn --json gru-rnn.json"),
)


LANGUAGE = "language"
"""The task whose models are measured word by word."""


class Part(str, Enum):
    """The parts of the data."""

    VALID = "valid"
    TEST = "test"
    TRAIN = "train"


def run(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    data: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Another text, by name or folder. Default: the run's own."
        ),
    ] = None,
    part: Annotated[Part, typer.Option(help="Which part of it.")] = Part.VALID,
    words: Annotated[
        bool, typer.Option("--words", help="Show losses by word, and by frequency.")
    ] = False,
    errors: Annotated[
        bool, typer.Option("--errors", help="Show what is wrong: spans, labels, scores.")
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Compare with this run, word by word."),
    ] = None,
    top: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many words, or examples, to show.")
    ] = 8,
    least: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="How often the most improved words occur in the text."
        ),
    ] = 3,
    json_file: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE", help="Write all figures as JSON; - for output."),
    ] = None,
    runs: Runs = Path("runs"),
) -> None:
    """Evaluate the best weights of a run on a part of its data.

    For every task: the metric, the loss, and whatever else the task measures.

    For language models, --data names another text. With --words, what each word
    costs: words are grouped by how often the training text has them. With
    --against, where the run is better than another of the same vocabulary: the
    difference in loss for each word, by occurrence, for the words that improve
    most and for the most frequent ones, as ESS (Li et al. 2020, Table 3) shows
    it. Negative is better. The text is read in as many columns as in training's
    own measurements, and the first word of each column is not predicted.

    For taggers, --errors shows which spans were missed, invented, of a wrong
    type or with wrong borders, with examples; precision, recall and F1 of each
    type, also of spans with words that training does not have; and which types
    are taken for which. --against compares two taggers of the same data by how
    often training has the words.

    For sentences, --errors shows which labels are taken for which, with
    precision, recall and F1 of each, and the examples that are most surely wrong;
    of scores, how large errors are by the true score, and the largest. --against
    compares two models of the same data by how long examples are, and by how many
    of their words training does not have.

    In JSON, loss is what was minimised, and value what the metric makes of it.
    """
    trained = _load(run, data, runs)
    if trained.folder.info.recipe.task.kind != LANGUAGE:
        other = None if against is None else _load(against, data, runs)
        _refuse(trained, words, errors, other)
        shown, document = _any_task(trained, other, part.value, data, errors, top)
    else:
        _refuse(trained, False, errors, None)
        found = _evaluate(trained, data, part.value)
        beside = None
        if against is not None:
            beside = _evaluate(_load(against, data, runs), data, part.value, found)
        shown = _tables(found, beside, words, top, least)
        document = language_document(found, beside)
    if json_file == "-":
        emit_json(jsonable(document))
        return
    if json_file is not None:
        _write(Path(json_file), jsonable(document))
    for show in shown:
        show()
    if json_file is not None:
        stdout().print()
        stdout().print(printable(json_file), soft_wrap=True)


def _tables(
    found: Evaluation, other: Evaluation | None, words: bool, top: int, least: int
) -> list[partial[None]]:
    """What is printed of a language model."""
    if other is not None:
        return [
            partial(tables.print_both, found, other),
            partial(tables.print_compared_classes, found, other),
            partial(tables.print_compared_words, found, other, top, least),
        ]
    by_word = [
        partial(tables.print_classes, found),
        partial(tables.print_costliest, found, top),
    ]
    return [partial(tables.print_summary, found), *(by_word if words else [])]


# -- measuring ---------------------------------------------------------------------------------


def _load(run: str, data: str | None, runs: Path) -> Trained:
    from cellwright.cli.data.progress import bar
    from cellwright.runs.trained import load_trained

    with bar() as progress:
        return load_trained(run, runs=runs, data=data, progress=progress)


_FOR = {
    "--words": "language models",
    "--errors": "taggers and models of sentences",
    "--against": "two language models, taggers or models of sentences",
}
"""What options are for, of tasks that come with cellwright."""


def _refuse(trained: Trained, words: bool, errors: bool, other: Trained | None) -> None:
    """Say so if something is asked for that the kind of task does not have."""
    from cellwright.tasks.registry import task_kind

    name = trained.folder.info.recipe.task.kind
    kind = task_kind(name)
    against = other is not None and (
        kind.against is None or other.folder.info.recipe.task.kind != name
    )
    wrong = {"--words": words, "--errors": errors and kind.errors is None, "--against": against}
    for option in (option for option, is_wrong in wrong.items() if is_wrong):
        path, task = trained.folder.path, name
        if option == "--against" and kind.against is not None and other is not None:
            path, task = other.folder.path, other.folder.info.recipe.task.kind
        raise typer.BadParameter(
            f"{option} is for {_FOR[option]}, and {path} has learned the task {task!r}"
        )


def _any_task(
    trained: Trained,
    other: Trained | None,
    part: DataPart,
    data: str | None,
    errors: bool,
    top: int,
) -> tuple[list[partial[None]], dict[str, Any]]:
    """What is printed, and what JSON has, of a model of any task but the language's."""
    from cellwright.tasks.registry import task_kind

    kind = task_kind(trained.folder.info.recipe.task.kind)
    scored = _score(trained, part, data)
    shown = [partial(tables.print_score, scored)]
    document: dict[str, Any] = {"run": scored_document(scored)}
    if errors and kind.errors is not None:
        details = kind.errors(_subject(trained, part), top)
        shown.append(partial(tables.print_details, details))
        document["errors"] = details.document
    if other is not None and kind.against is not None:
        beside = _score(other, part, data)
        details = kind.against(_subject(trained, part), _subject(other, part), top)
        shown.append(partial(tables.print_beside, scored, beside, details))
        document["against"] = scored_document(beside)
        document["compared"] = details.document
    return shown, document


def _subject(trained: Trained, part: DataPart) -> Subject:
    from cellwright.tasks.details import Subject

    size = trained.folder.info.recipe.training.evaluation_batch
    batches = trained.task.ordered(part, size)
    return Subject(str(trained.folder.path), trained.task, trained.model, batches)


def _score(trained: Trained, part: DataPart, data: str | None) -> Scored:
    import time

    from cellwright.runs.texts import score_on

    started = time.perf_counter()
    score = trained.score(part) if data is None else score_on(trained, part, data)
    return Scored(trained, part, score.loss, dict(score.figures), time.perf_counter() - started)


def _evaluate(
    trained: Trained, data: str | None, part: str, first: Evaluation | None = None
) -> Evaluation:
    """A language model on a text; on the very same words as the first one, if there is one."""
    from cellwright.cli.data.progress import bar
    from cellwright.runs.texts import check_same_words, evaluate, text_for

    if first is None:
        with bar() as progress:
            text, batch = text_for(trained, part, data, progress), None
    else:
        check_same_words(first.trained, trained)
        text, batch = first.text, first.batch
    what = f"reading {part}"
    with work_bar(what) as tell:
        return evaluate(trained, text, batch, lambda done, total: tell(what, done, total))


def _write(path: Path, document: Any) -> None:
    import json

    write_named(path, encoded(json.dumps(document, indent=2, ensure_ascii=False) + "\n"))
