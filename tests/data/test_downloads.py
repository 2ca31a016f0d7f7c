"""Downloads from a server that is slow to please. Everything stays on the loopback."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from cellwright import data
from cellwright.data import DataError, download
from data.archives import TEXTS, inside, zipped
from data.loopback import Server

ARCHIVE = zipped({**inside("wikitext-2"), "wikitext-2/README.txt": b"hello"})
HASH = hashlib.sha256(ARCHIVE).hexdigest()


@pytest.fixture
def url(server: Server) -> str:
    server.files["w.zip"] = ARCHIVE
    return server.url("w.zip")


def parts(cache: Path) -> list[Path]:
    return list(cache.rglob("*.part"))


def test_a_download_becomes_a_corpus(url: str, cache: Path):
    steps: list[tuple[str, int, int]] = []
    folder = data.get("wikitext-2", url=url, sha256=HASH, progress=lambda *s: steps.append(s))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == TEXTS
    assert ("downloading", len(ARCHIVE), len(ARCHIVE)) in steps
    assert data.load("wikitext-2").where == str(folder)
    left = [path.suffix for path in (cache / "downloads").iterdir()]
    assert left == [".lock"]


def test_what_is_there_is_not_fetched_again(url: str, server: Server):
    folder = data.get("wikitext-2", url=url, sha256=HASH)
    asked = len(server.asked)
    assert data.get("wikitext-2") == folder
    assert len(server.asked) == asked


def test_a_wrong_hash_keeps_nothing(url: str, cache: Path):
    with pytest.raises(DataError, match=r"not the file whose sha256 is 0000"):
        data.get("wikitext-2", url=url, sha256="0" * 64)
    assert not [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"]
    assert not list((cache / "corpora").iterdir())


def test_without_a_hash_it_has_to_be_the_published_archive(url: str):
    published = data.KNOWN["wikitext-2"].sha256
    with pytest.raises(DataError, match=rf"not the file whose sha256 is {published}"):
        data.get("wikitext-2", url=url)


def test_a_transfer_that_breaks_off_goes_on_by_itself(url: str, server: Server):
    server.cuts = [300_000, 200_000]
    data.get("wikitext-2", url=url, sha256=HASH)
    ranges = [wanted for _, wanted in server.asked]
    assert ranges[0] is None
    assert len(ranges) == 3
    starts = [int((wanted or "").removeprefix("bytes=").rstrip("-")) for wanted in ranges[1:]]
    assert 0 < starts[0] <= 300_000 < starts[1] <= 500_000


def test_a_transfer_that_cannot_go_on_is_kept_for_the_next_time(
    url: str, server: Server, cache: Path
):
    server.cuts = [300_000, 0]
    with pytest.raises(DataError, match=r"broke off .* bytes are kept, and the same command goes"):
        data.get("wikitext-2", url=url, sha256=HASH)
    [part] = parts(cache)
    kept = part.stat().st_size
    assert 200_000 < kept <= 300_000
    assert part.read_bytes() == ARCHIVE[:kept]
    data.get("wikitext-2", url=url, sha256=HASH)
    assert server.asked[-1] == ("w.zip", f"bytes={kept}-")
    assert not parts(cache)


def test_an_interrupt_is_kept_for_the_next_time(url: str, server: Server, cache: Path):
    def interrupt(what: str, done: int, total: int) -> None:
        if done > 100_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        data.get("wikitext-2", url=url, sha256=HASH, progress=interrupt)
    [part] = parts(cache)
    assert part.stat().st_size > 100_000
    data.get("wikitext-2", url=url, sha256=HASH)
    assert server.asked[-1][1] == f"bytes={part_size(server)}-"


def part_size(server: Server) -> int:
    return int((server.asked[-1][1] or "").removeprefix("bytes=").rstrip("-"))


def test_a_server_without_ranges_starts_over(url: str, server: Server):
    server.ranges = False
    server.cuts = [300_000]
    folder = data.get("wikitext-2", url=url, sha256=HASH)
    assert len(server.asked) == 2
    assert (folder / "wiki.train.tokens").read_bytes() == TEXTS["wiki.train.tokens"]


def test_a_part_of_another_file_is_thrown_away(url: str, server: Server, cache: Path):
    downloads = cache / "downloads"
    downloads.mkdir(parents=True)
    for size in (1000, len(ARCHIVE), len(ARCHIVE) + 5):
        (downloads / f"w.zip.{HASH[:16]}.part").write_bytes(b"x" * size)
        found = download.download(url, HASH, downloads)
        assert found.read_bytes() == ARCHIVE
        found.unlink()


def test_a_complete_part_is_used(url: str, server: Server, cache: Path):
    (cache / "downloads").mkdir(parents=True)
    part = cache / "downloads" / f"w.zip.{HASH[:16]}.part"
    part.write_bytes(ARCHIVE[:-1])
    data.get("wikitext-2", url=url, sha256=HASH)
    assert server.asked == [("w.zip", f"bytes={len(ARCHIVE) - 1}-")]


def test_not_found_and_not_there(server: Server, cache: Path):
    with pytest.raises(DataError, match=r"missing.zip: the server answers 404 Not Found\nif you"):
        data.get("wikitext-2", url=server.url("missing.zip"))
    url = server.url("w.zip")
    server.__exit__()
    with pytest.raises(DataError, match=r"w.zip: cannot be reached"):
        data.get("wikitext-2", url=url)
    assert not parts(cache)


def test_the_second_address_is_tried(url: str, server: Server, monkeypatch: pytest.MonkeyPatch):
    from dataclasses import replace

    known = replace(data.KNOWN["wikitext-2"], urls=(server.url("gone/w.zip"), url), sha256=HASH)
    monkeypatch.setitem(data.KNOWN, "wikitext-2", known)
    data.get("wikitext-2")
    assert [path for path, _ in server.asked] == ["gone/w.zip", "w.zip"]


def test_a_download_is_bounded(url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(download, "MOST_BYTES", 1000)
    with pytest.raises(DataError, match=r"larger than 1,000 bytes"):
        data.get("wikitext-2", url=url, sha256=HASH)


@pytest.mark.parametrize("odd", ["file:///etc/passwd", "ftp://127.0.0.1/w.zip", "w.zip", ""])
def test_only_web_addresses(odd: str):
    with pytest.raises(DataError, match=r"not an http or https address"):
        data.get("wikitext-2", url=odd, sha256=HASH)


def test_a_hash_that_is_none(url: str):
    with pytest.raises(DataError, match=r"64 hexadecimal digits"):
        data.get("wikitext-2", url=url, sha256="abc")


def test_every_address_in_the_registry_has_a_hash():
    for known in data.KNOWN.values():
        assert all(url.startswith("https://") for url in known.urls)
        assert not known.urls or len(known.sha256) == 64
