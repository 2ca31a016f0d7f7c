"""`cellwright data list`: the corpora, where they are, and what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellwright.cli.help import examples
from cellwright.cli.output import emit_json, say, stdout
from cellwright.cli.tables import Column, Listing, figures, name_column

if TYPE_CHECKING:
    from cellwright.data import Corpus

EXAMPLES = examples(
    ("what is known by name", "cellwright data list"),
    ("one corpus, with its counts", "cellwright data list builtin"),
    ("a folder with train.txt, valid.txt and test.txt", "cellwright data get builtin --to mine"),
    ("", "cellwright data list mine/builtin"),
    ("for programs", "cellwright data list builtin --json"),
)

_COUNTS = ("train", "valid", "test", "vocabulary")


def run(
    corpora: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CORPUS",
            help="Names, or folders with train, valid and test text; all names if left out.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List corpora: where they are, their tokens and vocabulary.

    Named on the command line, a corpus is read and its token files are made,
    so that its counts are known. Without arguments nothing is made, and what
    has not been read yet has no counts.

    Tokens are counted with one <eos> a line. A word of valid or test that
    train does not have counts as unknown, and becomes <unk>.
    """
    rows = [_named(name) for name in corpora] if corpora else _all()
    if as_json:
        emit_json(rows)
        return
    table = Listing(
        name_column("name"),
        *figures(*_COUNTS, goes=2),
        Column("unknown", 6, right=True),
        Column("licence", 7),
        Column("where", 1, short="middle", least=40),
    )
    for row in rows:
        counts = ["–" if row[name] is None else f"{row[name]:,}" for name in _COUNTS]
        unknown = "–" if row["unknown"] is None else f"{sum(row['unknown'].values()):,}"
        where = row["where"] if row["problem"] is None else row["problem"]
        table.add(row["name"], *counts, unknown, row["licence"] or "–", where)
    stdout().print(table)
    for row in rows:
        if row["as_published"] is False:
            note = f"{row['name']}: these are not its published counts; another text?"
            say(note, "yellow")
    if any(row["where"] is not None and not row["prepared"] for row in rows):
        say("–: not read yet; 'cellwright data list NAME' reads it", "dim")


def _named(name: str) -> dict[str, Any]:
    from cellwright.cli.data.progress import bar
    from cellwright.data import load

    with bar() as progress:
        return _row(load(name, progress=progress))


def _all() -> list[dict[str, Any]]:
    from cellwright.data import KNOWN, DataError
    from cellwright.data.cache import peek
    from cellwright.data.corpus import opened
    from cellwright.data.sources import is_here, locate

    rows = []
    for known in KNOWN.values():
        where, entry = None, None
        problem: str | None = f"not here; cellwright data get {known.name}"
        try:
            if is_here(known.name):
                source = locate(known.name)
                where, problem, entry = source.where, None, peek(source)
        except DataError as error:
            problem = str(error)
        if entry is not None:
            rows.append(_row(opened(source, entry)))
            continue
        rows.append(
            {
                "name": known.name,
                "title": known.title,
                "licence": known.licence,
                "where": where,
                "problem": problem,
                "prepared": False,
                **dict.fromkeys((*_COUNTS, "lines", "unknown", "as_published")),
            }
        )
    return rows


def _row(corpus: Corpus) -> dict[str, Any]:
    known = corpus.known
    return {
        "name": corpus.name,
        "title": None if known is None else known.title,
        "licence": None if known is None else known.licence,
        "where": corpus.where,
        "problem": None,
        "prepared": True,
        **corpus.tokens,
        "vocabulary": len(corpus.vocabulary),
        "lines": dict(corpus.lines),
        "unknown": dict(corpus.unknown),
        "as_published": corpus.as_published,
    }
