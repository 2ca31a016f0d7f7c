"""Corpora from archives and folders that the user has; hostile ones do no harm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cellwright import data
from cellwright.data import DataError, unpack
from data.archives import TEXTS, inside, tarred, zipped

PTB = {f"ptb.{part}.txt": b" the cat sat \n" for part in data.PARTS}
PACK = {"zip": zipped, "tgz": tarred}


@pytest.fixture
def archive(tmp_path: Path) -> Callable[[bytes], Path]:
    def archive(content: bytes) -> Path:
        path = tmp_path / "outer" / "archive"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return path

    return archive


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


@pytest.mark.parametrize("kind", PACK)
def test_the_folder_with_the_texts_is_found(archive, kind: str):
    members = {
        "./simple-examples/README": b"hello",
        "./simple-examples/1-train/train.txt": b"a script",
        **inside("./simple-examples/data", PTB),
        "./simple-examples/data/ptb.char.train.txt": b"t h e",
        "./simple-examples/data/ptb.char.valid.txt": b"t h e",
        "./simple-examples/data/ptb.char.test.txt": b"t h e",
    }
    folder = data.get("ptb", origin=archive(PACK[kind](members, {"simple-examples/x": "README"})))
    assert files(folder) == set(PTB)
    assert data.load("ptb").tokens == {"train": 4, "valid": 4, "test": 4}


def test_a_folder(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    for name, text in PTB.items():
        (tmp_path / "mine" / name).write_bytes(text)
    folder = data.get("ptb", origin=tmp_path / "mine", to=tmp_path / "corpora")
    assert folder == tmp_path / "corpora" / "ptb"
    assert files(folder) == set(PTB)
    with pytest.raises(DataError, match=r"no such file or folder"):
        data.get("ptb", origin=tmp_path / "missing")


def test_ptb_is_never_downloaded(server):
    for options in ({}, {"url": server.url("ptb.zip")}):
        with pytest.raises(
            DataError, match=r"licensed by the Linguistic Data Consortium(.|\n)*--from"
        ):
            data.get("ptb", **options)
    assert not server.asked


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("name", ["../evil.txt", "a/../../evil.txt", "/tmp/evil.txt", "..\\evil"])
def test_a_member_that_points_outside(archive, cache: Path, tmp_path: Path, kind: str, name: str):
    path = archive(PACK[kind]({**inside("data", PTB), name: b"evil"}))
    with pytest.raises(DataError, match=r"refused, its member .* points outside"):
        data.get("ptb", origin=path)
    assert files(tmp_path) == {"outer/archive"}


@pytest.mark.parametrize("kind", PACK)
def test_links_are_not_followed(archive, tmp_path: Path, kind: str):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    texts = {name: text for name, text in PTB.items() if "train" not in name}
    path = archive(PACK[kind](inside("data", texts), {"data/ptb.train.txt": str(secret)}))
    with pytest.raises(DataError, match=r"no file for the part 'train'"):
        data.get("ptb", origin=path)
    folders = {"data/sub": str(tmp_path)}  # a link to a folder, and a file "below" it
    path = archive(PACK[kind]({**inside("data", PTB), "data/sub/evil": b"evil"}, folders))
    assert files(data.get("ptb", origin=path)) == set(PTB)
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("kind", PACK)
def test_size_is_bounded(archive, kind: str, monkeypatch: pytest.MonkeyPatch):
    path = archive(PACK[kind]({**inside("data", PTB), "data/bomb": b" " * 2**20}))
    monkeypatch.setattr(unpack, "MOST_BYTES", 2**19)
    with pytest.raises(DataError, match=r"refused, it unpacks to more than 524,288 bytes"):
        data.get("ptb", origin=path)


def test_a_zip_file_that_lies_about_a_size(archive):
    path = archive(zipped(inside("data", PTB)).replace(b"sat \n", b"sat !", 1))
    with pytest.raises(DataError, match=r"damaged"):
        data.get("ptb", origin=path)


def test_an_encrypted_zip_file(archive):
    content = bytearray(zipped(inside("data", PTB)))
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := content.find(magic, at + 1)) >= 0:
            content[at + offset] |= 1
    with pytest.raises(DataError, match=r"is encrypted"):
        data.get("ptb", origin=archive(bytes(content)))


@pytest.mark.parametrize("kind", PACK)
def test_damaged_and_foreign_files(archive, cache: Path, kind: str):
    content = PACK[kind](inside("data", TEXTS))
    for broken in (content[: len(content) // 2], b"", b"not an archive", b"\x1f\x8b garbage"):
        with pytest.raises(DataError, match=r"archive: (neither a zip nor a tar|.*damaged)"):
            data.get("ptb", origin=archive(broken))
    with pytest.raises(DataError, match=r"no file for the part 'train'"):
        data.get("ptb", origin=archive(PACK[kind]({"data/README": b""})))
    assert not list((cache / "corpora").iterdir())


def test_a_failure_leaves_what_was_there(archive, cache: Path):
    folder = data.get("ptb", origin=archive(zipped(inside("data", PTB))))
    with pytest.raises(DataError):
        data.get("ptb", origin=archive(b"broken"))
    assert files(folder) == set(PTB)
    other = dict.fromkeys(PTB, b"other text\n")
    data.get("ptb", origin=archive(zipped(inside("data", other))))
    assert data.load("ptb").vocabulary.tokens[:2] == ("other", "text")
    assert not list(cache.rglob(".*"))


def test_builtin_as_text_gives_the_same_tokens(tmp_path: Path):
    folder = data.get("builtin", to=tmp_path)
    text, own = data.load(folder), data.load("builtin")
    assert text.vocabulary.tokens == own.vocabulary.tokens
    assert all((getattr(text, part) == getattr(own, part)).all() for part in data.PARTS)


def test_what_cannot_be_asked_for(tmp_path: Path):
    with pytest.raises(DataError, match=r"unknown corpus 'ptp'; did you mean 'ptb'"):
        data.get("ptp")
    with pytest.raises(DataError, match=r"not from both"):
        data.get("wikitext-2", origin=tmp_path, url="https://example.org/w.zip")
