"""Token files: used while they are good, made anew when they are not, never half there."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cellwright import data
from cellwright.data import DataError, prepare

OLD = 1_600_000_000_000_000_000  # a time long before any test, in nanoseconds


def age(folder: Path) -> None:
    for path in folder.iterdir():
        os.utime(path, ns=(OLD, OLD))


@pytest.fixture
def corpus_folder(write) -> Path:
    folder = write()
    age(folder)
    data.load(folder)
    return folder


def tokens(cache: Path) -> Path:
    [folder] = [path for path in (cache / "tokens").iterdir() if path.is_dir()]
    return folder


def clean(cache: Path) -> bool:
    return not any(path.name.startswith(".") for path in cache.rglob("*"))


def test_the_second_time_no_text_is_read(corpus_folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(prepare, "pieces", lambda *_: pytest.fail("text was read"))
    from cellwright.data import cache

    monkeypatch.setattr(cache, "_sha256", lambda *_: pytest.fail("text was read"))
    corpus = data.load(corpus_folder)
    assert corpus.prepared is None
    assert corpus.vocabulary.decode(corpus.test) == ["a", "cat", "sat", "<eos>"]


def test_what_is_kept_can_be_read_by_others(corpus_folder: Path, cache: Path):
    kept = tokens(cache)
    assert {path.name for path in kept.iterdir()} == {
        "train.bin", "valid.bin", "test.bin", "vocabulary.tsv", "corpus.json",
    }  # fmt: skip
    assert (kept / "test.bin").read_bytes().hex() == "06000000010000000200000003000000"
    assert (kept / "vocabulary.tsv").read_text().splitlines()[:2] == ["the\t2", "cat\t2"]
    facts = json.loads((kept / "corpus.json").read_text())
    assert facts["format"] == "cellwright-tokens/1"
    assert facts["parts"]["train"]["tokens"] == 13


@pytest.mark.parametrize("part", data.PARTS)
@pytest.mark.parametrize("same", ["nothing", "size", "size and time"])
def test_a_changed_text_is_noticed(write, part: str, same: str):
    folder = write()
    first = data.load(folder)
    path = folder / f"{part}.txt"
    before = path.stat().st_mtime_ns
    changed = path.read_bytes().replace(b"sat", b"ate" if same != "nothing" else b"slept")
    path.write_bytes(changed)
    if same == "size and time":  # a change within one tick of the file system's clock
        os.utime(path, ns=(before, before))
    second = data.load(folder)
    assert second.prepared is not None
    assert "has changed" in second.prepared
    assert second.tokens == first.tokens
    assert ("sat" in second.vocabulary) is (part != "train")


def test_a_new_time_alone_changes_nothing(corpus_folder: Path, cache: Path):
    for path in corpus_folder.iterdir():
        os.utime(path, ns=(OLD + 10**9, OLD + 10**9))
    inode = tokens(cache).stat().st_ino
    assert data.load(corpus_folder).prepared is None
    assert tokens(cache).stat().st_ino == inode
    kept = json.loads((tokens(cache) / "corpus.json").read_text())
    assert kept["parts"]["train"]["mtime_ns"] == OLD + 10**9
    assert clean(cache)


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


DAMAGE = {
    "cut": lambda kept: os.truncate(kept / "train.bin", 12),
    "cut inside a token": lambda kept: os.truncate(kept / "train.bin", 13),
    "cut to nothing": lambda kept: os.truncate(kept / "valid.bin", 0),
    "longer": lambda kept: (kept / "test.bin").write_bytes(b"\0" * 400),
    "first byte": lambda kept: flip(kept / "train.bin", 0),
    "last byte": lambda kept: flip(kept / "train.bin", -1),
    "a byte between": lambda kept: flip(kept / "train.bin", 20),
    "vocabulary": lambda kept: flip(kept / "vocabulary.tsv", 1),
    "no vocabulary": lambda kept: (kept / "vocabulary.tsv").unlink(),
    "no tokens": lambda kept: (kept / "train.bin").unlink(),
    "no facts": lambda kept: (kept / "corpus.json").unlink(),
    "facts cut": lambda kept: os.truncate(kept / "corpus.json", 100),
    "facts of another kind": lambda kept: (kept / "corpus.json").write_text("[1]"),
    "another version": lambda kept: replace(kept / "corpus.json", "tokens/1", "tokens/0"),
    "odd facts": lambda kept: replace(kept / "corpus.json", '"tokens": 13', '"tokens": "x"'),
    "a file in its place": lambda kept: (shutil.rmtree(kept), kept.write_text("")),
}


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_noticed_and_repaired(corpus_folder: Path, cache: Path, damage: str):
    DAMAGE[damage](tokens(cache))
    corpus = data.load(corpus_folder)
    assert corpus.prepared is not None
    assert corpus.train.tolist() == [0, 1, 2, 3, 0, 4, 5, 3, 3, 6, 1, 5, 3]
    assert data.load(corpus_folder).prepared is None
    assert clean(cache)


def test_the_checksum_of_a_large_file_sees_its_ends_and_middle():
    size = 20 * 2**20
    content = bytearray(size)

    def checksum() -> str:
        return prepare.sampled_checksum(lambda at, n: bytes(content[at : at + n]), size)

    plain = checksum()
    for at in (0, size // 63 * 31 + 1, size - 1):
        content[at] = 1
        assert checksum() != plain
        content[at] = 0
    assert checksum() == plain


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_the_old_tokens(
    corpus_folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    before = {path.name: path.read_bytes() for path in tokens(cache).iterdir()}
    old = (corpus_folder / "train.txt").read_bytes()
    (corpus_folder / "train.txt").write_bytes(b"something else\n")
    with monkeypatch.context() as patch:
        patch.setattr(prepare, "sync", full_disk)
        with pytest.raises(DataError, match=r"no space left.*make room, or set CELLWRIGHT_CACHE"):
            data.load(corpus_folder)
    assert {path.name: path.read_bytes() for path in tokens(cache).iterdir()} == before
    assert clean(cache)
    (corpus_folder / "train.txt").write_bytes(old)
    assert data.load(corpus_folder).prepared is None


def test_a_disk_that_is_really_full(write, cache: Path):
    cache.mkdir()
    options = ["-t", "tmpfs", "-o", "size=256k", "tmpfs", str(cache)]
    try:
        mounted = subprocess.run(["mount", *options], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if mounted.returncode:
        pytest.skip("may not mount a small file system here")
    try:
        folder = write()
        age(folder)
        data.load(folder)
        (folder / "train.txt").write_bytes(b"too many words \n" * 50_000)
        with pytest.raises(DataError, match=r"no space left on device"):
            data.load(folder)
        assert clean(cache)
        assert len((tokens(cache) / "train.bin").read_bytes()) == 13 * 4
    finally:
        subprocess.run(["umount", "-l", str(cache)], check=True)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, MemoryError])
def test_an_interrupt_leaves_nothing(write, cache: Path, raised: type[BaseException]):
    def interrupt(*_: object) -> None:
        raise raised

    folder = write()
    with pytest.raises(raised):
        data.load(folder, progress=interrupt)
    assert clean(cache)
    assert data.load(folder).prepared == "not prepared yet"


KILLED = """
import os, signal, sys
from cellwright import data
data.load(sys.argv[1], progress=lambda *_: os.kill(os.getpid(), signal.SIGKILL))
"""


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_kill_leaves_nothing_that_counts(write, cache: Path):
    folder = write()
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not clean(cache)
    assert data.load(folder).prepared == "not prepared yet"
    assert clean(cache)


def _load(folder: Path, found: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    corpus = data.load(folder)
    found.put((corpus.prepared, corpus.tokens["train"], int(corpus.train.sum())))


def test_processes_that_start_at_once(write, cache: Path):
    folder = write(train=b"some words of text\n" * 20_000)
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    processes = [context.Process(target=_load, args=(folder, found)) for _ in range(3)]
    for process in processes:
        process.start()
    results = [found.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    assert len({result[1:] for result in results}) == 1
    assert [result[0] for result in results].count("not prepared yet") == 1  # the others waited
    assert clean(cache)


def test_a_text_that_changes_while_it_is_read(write):
    folder = write()

    def meddle(what: str, *_: int) -> None:
        if what == "reading train":
            (folder / "train.txt").write_bytes(b"longer than it was " * 50)

    with pytest.raises(DataError, match=r"train.txt was written to while it was read"):
        data.load(folder, progress=meddle)


def test_progress_counts_every_byte(write):
    folder = write()
    steps: list[tuple[str, int, int]] = []
    data.load(folder, progress=lambda *step: steps.append(step))
    total = sum(path.stat().st_size for path in folder.iterdir())
    assert steps[-1] == ("reading test", total, total)
    assert [step[1] for step in steps] == sorted(step[1] for step in steps)


TERMINATED = """
import os, signal, sys
from cellwright.cli import main
from cellwright.data import prepare
prepare.Watched.update = lambda *_: os.kill(os.getpid(), signal.SIGTERM)
sys.argv[1:] = ["data", "list", sys.argv[1]]
main()
"""


def test_the_signal_term_leaves_nothing(write, cache: Path):
    words = [sys.executable, "-c", TERMINATED, str(write())]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (143, "error: interrupted\n")
    assert clean(cache)


def test_what_a_killed_process_left_of_another_corpus_is_swept(write, cache: Path, tmp_path: Path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(write())], check=False)
    assert done.returncode == -signal.SIGKILL
    (cache / "corpora" / ".ptb.1.tmp").mkdir(parents=True)
    os.utime(cache / "corpora" / ".ptb.1.tmp", (0, 0))
    other = tmp_path / "other"
    other.mkdir()
    for part in ("train", "valid", "test"):
        (other / f"{part}.txt").write_text("some words\n")
    assert not clean(cache)
    data.load(other)
    assert clean(cache)
    assert not list((cache / "corpora").iterdir())
