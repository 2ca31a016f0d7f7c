"""`cellwright data make`: a corpus from a folder of texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from cellwright.cli.help import examples
from cellwright.cli.options import Seed
from cellwright.cli.output import count, emit_json, printable, stderr, stdout

if TYPE_CHECKING:
    from cellwright.data import Made

EXAMPLES = examples(
    ("some files of text, in texts/builtin", "cellwright data get builtin --to texts"),
    ("a corpus of them, in the folder corpus", "cellwright data make texts -o corpus"),
    (
        "of words as they stand, the 500 most frequent",
        "cellwright data make texts -o small --tokens spaces --vocabulary 500",
    ),
    ("each character a word", "cellwright data make texts -o chars --tokens characters --lower"),
    ("these are corpora like any other", "cellwright data list corpus small chars"),
)


def run(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder with files of text, or one file.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="OUT", help="The folder to make the corpus in.")
    ],
    files: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Take files of such names, as '*.py', and not those that end as text does. May "
            "be given again.",
        ),
    ] = None,
    encoding: Annotated[str, typer.Option(metavar="NAME", help="Of all files.")] = "utf-8",
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Pass over files of another encoding.")
    ] = False,
    tokens: Annotated[
        str, typer.Option(metavar="HOW", help="What a word is: words, spaces or characters.")
    ] = "words",
    lower: Annotated[bool, typer.Option("--lower", help="Make letters lower case.")] = False,
    numbers: Annotated[bool, typer.Option("--numbers", help="Make every number N.")] = False,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="files: whole files into each part; share: blocks of lines. Default: files, if "
            "there are 20 or more of fitting sizes.",
        ),
    ] = None,
    valid: Annotated[
        float, typer.Option(metavar="SHARE", help="How much of the text valid gets.")
    ] = 0.1,
    test: Annotated[
        float, typer.Option(metavar="SHARE", help="How much of the text test gets.")
    ] = 0.1,
    seed: Seed = 0,
    vocabulary: Annotated[
        int, typer.Option(metavar="N", help="The most types, with <unk> and <eos>.")
    ] = 10_000,
    least: Annotated[
        int, typer.Option(metavar="N", help="How often train has to have a word.")
    ] = 2,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a corpus in OUT that was made so.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make a corpus from your own texts: train, valid and test.

    Reads all files below FOLDER that end in .txt, .text, .md, .markdown or
    .rst, or have no ending and are text; .gz files are unpacked on the way.
    Files with the same text count once. Nothing is stripped: .html files, taken
    by --files, keep their tags.

    words are runs of letters, marks and digits of any script, with apostrophes
    and hyphens inside them (don't, well-known); every other character is a word
    of its own. spaces takes what is between spaces as it is. characters takes
    each character, and ␣ for spaces.

    A line of the text is a line of the corpus; empty ones are left out. Words
    that are rare in train become <unk> everywhere. The same texts, options and
    seed give the same corpus, and OUT/corpus.json says how it was made.
    """
    from cellwright.cli.data.progress import bar
    from cellwright.data import make
    from cellwright.data.texts.work import StoppedError

    try:
        with bar() as progress:
            made = make(
                folder,
                out,
                files=files or (),
                encoding=encoding,
                skip_bad=skip_bad,
                tokens=tokens,
                lower=lower,
                numbers=numbers,
                split=split,
                valid=valid,
                test=test,
                seed=seed,
                vocabulary=vocabulary,
                least=least,
                force=force,
                progress=progress,
            )
    except StoppedError as stop:
        stderr().print(f"{stop}", style="yellow")
        raise typer.Exit(128 + stop.signal) from None
    if as_json:
        emit_json(
            {
                "where": made.where,
                **made.to_json(),
                "seconds": round(made.seconds, 3),
                "notes": list(made.notes()),
                "next": made.next_commands(),
            }
        )
        return
    _print(made)


def _print(made: Made) -> None:
    from cellwright.base.amounts import duration

    out = stdout()
    out.print(f"{printable(made.where)}: made in {duration(made.seconds)}", soft_wrap=True)
    out.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("part", style="cyan", no_wrap=True)
    for name in ("lines", "tokens", "<unk>"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, part in made.parts.items():
        unknown = f"{100 * part.unknown_share:.1f}%"
        table.add_row(name, f"{part.lines:,}", f"{part.tokens:,}", unknown)
    out.print(table)
    out.print()
    how = f"split by {'file' if made.split == 'files' else 'share, in blocks of lines'}"
    facts = {
        "read": f"{count(made.read, 'file')}, {how}",
        "skipped": ", ".join(f"{n:,} {why}" for why, n in sorted(made.skipped.items())),
        "types": f"{made.types:,}, with <unk> and <eos>, of train's {made.types_read:,} words",
        "frequent": "  ".join(map(printable, made.frequent)),
    }
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, fact in facts.items():
        if fact:
            grid.add_row(Text(name, style="bold"), Text(fact))
    out.print(grid)
    for note in made.notes():
        out.print(f"note: {note}", style="yellow")
    out.print()
    for command in made.next_commands():
        out.print(f"next  {printable(command)}", style="dim", soft_wrap=True)
