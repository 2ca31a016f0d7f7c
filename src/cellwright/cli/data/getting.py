"""`cellwright data get`: bring a corpus onto this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cellwright.cli.help import examples
from cellwright.cli.output import printable_lines, stderr, stdout

EXAMPLES = examples(
    ("nothing to download: it comes with Python", "cellwright data get builtin"),
    ("as text files, under corpora/builtin", "cellwright data get builtin --to corpora"),
    ("which make a corpus like any other", "cellwright data list corpora/builtin"),
)


def run(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="builtin, ptb, wikitext-2, wikitext-103; of sentences with tags conll2003, "
            "conll2000, wnut17; of sentences with labels GLUE's sets (cola, sst-2, mrpc, qqp, "
            "sts-b, mnli, qnli, rte, wnli), sick-r, sick-e.",
        ),
    ],
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="PATH", help="Take it from this archive (zip, tar) or folder."
        ),
    ] = None,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="Download it from this address.")
    ] = None,
    sha256: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="The hash of the file at --url, if not the usual one."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Put it there, under its name. Default: the cache."),
    ] = None,
) -> None:
    """Get a corpus: download it, or take it from files that you have.

    Downloads are checked against the published sha256, and an interrupted one
    goes on where it stopped when the command is run again. WikiText is text of
    Wikipedia, under CC BY-SA. Penn Treebank (ptb) is licensed by the LDC and
    is never downloaded: give Mikolov's simple-examples.tgz, or a folder with
    ptb.train.txt, ptb.valid.txt and ptb.test.txt, with --from. Of the sets with
    tags, WNUT-17 is under CC BY 4.0 and is downloaded; CoNLL-2003 and CoNLL-2000
    have text of others, and come from your own files. GLUE's sets are downloaded
    from where GLUE gives them out, each under a licence of its own; MRPC and SICK
    come from your own files.

    A folder of your own with train, valid and test text needs no getting, and
    'cellwright data make' makes one of other texts.
    """
    from cellwright.cli.data.progress import bar
    from cellwright.data import KNOWN, LABELLED, TAGGED, get, load
    from cellwright.data.labelled import load as load_labelled
    from cellwright.data.tagged import load as load_tagged

    plain = from_ is None and url is None and to is None
    with bar() as progress:
        folder = None
        if not (plain and _is_here(name)):
            folder = get(name, origin=from_, url=url, sha256=sha256, to=to, progress=progress)
        if name in LABELLED:
            described = load_labelled(name, folder=folder, progress=progress).describe()
        elif name in TAGGED:
            described = load_tagged(name, folder=folder, progress=progress).describe()
        else:
            described = load(name, folder=folder, progress=progress).describe()
    stdout().print(printable_lines(described), soft_wrap=True)
    known = LABELLED.get(name) or TAGGED.get(name) or KNOWN[name]
    stderr().print(f"licence: {known.licence} ({known.title})", style="dim", soft_wrap=True)


def _is_here(name: str) -> bool:
    from cellwright.data import KNOWN, LABELLED, TAGGED
    from cellwright.data.sources import is_here

    return any(name in names for names in (KNOWN, TAGGED, LABELLED)) and is_here(name)
