"""Sentences with tags: what is kept of them, and how the published sets come here."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cellwright.data import DataError, get, tagged
from cellwright.data.registry import TAGGED, File
from cellwright.data.tagged import rows
from cellwright.data.tagged.files import find_parts
from data.archives import zipped
from data.loopback import Server
from data.tagged_files import PARTS, sentences, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "small")


def test_the_second_time_no_file_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch):
    for path in folder.iterdir():
        os.utime(path, (1_600_000_000, 1_600_000_000))
    first = tagged.load(folder)
    assert first.prepared == "not prepared yet"
    from cellwright.data import cache

    monkeypatch.setattr(rows, "blocks", lambda *_: pytest.fail("a file was read"))
    monkeypatch.setattr(cache, "_sha256", lambda *_: pytest.fail("a file was read"))
    second = tagged.load(folder)
    assert second.prepared is None
    assert isinstance(second.train.words, np.memmap)
    assert (second.fingerprint, second.describe()) == (first.fingerprint, first.describe())


def test_a_changed_file_is_noticed(folder: Path):
    tagged.load(folder)
    (folder / "test.conll").write_text("Eve B-PER\n")
    found = tagged.load(folder)
    assert "test.conll has changed" in str(found.prepared)
    assert sentences(found, "test") == ["Eve/S-PER"]
    (folder / "valid.conll").unlink()
    assert tagged.load(folder).cut


METADATA = "tagged.json"


def kept(cache: Path) -> Path:
    [folder] = [path for path in (cache / "tokens").iterdir() if path.is_dir()]
    return folder


def test_what_is_kept_can_be_read_by_others(folder: Path, cache: Path):
    tagged.load(folder)
    names = {f"{part}.{what}.bin" for part in PARTS for what in ("words", "tags", "offsets")}
    names |= {"words.tsv", "characters.tsv", "tagged.json"}
    assert {path.name for path in kept(cache).iterdir()} == names
    assert np.fromfile(kept(cache) / "train.offsets.bin", "<i8").tolist() == [0, 4, 6]
    assert np.fromfile(kept(cache) / "train.tags.bin", "<i4").tolist() == [5, 7, 0, 4, 4, 0]
    assert json.loads((kept(cache) / "tagged.json").read_text())["types"] == ["LOC", "PER"]


@pytest.mark.parametrize(
    "name", ["train.words.bin", "test.offsets.bin", "words.tsv", "tagged.json"]
)
@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "gone"])
def test_damage_is_noticed_and_repaired(folder: Path, cache: Path, name: str, damage: str):
    before = tagged.load(folder)
    path, facts = kept(cache) / name, before.fingerprint
    data = path.read_bytes()
    changed = {"cut": data[:-3], "flipped": data[:-1] + bytes([data[-1] ^ 1]), "empty": b""}
    del before
    path.unlink()
    if damage != "gone":
        path.write_bytes(changed[damage])
    found = tagged.load(folder)
    assert found.prepared is not None or (name, damage) == (METADATA, "flipped")
    assert found.fingerprint == facts
    assert tagged.load(folder).prepared is None


KILLED = """
import os, signal, sys
from cellwright.data import tagged
tagged.load(sys.argv[1], progress=lambda *_: os.kill(os.getpid(), signal.SIGKILL))
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_kill_leaves_nothing_that_counts(folder: Path, cache: Path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert tagged.load(folder).prepared == "not prepared yet"
    assert not any(path.name.startswith(".") for path in cache.rglob("*"))


def test_progress_counts_every_byte(folder: Path):
    steps: list[tuple[str, int, int]] = []
    tagged.load(folder, progress=lambda *step: steps.append(step))
    total = sum(path.stat().st_size for path in folder.iterdir())
    assert steps[-1] == ("reading test", total, total)


def test_files_are_downloaded_one_by_one(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    known = TAGGED["wnut17"]
    for file, text in zip(known.files, PARTS.values(), strict=True):
        server.files[file.name] = text.encode()
    files = tuple(
        File(server.url(name), hashlib.sha256(text).hexdigest())
        for name, text in server.files.items()
    )
    monkeypatch.setitem(TAGGED, "wnut17", replace(known, files=files))
    folder = get("wnut17")
    assert folder == cache / "corpora" / "wnut17"
    assert sentences(tagged.load("wnut17"), "test") == ["Ada/S-PER saw/O Paris/S-LOC"]
    assert tagged.load("wnut17").as_published is False
    assert len(server.asked) == 3
    assert not [path for path in (cache / "downloads").iterdir() if path.suffix != ".lock"]
    server.files[files[2].name] = b"something else"
    with pytest.raises(DataError, match=r"is not the file whose sha256 is(.|\n)*if you have the"):
        get("wnut17", to=cache / "elsewhere")
    assert not (cache / "elsewhere" / "wnut17").exists()
    with pytest.raises(DataError, match=r"not published as an archive: --url needs its --sha256"):
        get("wnut17", url=server.url("x.zip"))


def test_sets_come_from_folders_and_archives(tmp_path: Path):
    names = ("eng.train", "eng.testa", "eng.testb")
    texts = dict(zip(names, (text.encode() for text in PARTS.values()), strict=True))
    four = {name: re.sub(rb"(?m) ", b" X X ", text) for name, text in texts.items()}
    archive = tmp_path / "conll.zip"
    archive.write_bytes(zipped({f"ner/{name}": text for name, text in four.items()}))
    folder = get("conll2003", origin=archive, to=tmp_path / "mine")
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    again = get("conll2003", origin=folder, to=tmp_path / "other")
    found = tagged.load("conll2003", folder=again)
    assert sentences(found, "valid") == ["Ada/S-PER sleeps/O"]
    assert tagged.load("conll2003", folder=tmp_path / "mine").fingerprint == found.fingerprint
    with pytest.raises(DataError, match=r"conll2003 has text of the Reuters Corpus"):
        get("conll2003")
    with pytest.raises(DataError, match=r"conll2000 has text of the Wall Street Journal"):
        get("conll2000")


@pytest.mark.parametrize("known", TAGGED.values(), ids=lambda known: known.name)
def test_the_registry_makes_sense(known):
    assert known.tag in known.columns.split()
    assert known.columns.startswith("word ")
    assert bool(known.how) != bool(known.files)
    assert all(len(file.sha256) == 64 for file in known.files)
    if known.files:
        parts = find_parts([file.name for file in known.files], known.name)
        assert list(parts.values()) == [file.name for file in known.files]
