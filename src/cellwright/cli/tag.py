"""`cellwright tag`: what a trained tagger makes of any text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cellwright.cli import tag_formats as formats
from cellwright.cli.help import examples
from cellwright.cli.item_stream import ItemStream, Out, item_stream
from cellwright.cli.output import stdout
from cellwright.cli.runs.options import RUN_HELP, Runs

if TYPE_CHECKING:
    from cellwright.tasks.tagging.use import SentenceTagger, TaggedSentence

EXAMPLES = examples(
    ("the entities of a text, with a run named ner", "cellwright tag ner news.txt"),
    ("for programs", "echo 'Ann lives in Oslo.' | cellwright tag ner --format json"),
    ("a column file", "cellwright tag ner test.conll --input columns --out tagged.conll"),
)


class Format(str, Enum):
    """What is written."""

    COLUMNS = "columns"
    JSON = "json"
    TEXT = "text"


class Input(str, Enum):
    """What is read."""

    TEXT = "text"
    COLUMNS = "columns"


class Split(str, Enum):
    """How a line of text becomes words."""

    WORDS = "words"
    SPACES = "spaces"


def run(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="What to tag; - is standard input.")
    ] = "-",
    format: Annotated[
        Format | None,
        typer.Option(help="Default: text on a terminal, and columns elsewhere."),
    ] = None,
    out: Out = None,
    read: Annotated[
        Input, typer.Option("--input", help="A sentence a line, or columns.")
    ] = Input.TEXT,
    split: Annotated[
        Split | None,
        typer.Option(help="Where words of text end: punctuation too, or spaces alone."),
    ] = None,
    word: Annotated[
        int | None,
        typer.Option(metavar="N", help="The words' column; -1 is the last. Default: the first."),
    ] = None,
    runs: Runs = Path("runs"),
) -> None:
    """Tag sentences with a trained tagger.

    Read is plain text, a sentence a line, or with --input columns the words of
    column files, with an empty line between sentences. Any bytes will do:
    what is no UTF-8 becomes a replacement character. The run's folder is
    enough, with the vectors that it was trained with.

    Written is a word and its tag a line, as column files have it; with --format
    json a line for each sentence: words, tags, spans (start, end, type; the end
    is behind the last word), and how probable each word's tag is, whatever
    the others are; with --format text the sentences, with their spans marked.
    """
    if read is Input.COLUMNS and split is not None:
        raise typer.BadParameter("--split is for --input text: columns are words already")
    if read is Input.TEXT and word is not None:
        raise typer.BadParameter("--word is for --input columns")
    with item_stream(file, out) as source, source.progress() as tell:
        from cellwright.runs.taggers import load_tagger

        chosen = format or (Format.TEXT if source.printed else Format.COLUMNS)
        tagger = load_tagger(run, runs=runs, progress=tell)
        found = tagger.tag(
            _sentences(source, read, split, word),
            probabilities=chosen is Format.JSON,
            window=source.window,
        )
        _write(source.told(found, "tagging", tell), chosen, tagger, source)


def _sentences(
    source: ItemStream, read: Input, split: Split | None, word: int | None
) -> Iterator[list[str]]:
    from cellwright.data.tagged.untagged import column_sentences, lines_of, text_sentences

    lines = lines_of(source.stream)
    try:
        if read is Input.COLUMNS:
            yield from column_sentences(lines, 1 if word is None else word)
        else:
            yield from text_sentences(lines, (split or Split.WORDS).value)
    except OSError as error:
        raise source.refused(error) from None


def _write(
    found: Iterator[TaggedSentence], chosen: Format, tagger: SentenceTagger, source: ItemStream
) -> None:
    if chosen is Format.TEXT and source.printed and formats.has_colours(stdout()):
        styles = formats.styles(tagger.task.data.tags.types)
        console = stdout()
        for sentence in found:
            console.print(formats.coloured(sentence, styles), soft_wrap=True)
        return
    writers: dict[Format, Callable[[TaggedSentence], str]] = {
        Format.COLUMNS: formats.columns,
        Format.JSON: formats.json_line,
        Format.TEXT: formats.marked,
    }
    source.write(map(writers[chosen], found))
