"""`cellwright tag`: what a trained tagger makes of any text."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from cellwright.base.errors import FileError, refused
from cellwright.base.files import write_named
from cellwright.cli import tag_formats as formats
from cellwright.cli.help import examples
from cellwright.cli.output import encoded, printable, say, stderr, stdout
from cellwright.cli.runs.options import RUN_HELP, Runs
from cellwright.cli.work_bar import work_bar

if TYPE_CHECKING:
    from cellwright.base.progress import Progress
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
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write into this file.")
    ] = None,
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
    chosen = format or (Format.TEXT if out is None and sys.stdout.isatty() else Format.COLUMNS)
    with _opened(file) as stream:
        typed = stream.isatty()
        on_screen = typed or (out is None and sys.stdout.isatty())
        with _notes() if on_screen else work_bar(of_bytes=_size(stream) is not None) as tell:
            from cellwright.runs.taggers import load_tagger

            tagger = load_tagger(run, runs=runs, progress=tell)
            found = tagger.tag(
                _sentences(stream, file, read, split, word),
                probabilities=chosen is Format.JSON,
                window=1 if typed else None,
            )
            if not on_screen:
                found = _told(found, stream, file, tell)
            _write(found, chosen, tagger, out, at_once=typed)
    if out is not None:
        stdout().print(printable(str(out)), soft_wrap=True)


# -- reading -----------------------------------------------------------------------------------


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        if sys.stdin is None:
            raise FileError("standard input is closed")
        yield sys.stdin.buffer
        return
    try:
        stream = open(file, "rb")  # noqa: SIM115
    except OSError as error:
        raise refused("read", Path(file), error) from None
    with stream:
        yield stream


def _sentences(
    stream: BinaryIO, file: str, read: Input, split: Split | None, word: int | None
) -> Iterator[list[str]]:
    from cellwright.data.tagged.untagged import column_sentences, lines_of, text_sentences

    lines = lines_of(stream)
    try:
        if read is Input.COLUMNS:
            yield from column_sentences(lines, 1 if word is None else word)
        else:
            yield from text_sentences(lines, (split or Split.WORDS).value)
    except OSError as error:
        raise refused("read", Path("standard input" if file == "-" else file), error) from None


# -- writing -----------------------------------------------------------------------------------


def _write(
    found: Iterator[TaggedSentence],
    chosen: Format,
    tagger: SentenceTagger,
    out: Path | None,
    *,
    at_once: bool,
) -> None:
    if out is None and chosen is Format.TEXT and formats.has_colours(stdout()):
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
    write = writers[chosen]
    if out is not None:
        write_named(out, (encoded(write(sentence)) for sentence in found))
        return
    safe = sys.stdout.isatty()
    for sentence in found:
        text = write(sentence)
        sys.stdout.buffer.write(encoded(formats.for_terminals(text) if safe else text))
        if at_once:
            sys.stdout.flush()
    sys.stdout.flush()


# -- progress ----------------------------------------------------------------------------------


@contextmanager
def _notes() -> Iterator[Progress]:
    """A line for each long work, where a bar would be in the way of what is shown."""
    told: set[str] = set()

    def tell(what: str, done: int, total: int) -> None:
        if what not in told:
            told.add(what)
            say(f"{what} …", "dim", stderr())

    yield tell


def _told(
    found: Iterator[TaggedSentence], stream: BinaryIO, file: str, tell: Progress
) -> Iterator[TaggedSentence]:
    size = _size(stream)
    for number, sentence in enumerate(found, 1):
        yield sentence
        if size is not None:
            tell(f"tagging {file}", stream.tell(), size)
        else:
            tell("tagging", number, 0)


def _size(stream: BinaryIO) -> int | None:
    """Of a file; None of a pipe, or a terminal."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
