"""The real server of the studio in a thread of this process, and what asks it."""

from __future__ import annotations

import contextlib
import http.client
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from cellwright.studio.serve import address_of, listen
from cellwright.studio.server import make_app
from cellwright.studio.watch import Watch

HOST = "127.0.0.1"


@contextlib.contextmanager
def serving(place: str | Path, host: str = HOST) -> Iterator[str]:
    """The address of a server that watches a folder or a store."""
    import uvicorn

    watch = Watch(str(place))
    app, news = make_app(watch, host)
    config = uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    listening = listen(host, None)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield address_of(listening, host)
    finally:
        news.end()
        server.should_exit = True
        thread.join()
        listening.close()


class Answer:
    """What the server said."""

    def __init__(self, found: http.client.HTTPResponse) -> None:
        self.status, self.headers, self.body = found.status, found.headers, found.read()

    @property
    def value(self) -> Any:
        return json.loads(self.body)


def ask(
    address: str, path: str, method: str = "GET", headers: dict[str, str] | None = None
) -> Answer:
    """Ask for a path exactly as it is written: nothing in it is tidied up."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=300)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": place.netloc, **(headers or {})}.items():
            connection.putheader(name, value)
        connection.endheaders()
        return Answer(connection.getresponse())
    finally:
        connection.close()


def api(address: str, name: str, **values: Any) -> Any:
    """The JSON of a question."""
    answer = ask(address, f"/api/{name}?{urlencode(values)}")
    assert answer.status == 200, answer.body
    return answer.value
