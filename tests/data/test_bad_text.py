"""Text as it should not be: a message that says what to do, or the right tokens all the same."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cellwright import data
from cellwright.data import DataError, reading
from cellwright.data.sources import Stamp, Text


def test_nothing_there(write, tmp_path: Path):
    with pytest.raises(DataError, match=r"no such folder"):
        data.load(tmp_path / "missing")
    with pytest.raises(DataError, match=r"unknown corpus 'wikitext2'; did you mean 'wikitext-2'"):
        data.load("wikitext2")
    with pytest.raises(
        DataError, match=r"no file for the part 'valid'.*it has test.txt, train.txt"
    ):
        data.load(write(valid=None))
    with pytest.raises(DataError, match=r"is a file; give the folder"):
        data.load(tmp_path / "corpus" / "train.txt")
    with pytest.raises(DataError, match=r"no such folder|unknown corpus"):
        data.load("nul\0l")
    (tmp_path / "corpus" / "valid.txt").mkdir()
    with pytest.raises(DataError, match=r"no file for the part 'valid'"):
        data.load(tmp_path / "corpus")
    with pytest.raises(DataError, match=r"unknown corpus 'sik-r'; did you mean 'sick-r'"):
        data.load("sik-r")


@pytest.mark.parametrize("part", data.PARTS)
@pytest.mark.parametrize(("text", "what"), [(b"", "is empty"), (b" \n\n\t\r\n", "has no words")])
def test_nothing_in_it(write, part: str, text: bytes, what: str):
    with pytest.raises(DataError, match=rf"{part}.txt {what}"):
        data.load(write(**{part: text}))


def test_a_single_word(write):
    corpus = data.load(write(train=b"word", valid=b"word", test=b"word"))
    assert corpus.vocabulary.tokens == ("word", "<eos>", "<unk>")
    assert corpus.train.tolist() == [0, 1]
    with pytest.raises(DataError, match=r"2 tokens are too few for a batch of 4"):
        data.batchify(corpus.train, 4)


@pytest.mark.parametrize("part", data.PARTS)
def test_not_utf8(write, part: str):
    text = "größer\n".encode() * 3 + b"gr\xf6\xdfer\n"
    with pytest.raises(DataError, match=rf"{part}.txt: not UTF-8 at byte 29 \(line 4, .*0xf6\)"):
        data.load(write(**{part: text}))


def test_the_offset_counts_a_mark_and_earlier_pieces(monkeypatch: pytest.MonkeyPatch):
    for before in (b"", b"\xef\xbb\xbf"):
        text = before + b"word \n" * 50 + b"\xff"
        with pytest.raises(DataError, match=rf"at byte {len(text) - 1} \(line 51"):
            read(text, chunk_bytes=16)


def test_utf16_says_so(write):
    with pytest.raises(DataError, match=r"UTF-16; save it as UTF-8"):
        data.load(write(train="the cat\n".encode("utf-16")))


def test_line_ends_and_marks_make_no_difference(write):
    plain = data.load(write("unix"))
    texts = {part: (plain_text(plain, part)).replace(b"\n", b"\r\n") for part in data.PARTS}
    windows = data.load(write("windows", **texts))
    marked = data.load(write("bom", **{part: b"\xef\xbb\xbf" + texts[part] for part in texts}))
    open_end = {part: plain_text(plain, part).removesuffix(b"\n") for part in data.PARTS}
    for other in (windows, marked, data.load(write("no end", **open_end))):
        assert other.vocabulary.tokens == plain.vocabulary.tokens
        assert all((getattr(other, p) == getattr(plain, p)).all() for p in data.PARTS)
        assert other.lines == plain.lines


def test_pieces_of_any_size_give_the_same_words():
    text = "ein Wörtchen\r\n\r\n\tzwei  日本語\u00a0x\u2028y \n\nlast".encode()
    whole = read(text)
    expected = "ein Wörtchen <eos> <eos> zwei 日本語 x y <eos> <eos> last <eos>"
    assert " ".join(whole) == expected
    for size in range(1, len(text) + 1):
        assert read(text, chunk_bytes=size) == whole


def test_a_line_of_50_megabytes_is_read_in_pieces(write):
    line = b"seven letter words make up one long line " * (50 * 2**20 // 41)
    largest = 0
    for piece in reading.pieces(text_of(line)):
        largest = max(largest, len(piece.words))
    assert largest < reading.CHUNK_BYTES / 3
    corpus = data.load(write(train=line, valid=b"one line\n", test=b"one line\n"))
    assert corpus.lines["train"] == 1
    assert corpus.tokens["train"] == 8 * (50 * 2**20 // 41) + 1
    assert len(corpus.vocabulary) == 10


@pytest.mark.parametrize("part", data.PARTS)
@pytest.mark.parametrize("ending", [b" end\n", b""])
def test_a_word_of_a_megabyte(write, part: str, ending: bytes):
    text = b"one line\nand " + b"x" * 2**20 + ending
    with pytest.raises(DataError, match=rf"{part}.txt: line 2 has a word of more than 65,536"):
        data.load(write(**{part: text}))


def test_a_word_at_the_limit_is_a_word():
    longest = b"x" * reading.MOST_WORD_BYTES
    text = b"a\n" * 10 + longest + b" " + longest + b"\nb\n"
    for size in (1000, 2**16, 2**22):
        assert read(text, chunk_bytes=size).count(longest.decode()) == 2
        with pytest.raises(DataError, match=r"line 13 has a word"):
            read(text + longest + b"x\n", chunk_bytes=size)


def test_too_many_different_words(write, monkeypatch: pytest.MonkeyPatch):
    from cellwright.data import prepare

    monkeypatch.setattr(prepare, "MOST_TYPES", 3)
    with pytest.raises(DataError, match=r"train.txt: more than 3 different words"):
        data.load(write())


@pytest.mark.skipif(os.name != "posix", reason="needs file permissions")
def test_a_file_that_may_not_be_read():
    with tempfile.TemporaryDirectory() as name, as_nobody(Path(name)) as folder:
        for part in data.PARTS:
            (folder / f"{part}.txt").write_bytes(b"a b\n")
        os.environ["CELLWRIGHT_CACHE"] = str(folder / "cache")
        (folder / "valid.txt").chmod(0)
        with pytest.raises(DataError, match=r"valid.txt: permission denied"):
            data.load(folder)
        (folder / "valid.txt").chmod(0o600)
        (folder / "cache" / "tokens").chmod(0o500)
        with pytest.raises(DataError, match=r"cannot keep the tokens.*permission denied.*CACHE"):
            data.load(folder)
        (folder / "cache" / "tokens").chmod(0o700)
        assert data.load(folder).tokens["valid"] == 3


@contextmanager
def as_nobody(folder: Path) -> Iterator[Path]:
    """Root may read everything, so root becomes someone else for a while."""
    root = os.geteuid() == 0
    if root:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)


def text_of(content: bytes) -> Text:
    import io

    return Text("text", lambda: io.BytesIO(content), lambda: Stamp(len(content), 0))


def read(content: bytes, **options: int) -> list[str]:
    given: list[bytes] = []
    found = list(reading.pieces(text_of(content), given.append, **options))
    assert b"".join(given) == content
    assert sum(piece.lines for piece in found) == content.count(b"\n") + (content[-1:] != b"\n")
    return [word for piece in found for word in piece.words]


def plain_text(corpus: data.Corpus, part: str) -> bytes:
    return Path(corpus.where, f"{part}.txt").read_bytes()
