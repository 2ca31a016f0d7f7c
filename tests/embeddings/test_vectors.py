"""Pretrained word vectors: every usual form, Flair's order of lookup, clear errors."""

from __future__ import annotations

import contextlib
import gzip
import os
import random
import struct
from pathlib import Path

import numpy as np
import pytest

from cellwright.embeddings import vectors as module
from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.vector_files import open_vectors
from cellwright.embeddings.vector_names import KNOWN_VECTORS, find_vectors
from cellwright.embeddings.vectors import NOT_FOUND, word_vectors

VECTORS = {"the": (0.5, -1.25, 3e-5), "Über": (1.0, 2.0, -0.0), ",": (7.0, 8.0, 9.0)}


def glove(rows=VECTORS, end="\n") -> bytes:
    lines = [" ".join([word, *map(repr, values)]) + end for word, values in rows.items()]
    return "".join(lines).encode()


def header(rows=VECTORS) -> bytes:
    return f"{len(rows)} {len(next(iter(rows.values())))}\n".encode()


def binary(rows=VECTORS, end=b"\n") -> bytes:
    parts = [w.encode() + b" " + struct.pack(f"<{len(v)}f", *v) + end for w, v in rows.items()]
    return header(rows) + b"".join(parts)


FORMS = {
    "glove": glove(),
    "glove without a last line end": glove()[:-1],
    "windows": glove(end="\r\n"),
    "byte-order mark": b"\xef\xbb\xbf" + glove(),
    "tabs": glove().replace(b" ", b"\t"),
    "word2vec text": header() + glove(),
    "fasttext vec": header() + glove(end=" \n"),
    "word2vec binary": binary(),
    "word2vec binary without line ends": binary(end=b""),
    "glove.gz": gzip.compress(glove(), mtime=0),
    "binary.gz": gzip.compress(binary(), mtime=0),
}


@pytest.fixture
def write(tmp_path: Path):
    def written(data: bytes, name: str = "vectors") -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return written


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_vectors(write, form: str):
    found = word_vectors(write(FORMS[form]), [",", "Über", "missing", "the", ","])
    expected = [VECTORS[","], VECTORS["Über"], (0, 0, 0), VECTORS["the"], VECTORS[","]]
    assert found.matrix.dtype == np.float32
    np.testing.assert_array_equal(found.matrix, np.array(expected, np.float32))
    assert found.found == {
        "as it is": 4, "lower case": 0, "digits as #": 0, "digits as 0": 0, "not found": 1,
    }  # fmt: skip


def test_words_are_looked_up_in_flairs_order(write):
    rows = {"Paris": (1.0,), "paris": (2.0,), "##-year": (3.0,), "00-year": (4.0,), "0.0": (5.0,)}
    words = ["Paris", "PARIS", "30-YEAR", "3.5", "٣.5", "Rome"]
    found = word_vectors(write(glove(rows)), words)
    assert found.matrix[:, 0].tolist() == [1, 2, 3, 5, 5, 0]
    assert found.rules.tolist() == [0, 1, 2, 3, 3, NOT_FOUND]


def test_of_two_rows_of_a_word_the_first_counts(write):
    assert word_vectors(write(b"a 1 2\nb 3 4\na 5 6\n"), ["a"]).matrix.tolist() == [[1, 2]]


def test_a_word_may_have_spaces_in_it(write):
    path = write(b"the 1 2\n. . . 3 4\nat name@domain.com 5 6\n  7 8\n")
    found = word_vectors(path, [". . .", "at name@domain.com", ".", " "])
    assert found.matrix.tolist() == [[3, 4], [5, 6], [0, 0], [7, 8]]


def test_a_word_that_is_no_utf8_does_not_hinder_others(write):
    assert word_vectors(write(b"a 1 2\n\xff\xfe 3 4\nb 5 6\n"), ["b"]).matrix.tolist() == [[5, 6]]


def test_rows_that_are_cut_by_blocks_are_joined(write, monkeypatch: pytest.MonkeyPatch):
    rows = {f"word{i}": (float(i), i / 4) for i in range(50)}
    for block in (1, 7, 64):
        monkeypatch.setattr("cellwright.embeddings.vector_files._BLOCK_BYTES", max(block, 16))
        for data in (glove(rows), binary(rows)):
            with open_vectors(write(data)) as file:
                read = {row.word.decode(): tuple(file.values(row).tolist()) for row in file.rows}
            assert read == rows


def test_only_rows_that_are_wanted_are_parsed_and_kept(write, monkeypatch: pytest.MonkeyPatch):
    parsed = []
    monkeypatch.setattr(
        "cellwright.embeddings.vector_files.VectorFile.values",
        lambda self, row: parsed.append(row.word) or np.zeros(2, np.float32),
    )
    word_vectors(write(b"".join(b"w%d 1 2\n" % i for i in range(1, 999))), ["W7", "w12", "w12"])
    assert parsed == [b"w7", b"w12"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"a 1 2\nb 1\n", "line 2: 1 numbers, where 2 belong"),
        (b"a 1 2\nb 1 2 3\n", "line 2: 3 numbers, where 2 belong"),
        (b"a 1 2\nb\n", "line 2: 0 numbers"),
        (b"a 1 2\nb 1 x\n", "line 2: 'x' is no number"),
        (b"a 1 2\nb 1 nan\n", "line 2: the word 'b' has a number that is not finite"),
        (b"a 1 2\nb 1 1e99\n", "line 2: the word 'b' has a number that is not finite"),
        (b"once upon a time\n", "line 1: 'upon' is no number"),
        (b"word\n", "line 1: a word and its numbers"),
        (b"3 2\na 1 2\nb 1 2\n", "line 1 says 3 words, and there are 2"),
        (b"1 2\na 1 2\nb 1 2\n", "line 1 says 1 words, and there are more than 1"),
        (b"2 3\na 1 2\nb 1 2\n", "line 2: 2 numbers, where 3 belong, as line 1 says"),
        (b"2 0\na\nb\n", "line 1: says 0 numbers"),
        (b"2 99999999\na\nb\n", "line 1: says 99,999,999 numbers"),
        (binary()[:-5], "word 3: is cut off"),
        (binary({"a": (1.0, float("nan"))}), "word 1: the word 'a' has a number that is not"),
        (b"9" + binary(), "says 93 words, and there are 3"),
        (b"\x00\x01\x02" * 50, "is no text"),
        (b"a 1 2\n" + b"x" * (2**20 + 5), "line 2: more than 1,048,576 bytes"),
        (b"PK\x03\x04rest", "is a zip archive: unpack it"),
        (b"\xba\x16\x4f\x2frest", "is a fastText model: give the file .vec"),
        (b"\x80\x04rest", "is a pickle"),
        ("a 1 2\n".encode("utf-16"), "is UTF-16 text"),
        (gzip.compress(glove(), mtime=0)[:-9], "gzip file is damaged or cut off"),
        (gzip.compress(glove(), mtime=0)[:20] + b"\xff" * 30, "gzip file is damaged or cut off"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(write, cache: Path, data: bytes, message: str):
    path = write(data)
    with pytest.raises(EmbeddingError) as caught:
        word_vectors(path, ["a", "b"])
    assert str(caught.value).startswith(str(path)), caught.value
    assert message in str(caught.value)
    assert not [path for path in cache.rglob("*") if path.is_dir() and path.name[:1] == "."]


@pytest.mark.parametrize("form", FORMS)
def test_damage_gives_vectors_or_an_error(write, form: str):
    rng, data = random.Random(form), FORMS[form]
    for _ in range(25):
        at, end = sorted(rng.choices(range(len(data) + 1), k=2))
        new = rng.choice([b"", rng.randbytes(3), b"\n", b" ", b"nan", data[at:end] * 2])
        path = write(data[:at] + new + data[rng.choice([at, at + 1, end]) :])
        with contextlib.suppress(EmbeddingError), open_vectors(path) as file:
            for row in file.rows:
                assert np.isfinite(file.values(row)).all()


def test_the_second_time_nothing_is_read(write, monkeypatch: pytest.MonkeyPatch):
    path = write(glove())
    first = word_vectors(path, ["the"])
    monkeypatch.setattr(module, "open_vectors", lambda *_: pytest.fail("the file was read"))
    again = word_vectors(path, ["the"])
    assert isinstance(again.matrix, np.memmap)
    assert again.matrix.tolist() == first.matrix.tolist()
    assert again.found == first.found


def test_other_words_or_another_file_are_read_anew(write):
    path = write(b"a 1\nb 2\n")
    os.utime(path, ns=(10**18, 10**18))
    assert word_vectors(path, ["a", "b"]).matrix.tolist() == [[1], [2]]
    assert word_vectors(path, ["ab"]).matrix.tolist() == [[0]]
    path.write_bytes(b"a 3\nb 2\n")
    os.utime(path, ns=(10**18, 10**18))
    assert word_vectors(path, ["a", "b"]).matrix.tolist() == [[3], [2]]


@pytest.mark.parametrize("file", ["vectors.npy", "rules.npy", "arrays.json"])
def test_damaged_vectors_are_made_anew(write, cache: Path, file: str):
    path = write(glove())
    word_vectors(path, ["the"])
    [kept] = cache.rglob(file)
    data = bytearray(kept.read_bytes())
    data[-2] ^= 0x55
    kept.write_bytes(bytes(data))
    assert word_vectors(path, ["the"]).matrix[0].tolist() == [0.5, -1.25, np.float32(3e-5)]


def test_no_words_have_no_vectors(write):
    assert word_vectors(write(glove()), []).matrix.shape == (0, 3)


def test_a_cache_that_cannot_be_written_is_named(write, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CELLWRIGHT_CACHE", str(write(b"a file", "in the way")))
    with pytest.raises(EmbeddingError, match=r"cannot keep vectors in .*CELLWRIGHT_CACHE"):
        word_vectors(write(glove()), ["the"])


def test_progress_ends_at_the_files_size(write):
    path = write(gzip.compress(glove(), mtime=0))
    seen = []
    word_vectors(path, ["the"], lambda what, done, total: seen.append((what, done, total)))
    size = path.stat().st_size
    assert seen[-1] == ("reading vectors", size, size)


def test_a_name_is_looked_for_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CELLWRIGHT_DATA", str(tmp_path))
    (tmp_path / "vectors").mkdir()
    with pytest.raises(EmbeddingError) as caught:
        find_vectors("glove-100d")
    assert "https://nlp.stanford.edu/data/glove.6B.zip" in str(caught.value)
    assert str(tmp_path / "vectors") in str(caught.value)
    part = tmp_path / "vectors" / "glove.6B.100d.subset.txt.gz"
    part.write_bytes(b"")
    assert find_vectors("glove-100d") == part
    whole = tmp_path / "vectors" / "glove.6B.100d.txt"
    whole.write_bytes(b"")
    assert find_vectors("glove-100d") == whole


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("glove-100", "did you mean 'glove-100d'"),
        ("zebra", f"known are {', '.join(KNOWN_VECTORS)}"),
        ("./none", "./none: no such file of vectors"),
        ("/", "is a folder"),
        ("~nobody/x", "no such file of vectors"),
        ("x" * 5000, "unknown vectors"),
        ("a\0.txt", "no such file of vectors"),
    ],
)
def test_a_name_that_is_none_is_an_error(name: str, message: str):
    with pytest.raises(EmbeddingError) as caught:
        find_vectors(name)
    assert message in str(caught.value)


def test_words_are_a_list(write):
    with pytest.raises(EmbeddingError, match="a list of strings, not 'the'"):
        word_vectors(write(glove()), "the")
