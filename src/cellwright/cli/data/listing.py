"""`cellwright data list`: the data, where it is, and what is in it."""

from __future__ import annotations

from typing import Annotated

import typer

from cellwright.base.errors import UserError
from cellwright.cli.data.rows import COUNTS, all_known, named
from cellwright.cli.help import examples
from cellwright.cli.output import emit_json, printable_lines, say, stdout
from cellwright.cli.tables import Column, Listing, figures, name_column

EXAMPLES = examples(
    ("what is known by name", "cellwright data list"),
    ("one corpus, with its counts", "cellwright data list builtin"),
    ("a folder with train.txt, valid.txt and test.txt", "cellwright data get builtin --to mine"),
    ("", "cellwright data list mine/builtin"),
    ("for programs", "cellwright data list builtin --json"),
)


def run(
    corpora: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CORPUS",
            help="Names, or folders with train, valid and test files; all names if left out.",
        ),
    ] = None,
    tagged: Annotated[
        bool,
        typer.Option(
            "--tagged",
            help="The files have a word and its tags a line. So they have by themselves if they "
            "end in .conll, .tsv or .bio.",
        ),
    ] = False,
    columns: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Of tagged files: their columns, as 'word pos ner'."),
    ] = None,
    tag: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Of tagged files: the tags, by name or number. Default: the last.",
        ),
    ] = None,
    scheme: Annotated[
        str | None,
        typer.Option(
            metavar="SCHEME",
            help="Of tagged files: IOB1, IOB2, IOBES, or plain, a label for each word.",
        ),
    ] = None,
    labelled: Annotated[
        bool,
        typer.Option(
            "--labelled",
            help="The files have sentences or pairs with a label each. So they have by themselves "
            "if their first line names such columns.",
        ),
    ] = False,
    first: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Of labelled files: the (first) sentence, by name or number."
        ),
    ] = None,
    second: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Of labelled files: the second sentence.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Of labelled files: the label or score.")
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="HOW", help="Of labelled files: what a word is: words, spaces or spacy."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List data: where it is, its words and vocabulary.

    Named on the command line, data is read and its token files are made, so
    that its counts are known. Without arguments nothing is made, and what has
    not been read yet has no counts.

    Of running text, tokens are counted with one <eos> a line. A word of valid
    or test that train does not have counts as unknown, and becomes <unk>; of
    sentences with tags or labels it stays what it is.
    """
    tags = {"columns": columns, "tag": tag, "scheme": scheme}
    labels = {"first": first, "second": second, "label": label, "tokenizer": tokenizer}
    as_tagged, as_labelled = (
        settings if asked or any(value is not None for value in settings.values()) else None
        for settings, asked in ((tags, tagged), (labels, labelled))
    )
    if as_tagged is not None and as_labelled is not None:
        raise UserError("data is sentences with tags or with labels; leave out one of the two")
    rows = [named(name, as_tagged, as_labelled) for name in corpora] if corpora else all_known()
    if as_json:
        emit_json([{name: row[name] for name in row if name != "description"} for row in rows])
        return
    table = Listing(
        name_column("name"),
        *figures(*COUNTS, goes=2),
        Column("unknown", 6, right=True),
        Column("licence", 7),
        Column("where", 1, short="middle", least=40),
    )
    for row in rows:
        counts = ["–" if row[name] is None else f"{row[name]:,}" for name in COUNTS]
        unknown = "–" if row["unknown"] is None else f"{sum(row['unknown'].values()):,}"
        where = row["where"] if row["problem"] is None else row["problem"]
        table.add(row["name"], *counts, unknown, row["licence"] or "–", where)
    stdout().print(table)
    for row in rows:
        if corpora and "description" in row:
            stdout().print(f"\n{printable_lines(row['description'])}", soft_wrap=True)
        elif row["as_published"] is False:
            note = f"{row['name']}: these are not its published counts; another text?"
            say(note, "yellow")
    if any(row["where"] is not None and not row["prepared"] for row in rows):
        say("–: not read yet; 'cellwright data list NAME' reads it", "dim")
