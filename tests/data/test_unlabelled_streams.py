"""Examples without labels from streams that can be read once, a line at a time."""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from cellwright.data import replayed as module
from cellwright.data.errors import DataError
from cellwright.data.labelled import Options, examples_of
from cellwright.data.replayed import replayed
from cellwright.data.sources import Text, file_text

TSV = b"n\tsentence1\tsentence2\n1\ta b\tc\n2\td\t\n"
ROWS = [("a b", "c"), ("d", "")]


def stream(data: bytes, label: str = "x.tsv") -> Text:
    class Once(io.BytesIO):
        def seek(self, *_: Any) -> int:
            raise AssertionError("a pipe cannot be read again")

    return replayed(Once(data), label)


def test_the_beginning_can_be_read_again() -> None:
    text = stream(b"abcdef")
    with text.open() as one:
        assert one.read(2) == b"ab"
    with text.open() as one, text.open() as other:
        assert one.read(3) == b"ab"
        assert one.read(3) == b"cde"
        assert other.read() == b"abcdef"
        assert one.read() == b"f"


def test_only_the_beginning_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_BYTES", 10)
    text = stream(b"x" * 100)
    with text.open() as one:
        assert one.read(8) == b"x" * 8
    with text.open() as one:
        assert len(one.read()) == 100
    with pytest.raises(DataError, match="has nothing but empty lines at its beginning"):
        text.open()


@pytest.mark.parametrize("name", ["", "rte", "mnli"])
def test_a_stream_is_read_as_a_file_is(tmp_path: Path, name: str) -> None:
    (tmp_path / "x.tsv").write_bytes(TSV)
    file = examples_of(file_text(tmp_path / "x.tsv"), name=name)
    assert list(file) == list(examples_of(stream(TSV), name=name)) == ROWS
    if name:  # its header is an official one
        given = stream(TSV, "standard input")
        assert list(examples_of(given, name=name, plain=True, per_example=2)) == ROWS


def test_plain_text_of_any_bytes() -> None:
    data = b"\xef\xbb\xbfone\ttwo\r\n\n\xff\0\n  \nlast"
    found = list(examples_of(stream(data, "-"), plain=True))
    assert found == [("one\ttwo",), ("",), ("\ufffd\0",), ("  ",), ("last",)]
    assert list(examples_of(stream(data, "-"), plain=True, name="sst-2")) == found


def test_plain_pairs() -> None:
    found = examples_of(stream(b"a\tb\n\n \t\nc\t d\n", "-"), plain=True, per_example=2)
    assert list(found) == [("a", "b"), ("", ""), ("", ""), ("c", " d")]
    for data, message in ((b"a\tb\nc\n", "line 2 has no tab"), (b"a\tb\tc", "line 1 has 2 tabs")):
        with pytest.raises(DataError, match=f"-: {message}; a pair is two sentences"):
            list(examples_of(stream(data, "-"), plain=True, per_example=2))


@pytest.mark.parametrize("plain", [True, False])
def test_a_line_is_given_before_the_next_one_is_there(plain: bool) -> None:
    ours, theirs = os.pipe()
    options = Options(separator="json")
    with os.fdopen(ours, "rb") as reader, os.fdopen(theirs, "wb", buffering=0) as writer:
        found = examples_of(
            replayed(cast(Any, reader), "-"), plain=plain, options=options, name="mnli",
            per_example=1 if plain else 2,
        )  # fmt: skip
        guard = threading.Timer(20, writer.close)  # so that a wait ends
        guard.start()
        for word in ("a", "b"):
            line = word if plain else f'{{"premise": "{word}", "hypothesis": "c"}}'
            writer.write(f"{line}\n".encode())
            assert next(found) == ((word,) if plain else (word, "c"))
        guard.cancel()


def test_one_sentence_of_two() -> None:
    with pytest.raises(DataError, match=r"pairs of sentences a row, .*second = none"):
        list(examples_of(stream(TSV), per_example=1))
    found = examples_of(stream(TSV), per_example=1, options=Options(second="none"))
    assert list(found) == [("a b",), ("d",)]
