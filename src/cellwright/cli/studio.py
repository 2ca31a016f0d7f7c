"""`cellwright studio`: a local page that follows the work in a folder."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from cellwright.cli.help import examples
from cellwright.cli.output import count, say, stderr

EXAMPLES = examples(
    ("all that is in this folder", "cellwright studio"),
    ("another folder, and open the browser", "cellwright studio experiments --open"),
    ("one store of studies, or a server's", "cellwright studio studies.db"),
    ("", "cellwright studio postgresql://me@host/lab"),
    ("a port of one's own", "cellwright studio --port 9000"),
)


def run(
    place: Annotated[
        str, typer.Argument(metavar="FOLDER|STORE", help="What to watch: a folder, or a store.")
    ] = ".",
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Where to listen; only this machine unless said."),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=65535, help="A free one from 8700 on, unless said."),
    ] = None,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Show trainings, searches and studies in the browser, as they run.

    The page has all that a folder holds: curves, the edge weights of a search as
    they settle, the best trials and where they came from, failures with their
    reason, costs, and the time that is left. It follows by itself. Press ? on the
    page for its keys.

    It only reads: a study that is watched is never locked. It needs no network,
    and only this machine can reach it unless --host says otherwise. It needs
    the extra studio: pip install 'cellwright\\[studio]'.
    """
    from cellwright.base.optional import require
    from cellwright.studio.guard import is_loopback
    from cellwright.studio.serve import address_of, listen, serve
    from cellwright.studio.watch import Watch

    for module in ("starlette", "uvicorn"):
        require(module, "the studio", "studio")
    listening = listen(host, port)
    with listening:
        watch = Watch(place)
        address = address_of(listening, host)
        say(f"watching {watch.title}: {count(len(watch.rows()), 'thing')} so far")
        say(f"open {address}  (Ctrl-C ends)")
        if not is_loopback(host):
            say(
                "whoever can reach this machine can read what the page shows; there is no password",
                "yellow",
                stderr(),
            )
        if browser:
            webbrowser.open(address)
        serve(watch, listening, host)
