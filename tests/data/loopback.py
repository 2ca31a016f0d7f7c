"""A web server on the loopback that can misbehave."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Server:
    """Serves `files` by path. `cuts` says after how many bytes answers break off, in turn."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cuts: list[int] = []
        self.ranges = True
        self.asked: list[tuple[str, str | None]] = []
        """The path and the range of every request."""

    def __enter__(self) -> Server:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer._answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/{path}"

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        path, wanted = request.path.strip("/"), request.headers.get("Range")
        self.asked.append((path, wanted))
        data = self.files.get(path)
        if data is None:
            request.send_error(404)
            return
        start = 0
        if wanted and self.ranges:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            if start >= len(data):
                request.send_response(416)
                request.send_header("Content-Length", "0")
                request.end_headers()
                return
            request.send_response(206)
            request.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        else:
            request.send_response(200)
        request.send_header("Content-Length", str(len(data) - start))
        request.end_headers()
        cut = self.cuts.pop(0) if self.cuts else None
        request.wfile.write(data[start:][:cut])
        request.close_connection = True
