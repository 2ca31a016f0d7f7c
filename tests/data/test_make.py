"""A folder of texts becomes a corpus: what is read, what is left out, and what comes out."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tracemalloc
from pathlib import Path

import pytest

import cellwright
from cellwright import data
from cellwright.data import DataError
from cellwright.data.texts import lines as reading
from cellwright.data.texts.lines import LONGEST_LINE, lines
from data.made import TEN, all_lines, contents


def test_ten_lines_by_hand(texts: Path, tmp_path: Path):
    (texts / "a.txt").write_text(TEN)
    made = data.make(texts, tmp_path / "out", seed=3)
    found = contents(tmp_path / "out")
    assert [found[part].count("\n") for part in data.PARTS] == [8, 1, 1]
    assert set(all_lines(tmp_path / "out")) == {"line <unk> here ."}  # each letter is there once
    assert (made.split, made.read, made.types, made.types_read) == ("share", 1, 5, 11)
    assert made.frequent == {".": 8, "here": 8, "line": 8}
    train = made.parts["train"]
    assert (train.lines, train.tokens, train.unknown, train.unknown_share) == (8, 40, 8, 0.25)


def test_the_corpus_loads_with_the_counts_that_were_told(texts: Path, tmp_path: Path):
    (texts / "a.md").write_text(TEN * 3)
    made = data.make(texts, tmp_path / "out", vocabulary=8)
    corpus = data.load(tmp_path / "out")
    assert corpus.tokens == {part: made.parts[part].tokens for part in data.PARTS}
    assert corpus.lines == {part: made.parts[part].lines for part in data.PARTS}
    assert len(corpus.vocabulary) == made.types == 8
    assert set(corpus.unknown.values()) == {0}
    unk = corpus.vocabulary.unk
    assert corpus.vocabulary.counts[unk] == made.parts["train"].unknown


def test_ties_go_by_unicode_and_only_train_counts(texts: Path, tmp_path: Path):
    (texts / "a.txt").write_text("b a c a b\n" * 9 + "rare\n")
    made = data.make(texts, tmp_path / "out", vocabulary=4)
    assert list(made.frequent) == ["a", "b"]
    data.make(texts, tmp_path / "less", least=100)
    assert set(" ".join(all_lines(tmp_path / "less")).split()) == {"<unk>"}


def test_the_same_again_is_the_same_to_the_byte(texts: Path, tmp_path: Path):
    for number in range(30):
        (texts / f"{number}.txt").write_text(TEN.replace("line", f"line{number}"))
    names = ["one", "two", "other"]
    for name, seed in zip(names, (5, 5, 6), strict=True):
        assert data.make(texts, tmp_path / name, seed=seed, least=1).split == "files"
    one, two, other = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in names
    )
    assert one == two
    assert one["train.txt"] != other["train.txt"]
    assert sorted(one) == ["corpus.json", "test.txt", "train.txt", "valid.txt"]
    kept = json.loads(one["corpus.json"])
    for part in data.PARTS:
        assert kept["parts"][part]["sha256"] == hashlib.sha256(one[f"{part}.txt"]).hexdigest()
    assert kept["parts"]["valid"]["files"] == 3
    assert str(tmp_path) not in one["corpus.json"].decode()


def test_files_with_the_same_text_count_once(texts: Path, tmp_path: Path):
    (texts / "a.txt").write_text(TEN)
    (texts / "b.txt").write_bytes(b"\xef\xbb\xbf" + TEN.replace("\n", "\r\n").encode())
    (texts / "c.txt.gz").write_bytes(gzip.compress(TEN.encode()))
    made = data.make(texts, tmp_path / "out")
    assert (made.read, made.skipped) == (1, {"same as another": 2})
    assert len(all_lines(tmp_path / "out")) == 10


def test_what_is_read_and_what_is_skipped(texts: Path, tmp_path: Path):
    (texts / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "outside.txt").write_text("outside\n" * 5)
    for name in ("a.txt", "b.MD", "sub/c.rst", "sub/deep/README", "e.text", "f.txt.gz"):
        text = f"{name.replace('/', '-')} one\n\n \t\nsame two\n".encode()
        (texts / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    (texts / "program").write_bytes(b"\x7fELF\0\0")
    (texts / "latin").write_bytes(b"caf\xe9\n")
    (texts / "nul.txt").write_bytes(b"text\n" * 100 + b"\0")
    (texts / "empty.txt").write_bytes(b"")
    (texts / "blank.txt").write_bytes(b" \n\n")
    (texts / ".hidden.txt").write_text("hidden\n")
    (texts / ".git").mkdir()
    (texts / ".git" / "x.txt").write_text("hidden\n")
    (texts / "page.html").write_text("<p>html</p>\n")
    (texts / "out.txt").symlink_to(tmp_path / "outside.txt")
    (texts / "gone.txt").symlink_to(texts / "nowhere.txt")
    (texts / "inside.txt").symlink_to(texts / "a.txt")
    (texts / "loop").symlink_to(texts)
    os.mkfifo(texts / "pipe.txt")
    made = data.make(texts, tmp_path / "out", least=1, tokens="spaces")
    assert made.read == 6
    assert made.skipped == {
        "binary": 3,
        "empty": 2,
        "hidden": 2,
        "other ending": 1,
        "link": 3,
        "special": 1,
        "same as another": 1,
    }
    assert len(all_lines(tmp_path / "out")) == 12


def test_patterns_in_place_of_endings(texts: Path, tmp_path: Path):
    (texts / "en").mkdir()
    (texts / "a.txt").write_text("no\n" * 10)
    (texts / "b.py").write_text(TEN)
    (texts / "en" / "c.html.gz").write_bytes(gzip.compress(b"<b>\n" * 10))
    assert data.make(texts, tmp_path / "py", files=["*.py"]).read == 1
    assert data.make(texts, tmp_path / "en", files=["en/*.html"]).read == 1
    assert all_lines(tmp_path / "en") == ["< b >"] * 10
    assert data.make(texts, tmp_path / "both", files=["*.py", "*.txt"]).read == 2


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "cp1252", "utf-8-sig", "utf-32"])
def test_other_encodings(texts: Path, tmp_path: Path, encoding: str):
    (texts / "a.txt").write_bytes(("café über\r\n" * 10).encode(encoding))
    data.make(texts, tmp_path / "out", encoding=encoding)
    assert all_lines(tmp_path / "out") == ["café über"] * 10


def test_text_of_another_encoding_is_named_with_its_place(texts: Path, tmp_path: Path):
    long = b"all is well\n" * 60_000  # several blocks
    (texts / "a.txt").write_bytes(long + b"caf\xe9 x\n")
    at = len(long) + 3
    with pytest.raises(DataError, match=rf"a.txt: not UTF-8 at byte {at:,} \(line 60,001, .*0xe9"):
        data.make(texts, tmp_path / "out")
    (texts / "b.txt").write_text(TEN)
    made = data.make(texts, tmp_path / "out", skip_bad=True)
    assert (made.read, made.skipped) == (1, {"of another encoding": 1})
    (texts / "a.txt").write_bytes("text".encode("utf-16"))
    with pytest.raises(DataError, match=r"UTF-16, it seems; say --encoding utf-16"):
        data.make(texts, tmp_path / "other")


def test_a_single_file(texts: Path, tmp_path: Path):
    path = texts / "book.xyz"
    path.write_text(TEN)
    assert data.make(path, tmp_path / "out").source == "book.xyz"
    path.write_bytes(b"a\0")
    with pytest.raises(DataError, match=r"is not text: it has NUL bytes"):
        data.make(path, tmp_path / "other")


def test_names_that_are_no_text(texts: Path, tmp_path: Path):
    folder = texts / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    for number in range(20):
        (folder / os.fsdecode(b"\xff%d.txt" % number)).write_text(f"file{number}\n" + TEN)
    out = tmp_path / os.fsdecode(b"\xe9")
    assert data.make(folder, out).split == "files"
    assert json.loads((out / "corpus.json").read_bytes())["source"] == folder.name
    assert data.load(out).lines["train"] == 16 * 11


def test_a_damaged_gzip_file(texts: Path, tmp_path: Path):
    (texts / "a.txt.gz").write_bytes(gzip.compress(TEN.encode())[:-9])
    with pytest.raises(DataError, match=r"a.txt.gz: the gzip file is damaged"):
        data.make(texts, tmp_path / "out")


def test_a_file_that_cannot_be_read(texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (texts / "a.txt").write_text(TEN)

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(reading, "open_regular", refuse)
    with pytest.raises(DataError, match=r"cannot read .*a.txt: permission denied"):
        data.make(texts, tmp_path / "out")


def test_a_file_that_changes_meanwhile(texts: Path, tmp_path: Path):
    (texts / "a.txt").write_text(TEN)

    def change(what: str, done: int, total: int) -> None:
        if what == "cutting":
            with open(texts / "a.txt", "a") as file:
                file.write("more\n")

    with pytest.raises(DataError, match=r"a.txt was written to while it was read"):
        data.make(texts, tmp_path / "out", progress=change)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_a_corpus_already_is_told(write, texts: Path, tmp_path: Path):
    (texts / "a.txt").write_text(TEN)
    assert not data.make(texts, tmp_path / "one").had_parts
    made = data.make(write(), tmp_path / "two")
    assert made.had_parts
    assert "as it is, it is a corpus already" in next(made.notes())


def test_a_folder_or_file_that_is_no_corpus_names_the_command(texts: Path):
    (texts / "my a.txt").write_text(TEN)
    with pytest.raises(DataError, match=rf"; 'cellwright data make {texts} -o OUT' makes one"):
        data.load(texts)
    with pytest.raises(DataError, match=rf"or make one: cellwright data make '{texts}/my a.txt'"):
        data.load(texts / "my a.txt")


def test_data_is_there_after_importing_the_package():
    assert "data" in dir(cellwright)
    assert cellwright.__getattr__("data").make is data.make


# -- memory ----------------------------------------------------------------------------------------


def test_a_large_file_is_never_held(tmp_path: Path):
    path = tmp_path / "large.txt.gz"  # a single line of 11 MB
    path.write_bytes(gzip.compress(b"some words " * 1_000_000, 1))
    longest = total = 0
    tracemalloc.start()
    try:
        for few in lines(path, "utf-8", lambda size: None):
            longest = max(longest, *map(len, few))
            total += sum(len(line.split()) for line in few)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == 2_000_000
    assert longest <= LONGEST_LINE
    assert peak < 5_000_000


def test_lines_end_as_on_any_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffone\r\ntwo\rthrée\n\n \nfour".encode())
    for size in (1, 2, 3, 1_000):
        monkeypatch.setattr(reading, "BLOCK_BYTES", size)
        found = [line for few in lines(path, "utf-8", lambda size: None) for line in few]
        assert found == ["one", "two", "thrée", "four"]


# -- what cannot be -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokens": "word"}, "tokens is 'word'; did you mean 'words'"),
        ({"split": "file"}, "split is 'file'; did you mean 'files'"),
        ({"split": "files"}, "there is 1 file with different text"),
        ({"vocabulary": 0}, "a vocabulary of 0 has no room for a word"),
        ({"least": 0}, "least has to be 1 or more"),
        ({"seed": -1}, "the seed is -1"),
        ({"valid": 0.5, "test": 0.5}, "nothing is left for train"),
        ({"encoding": "utf-9"}, "unknown encoding 'utf-9'"),
        ({"encoding": "rot13"}, "unknown encoding 'rot13'"),
        ({"files": [""]}, "a pattern of file names is empty"),
        ({"files": ["*.zip"]}, r"no text in it \(1 other ending\)"),
    ],
)
def test_bad_options(texts: Path, tmp_path: Path, options: dict[str, object], message: str):
    (texts / "a.txt").write_text(TEN)
    with pytest.raises(DataError, match=message):
        data.make(texts, tmp_path / "out", **options)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_bad_sources(texts: Path, tmp_path: Path):
    with pytest.raises(DataError, match=r"texts: no text in it; it has no files"):
        data.make(texts, tmp_path / "out")
    with pytest.raises(DataError, match=r"nothing: no such file or folder"):
        data.make(tmp_path / "nothing", tmp_path / "out")
    with pytest.raises(DataError, match=r"neither a file nor a folder"):
        data.make("/dev/null", tmp_path / "out")
    (texts / "a.txt").write_text("two\nlines\n")
    with pytest.raises(DataError, match=r"has 2 lines, too few .*; 4 are enough"):
        data.make(texts, tmp_path / "out")
    (texts / "a.txt").write_text("<eos>\n" * 10)
    with pytest.raises(DataError, match=r"no words are left for train"):
        data.make(texts, tmp_path / "out", tokens="spaces")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["texts"]
