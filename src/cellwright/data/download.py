"""Downloads that are checked by hash and go on where they were interrupted.

pooch fetches, checks the hash and puts the file in its place. It starts from nothing each time,
so what it calls to fetch is a downloader of our own, which keeps the part that has arrived in a
`.part` file and asks the server for the rest.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

from cellwright.base.errors import reason
from cellwright.base.files import open_lasting
from cellwright.base.locks import exclusive
from cellwright.base.progress import Progress
from cellwright.data.errors import DataError

MOST_BYTES = 4 * 2**30
"""The largest download."""

_CHUNK_BYTES = 2**16
_TIMEOUT = (30.0, 60.0)  # seconds to connect, and between two packets


def download(url: str, sha256: str, folder: Path, progress: Progress | None = None) -> Path:
    """Fetch a file into a folder, or find it there; in either case its hash is right."""
    import pooch  # type: ignore[import-untyped]

    if not url.startswith(("https://", "http://")):
        raise DataError(f"{url}: not an http or https address")
    name = Path(url.split("?")[0].split("#")[0]).name or "download"
    folder.mkdir(parents=True, exist_ok=True)
    # The hash is in the part's name, so that parts of different files are never joined.
    part = folder / f"{name}.{sha256[:16]}.part"
    pooch.get_logger().setLevel("ERROR")
    with exclusive(folder / f"{name}.lock", progress):
        while True:
            resumed = part.exists()
            try:
                found = pooch.retrieve(
                    url,
                    known_hash=f"sha256:{sha256}",
                    fname=name,
                    path=folder,
                    downloader=_Resuming(part, progress),
                )
                return Path(found)
            except DataError:
                raise
            except ValueError:  # pooch has removed the file
                if resumed:  # the part may have been of another version of the file
                    continue
                raise DataError(
                    f"{url}: what it serves is not the file whose sha256 is {sha256}; "
                    "nothing was kept"
                ) from None


class _Resuming:
    """What pooch calls to fetch a file."""

    def __init__(self, part: Path, progress: Progress | None) -> None:
        self.part, self.progress = part, progress

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:
        try:
            while not self._complete(url):
                pass
            os.replace(self.part, output_file)
        finally:
            if self.part.exists() and not self._size():
                self.part.unlink()

    def _complete(self, url: str) -> bool:
        """Try once; False if it broke off but trying again is worth while."""
        before = self._size()
        try:
            self._request(url, before)
        except OSError as error:
            answer = getattr(error, "response", None)
            status = getattr(answer, "status_code", None)
            if status == 416 and before:  # the server has no bytes beyond ours
                self.part.unlink()
                return False
            if status is not None:
                said = f"{status} {getattr(answer, 'reason', '')}".rstrip()
                raise DataError(f"{url}: the server answers {said}") from None
            if error.errno is not None:  # the disk, not the network
                raise DataError(f"{self.part}: {reason(error)}") from None
            if self._size() <= before:  # while bytes arrive, it is worth going on
                raise DataError(self._interrupted(url, error)) from None
            return False
        return True

    def _request(self, url: str, have: int) -> None:
        import pooch

        with open(open_lasting(self.part, os.O_WRONLY | os.O_APPEND), "ab") as file:
            sink = _Sink(file, have, url, self.progress)
            headers = {"Accept-Encoding": "identity", "User-Agent": "cellwright (data get)"}
            if have:
                headers["Range"] = f"bytes={have}-"
            fetch = pooch.HTTPDownloader(
                chunk_size=_CHUNK_BYTES,
                headers=headers,
                hooks={"response": sink.begin},
                timeout=_TIMEOUT,
            )
            fetch(url, sink, None)
            sink.end()

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _interrupted(self, url: str, error: OSError) -> str:
        cause, kept = type(error).__name__, self._size()
        if not kept:
            return f"{url}: cannot be reached ({cause})"
        return (
            f"{url}: the transfer broke off ({cause}); {kept:,} bytes are kept, and the same "
            "command goes on from there"
        )


class _Sink:
    """The part file as the downloader sees it: bounded, and placed by what the server answers."""

    def __init__(self, file: BinaryIO, have: int, url: str, progress: Progress | None) -> None:
        self.file, self.have, self.url, self.progress = file, have, url, progress
        self.total = 0

    def begin(self, response: Any, *_: Any, **__: Any) -> None:
        """Called with the server's answer, before its content is read."""
        if response.status_code not in (200, 206):
            return
        if response.status_code == 200:  # the server knows no ranges and sends the whole file
            self.file.truncate(0)
            self.have = 0
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {self.have}-"):
            raise DataError(f"{self.url}: the server sends another range than it was asked for")
        length = int(response.headers.get("Content-Length") or 0)
        self.total = self.have + length if length else 0
        if self.total > MOST_BYTES:
            raise DataError(f"{self.url}: larger than {MOST_BYTES:,} bytes")

    def write(self, block: bytes) -> None:
        """Keep what has arrived."""
        self.have += len(block)
        if self.have > MOST_BYTES:
            raise DataError(f"{self.url}: larger than {MOST_BYTES:,} bytes")
        self.file.write(block)
        if self.progress is not None:
            self.progress("downloading", self.have, self.total)

    def flush(self) -> None:
        """Called after each block."""
        self.file.flush()

    def end(self) -> None:
        """A transfer that is shorter than was said is broken, even if nothing complained."""
        if self.have < self.total:
            raise ConnectionError("the transfer ended early")
