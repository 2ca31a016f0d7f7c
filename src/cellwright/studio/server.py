"""What the browser can ask for.

| address | answer |
|---|---|
| `/`, `/page/NAME` | the page, from a list of files |
| `/api/list` | a row for everything that was found |
| `/api/item?id=` | all of one thing |
| `/api/trials?id=&since=` | the trials of a study as columns: all, or what has changed |
| `/api/trial?id=&number=` | one trial, with its curve and where it comes from |
| `/api/cell?id=&trial=&seed=&place=` | a cell: picture, formulas, figures |
| `/api/events` | what has changed, as it does (server-sent events) |
| `/files/PATH` | a file of the folder, to take away |
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellwright.base.errors import UserError
from cellwright.base.optional import require
from cellwright.base.regular_files import MOST_TEXT, read_regular
from cellwright.cell.errors import CellError
from cellwright.studio.cell_view import cell_document
from cellwright.studio.found import is_inside
from cellwright.studio.guard import FILE_POLICY, App, Guard
from cellwright.studio.reader import NotWatchedError
from cellwright.studio.rows import jsonable
from cellwright.studio.watch import Change, Watch

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

LOOK_SECONDS = 0.7
"""The time between two looks, while a page is open."""

ALIVE_SECONDS = 15.0
"""After so long without news a page is told that the server is there."""

MOST_WAITING = 200
"""Events that a page may be behind."""

_PAGE_TYPES = {
    ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml",
}  # fmt: skip

_FILE_TYPES = {
    **dict.fromkeys((".csv", ".jsonl", ".tex", ".toml", ".txt"), "text/plain"),
    ".json": "application/json",
    ".html": "text/html",
    ".svg": "image/svg+xml",
}
"""What may be taken away. A report is shown as it is, but runs no script (`FILE_POLICY`)."""


class News:
    """Tells every open page what has changed. Nobody looks while no page is open."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._pages: set[asyncio.Queue[str | None]] = set()
        self._looking: asyncio.Task[None] | None = None
        self._trouble: str | None = None
        self._over = False

    async def stream(self) -> AsyncIterator[str]:
        """The events for one page, until it or the server goes."""
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        if self._over:
            return
        self._pages.add(queue)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_on())
        try:
            yield _event("all", _everything(self._watch))
            while True:
                try:
                    event = await asyncio.wait_for(queue.get(), ALIVE_SECONDS)
                except asyncio.TimeoutError:
                    event = ": still here\n\n"
                if event is None:
                    return
                yield event
        finally:
            self._pages.discard(queue)

    async def _look_on(self) -> None:
        while self._pages and not self._over:
            begun = time.monotonic()
            try:
                change = await asyncio.to_thread(self._watch.look)
            except (UserError, OSError) as error:  # the folder is away, for a moment or for good
                change = Change(trouble=str(error))
            except Exception as error:  # a mistake of ours in one file must not end the following
                change = Change(trouble=f"{type(error).__name__}: {error}")
            event = self._changed(change)
            for queue in [] if event is None else list(self._pages):
                # A page that reads nothing is let go; it asks for everything when it comes back.
                queue.put_nowait(None if queue.qsize() > MOST_WAITING else event)
            # What takes long to look at is looked at less often.
            await asyncio.sleep(max(LOOK_SECONDS, 3 * (time.monotonic() - begun)))

    def _changed(self, change: Change) -> str | None:
        if not change.rows and not change.gone and change.trouble == self._trouble:
            return None
        self._trouble = change.trouble
        return _event("change", vars(change))

    def end(self) -> None:
        """Let every page go."""
        self._over = True
        for queue in self._pages:
            queue.put_nowait(None)


def _everything(watch: Watch) -> dict[str, Any]:
    return {
        "rows": watch.rows(),
        "notes": watch.notes,
        "trouble": watch.trouble,
        "title": watch.title,
    }


def _event(name: str, value: Any) -> str:
    return f"event: {name}\ndata: {_json(value)}\n\n"


def _json(value: Any) -> str:
    return json.dumps(jsonable(value), separators=(",", ":"), allow_nan=False)


def _plain_json(value: Any) -> str:
    """As `_json`, of values that have nothing in them but what JSON has: columns are long."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def make_app(watch: Watch, host: str = "127.0.0.1") -> tuple[App, News]:
    """The server's application, and what ends the streams of its pages.

    Args:
        watch: what is shown.
        host: the address that is listened on, by which requests are told from forged ones.

    Raises:
        MissingPackageError: starlette is not installed.
    """
    applications = require("starlette.applications", "the studio", "studio")
    responses = require("starlette.responses", "the studio", "studio")
    routing = require("starlette.routing", "the studio", "studio")
    news = News(watch)

    def answered(
        find: Callable[[Request], Any], written: Callable[[Any], str] = _json
    ) -> Callable[[Request], Any]:
        """A handler that answers with JSON, found in a thread: files and databases may be slow."""

        async def handle(request: Request) -> Response:
            try:
                body = await asyncio.to_thread(lambda: written(find(request)))
                status = 200
            except (NotWatchedError, FileNotFoundError) as error:
                body, status = _json({"error": str(error)}), 404
            except (UserError, CellError, OSError) as error:
                body, status = _json({"error": str(error)}), 422
            made: Response = responses.Response(body, status, media_type="application/json")
            return made

        return handle

    async def events(request: Request) -> Response:
        stream = news.stream()
        made: Response = responses.StreamingResponse(stream, media_type="text/event-stream")
        return made

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        data = page_files().get(name)
        if data is None:
            return _missing(responses)
        kind = _PAGE_TYPES[Path(name).suffix]
        made: Response = responses.Response(data, media_type=f"{kind}; charset=utf-8")
        return made

    async def file(request: Request) -> Response:
        found = await asyncio.to_thread(read_file, watch.root, request.path_params["path"])
        if found is None:
            return _missing(responses)
        data, kind = found
        headers = {"Content-Security-Policy": FILE_POLICY}
        made: Response = responses.Response(
            data, media_type=f"{kind}; charset=utf-8", headers=headers
        )
        return made

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        yield
        news.end()

    routes = [
        routing.Route("/", page),
        routing.Route("/page/{name}", page),
        routing.Route(
            "/api/list",
            answered(lambda r: _everything(watch)),
        ),
        routing.Route("/api/item", answered(lambda r: watch.detail(_text(r, "id")))),
        routing.Route(
            "/api/trials", answered(lambda r: watch.trials(_text(r, "id"), _moment(r)), _plain_json)
        ),
        routing.Route(
            "/api/trial", answered(lambda r: watch.trial(_text(r, "id"), _count(r, "number", 0)))
        ),
        routing.Route("/api/cell", answered(lambda r: _cell(watch, r))),
        routing.Route("/api/events", events),
        routing.Route("/files/{path:path}", file),
    ]
    app = applications.Starlette(routes=routes, lifespan=lifespan)
    return Guard(app, host), news


@lru_cache
def page_files() -> dict[str, bytes]:
    """The files of the page, by name. Nothing else is ever read for it."""
    folder = resources.files("cellwright.studio") / "page"
    return {
        each.name: each.read_bytes()
        for each in folder.iterdir()
        if Path(each.name).suffix in _PAGE_TYPES
    }


def read_file(root: Path | None, name: str) -> tuple[bytes, str] | None:
    """A file of the folder and its type; None if there is none that may be taken away."""
    kind = _FILE_TYPES.get(Path(name).suffix)
    parts = Path(name).parts
    hidden = any(part.startswith(".") or "\0" in part or "\\" in part for part in parts)
    if root is None or kind is None or hidden or not parts or Path(name).is_absolute():
        return None
    path = root / name
    if not is_inside(root, path):
        return None
    try:
        return read_regular(path, MOST_TEXT), kind
    except OSError:
        return None


def _missing(responses: Any) -> Response:
    made: Response = responses.PlainTextResponse("there is no such file\n", 404)
    return made


# -- what a request says -------------------------------------------------------------------------


def _text(request: Request, name: str) -> str:
    return str(request.query_params.get(name, ""))


def _count(request: Request, name: str, least: int) -> int:
    text = _text(request, name)
    try:
        value = int(text)
    except ValueError:
        raise NotWatchedError(f"{name} is a number, and {text[:40]!r} is none") from None
    if not least <= value < 2**31:
        raise NotWatchedError(f"{name} cannot be {value}")
    return value


def _moment(request: Request) -> float:
    try:
        return min(max(float(_text(request, "since") or 0), 0.0), 1e12)
    except ValueError:
        return 0.0


def _cell(watch: Watch, request: Request) -> Any:
    trial = _count(request, "trial", 0) if _text(request, "trial") else None
    seed = _count(request, "seed", 0) if _text(request, "seed") else None
    place = _count(request, "place", -1) if _text(request, "place") else -1
    return cell_document(watch.cell(_text(request, "id"), trial, seed, place))
