"""A corpus is made whole or not at all, and in the place of nothing else."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from cellwright import data
from cellwright.base.errors import FileError
from cellwright.data import DataError
from cellwright.data.texts.work import StoppedError, Work
from data.made import TEN, all_lines, contents


def test_nothing_is_overwritten(texts: Path, tmp_path: Path):
    (texts / "a.txt").write_text(TEN)
    out = tmp_path / "out"
    out.mkdir()
    data.make(texts, out)  # an empty folder is as good as none
    with pytest.raises(DataError, match=r"has a corpus already; .*--force"):
        data.make(texts, out)
    data.make(texts, out, force=True, tokens="characters")
    assert "l i n e" in all_lines(out)[0]
    (out / "corpus.json").unlink()
    with pytest.raises(DataError, match=r"not a corpus that was made from texts"):
        data.make(texts, out, force=True)
    assert (out / "train.txt").exists()


def test_the_corpus_may_be_inside_the_folder_and_is_not_read(texts: Path, tmp_path: Path):
    (texts / "a.txt").write_text(TEN)
    first = data.make(texts, texts / "made" / "one")
    again = data.make(texts, texts / "made" / "two")
    anew = data.make(texts, texts / "made" / "one", force=True)
    assert first.parts == again.parts == anew.parts
    assert (again.read, again.skipped) == (1, {"corpus": 1})


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (".", "has the text in it|is the text itself"),
        ("texts", "is the text itself"),
        ("file", "is there already"),
        ("file/out", "file is a file, and no folder can be in it"),
    ],
)
def test_bad_places(texts: Path, tmp_path: Path, out: str, message: str):
    (texts / "a.txt").write_text(TEN)
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=message):
        data.make(texts, tmp_path / out, force=True)
    assert (texts / "a.txt").read_text() == TEN


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("step", ["reading", "cutting", "writing"])
def test_a_stop_leaves_nothing(texts: Path, tmp_path: Path, kind: int, step: str):
    (texts / "a.txt").write_text(TEN)

    def stop(what: str, done: int, total: int) -> None:
        if what == step:
            os.kill(os.getpid(), kind)

    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(StoppedError) as caught:
        data.make(texts, tmp_path / "new" / "out", progress=stop)
    assert caught.value.signal == kind
    assert sorted(tmp_path.rglob("*")) == before


def test_a_full_disk_leaves_nothing(texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (texts / "a.txt").write_text(TEN)

    def full(work: object, folder: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Work, "write_words", full)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileError, match=r"the disk is full"):
        data.make(texts, tmp_path / "new" / "out")
    assert sorted(tmp_path.rglob("*")) == before


def test_what_was_there_stays_if_a_new_one_fails(texts: Path, tmp_path: Path):
    (texts / "a.txt").write_text(TEN)
    data.make(texts, tmp_path / "out")
    before = contents(tmp_path / "out")

    def stop(what: str, done: int, total: int) -> None:
        if what == "writing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        data.make(texts, tmp_path / "out", force=True, lower=True, progress=stop)
    assert contents(tmp_path / "out") == before
