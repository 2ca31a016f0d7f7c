"""`cellwright predict`: the labels or scores that a trained model gives any sentences or pairs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellwright.cli.figures import jsonable
from cellwright.cli.help import examples
from cellwright.cli.item_stream import ItemStream, Out, item_stream
from cellwright.cli.runs.options import RUN_HELP, Runs

if TYPE_CHECKING:
    from cellwright.data.labelled import Options
    from cellwright.tasks.sentences.task import SentencesTask
    from cellwright.tasks.sentences.use import Prediction

EXAMPLES = examples(
    ("what films are worth, with a run named films", "cellwright predict films reviews.txt"),
    ("for programs", "echo 'so good' | cellwright predict films --format json"),
    ("a table", "cellwright predict films new.csv --first comment --out found.tsv"),
)


class Format(str, Enum):
    """What is written."""

    TSV = "tsv"
    JSON = "json"


class Input(str, Enum):
    """What is read."""

    AUTO = "auto"
    TEXT = "text"
    TABS = "tabs"
    COMMAS = "commas"
    SEMICOLONS = "semicolons"
    JSON = "json"


def run(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="What to read; - is standard input.")
    ] = "-",
    format: Annotated[
        Format, typer.Option(help="A table, or JSON lines with probabilities.")
    ] = Format.TSV,
    out: Out = None,
    read: Annotated[
        Input,
        typer.Option("--input", help="Plain text, or what is between columns. auto: by ending."),
    ] = Input.AUTO,
    first: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The (first) sentence's column, by name or number."),
    ] = None,
    second: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The second sentence's column; none: there is none."),
    ] = None,
    runs: Runs = Path("runs"),
) -> None:
    """Give sentences or pairs a label or a score with a trained model.

    Read are tables that end in .tsv, .csv or .jsonl, with columns named as in
    training or in a usual way (sentence, sentence1, sentence2, premise,
    hypothesis, text), and the official files of the data that the run has
    learned. Everything else is plain text: a sentence a line, of a pair with a
    tab between the two. There any bytes will do: what is no UTF-8 becomes a
    replacement character. The run's folder is enough, with the vectors that it
    was trained with.

    Written is a row for each that was read, in the same order: sentences and
    prediction; with --format json also how probable each label is.
    """
    columns = {
        name: said for name, said in (("first", first), ("second", second)) if said is not None
    }
    if read is Input.TEXT and columns:
        raise typer.BadParameter(f"--{next(iter(columns))} is for tables, and not for --input text")
    with item_stream(file, out) as source, source.progress() as tell:
        from cellwright.runs.predictors import load_predictor

        predictor = load_predictor(run, runs=runs, progress=tell)
        found = predictor.predict(
            _examples(source, predictor.task, read, columns), window=source.window
        )
        told = source.told(found, "predicting", tell)
        if format is Format.JSON:
            source.write(map(_json_line, told))
        else:
            source.write(_rows(told, predictor.task.data.per_example))


# -- reading -----------------------------------------------------------------------------------


def _examples(
    source: ItemStream, task: SentencesTask, read: Input, columns: dict[str, str]
) -> Iterator[tuple[str, ...]]:
    from cellwright.data.labelled import examples_of
    from cellwright.data.replayed import replayed

    plain = read is Input.TEXT or (
        read is Input.AUTO and not columns and Path(source.file).suffix.lower() not in _TABLES
    )
    return examples_of(
        replayed(source.stream, source.name),
        name="" if read is Input.TEXT else task.settings.data,
        per_example=task.data.per_example,
        options=_options(task.settings.options, source.file, read, columns),
        plain=plain,
    )


_TABLES = {".tsv": "tabs", ".csv": "commas", ".jsonl": "json", ".json": "json"}
"""How tables end, and what is between columns, unless the run's own tables say otherwise."""


def _options(own: Options, file: str, read: Input, columns: dict[str, str]) -> Options:
    """Columns as in training, unless others are said."""
    if columns:
        second = columns.get("second", own.second)
        own = replace(own, first=columns.get("first", own.first), second=second, label="")
    if read not in (Input.AUTO, Input.TEXT):
        return replace(own, separator=read.value)
    usual = _TABLES.get(Path(file).suffix.lower(), "tabs")
    if "json" in (usual, own.separator) or own.separator == "auto":
        return replace(own, separator=usual)
    return own


# -- writing -----------------------------------------------------------------------------------


def _rows(found: Iterator[Prediction], per_example: int) -> Iterator[str]:
    """The lines of a table: sentences and what was predicted; before the first, names of columns.

    They come with the first row, so that nothing is written if there can be none.
    """
    names = "\t".join([*_names(per_example), "prediction"]) + "\n"
    for one in found:
        said = one.label if one.label is not None else f"{one.score:.6g}"
        row = "\t".join(_BREAKS.sub(" ", text) for text in (*one.sentences, said))
        yield f"{names}{row}\n"
        names = ""
    if names:
        yield names


_BREAKS = re.compile(r"[\t\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""What would end a column or a line of a table."""


def _json_line(one: Prediction) -> str:
    value: dict[str, Any] = dict(zip(_names(len(one.sentences)), one.sentences, strict=True))
    if one.label is not None:
        value["prediction"] = one.label
        value["probabilities"] = {label: round(p, 6) for label, p in one.probabilities.items()}
    else:
        value["prediction"] = float(f"{one.score:.6g}")
    return json.dumps(jsonable(value), ensure_ascii=False) + "\n"


def _names(per_example: int) -> tuple[str, ...]:
    return ("sentence",) if per_example == 1 else ("sentence1", "sentence2")
