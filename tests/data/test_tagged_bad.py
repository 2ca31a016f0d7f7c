"""Column files as they should not be: a message that names the line, or sound handling."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellwright import data
from cellwright.data import DataError, tagged
from cellwright.data import byte_lines as lines
from cellwright.data.sentence_files import SentenceFiles
from cellwright.data.tagged import rows
from data.tagged_files import PARTS, write


def refused(folder: Path, **options: object) -> str:
    with pytest.raises(DataError) as error:
        tagged.load(folder, **options)  # type: ignore[arg-type]
    return str(error.value)


def test_nothing_there(tmp_path: Path):
    assert "no such folder" in refused(tmp_path / "missing")
    assert "unknown tagged data 'conll2002'; did you mean 'conll200" in refused(Path("conll2002"))
    assert "conll2003 is not on this machine" in refused(Path("conll2003"))
    assert "ptb is running text, without tags" in refused(Path("ptb"))
    with pytest.raises(DataError, match=r"conll2003 is sentences with tags, not running text"):
        data.load("conll2003")
    folder = write(tmp_path / "a", test=None)
    assert "no file for the part 'test'; tagged sentences are a folder with" in refused(folder)
    assert "it has train.conll, valid.conll" in refused(folder)
    assert "is a file; give the folder" in refused(folder / "train.conll")
    (tmp_path / "empty").mkdir()
    assert "no file for the part 'train'" in refused(tmp_path / "empty")
    write(tmp_path / "two", ".tsv")
    assert "both valid.conll and valid.tsv could be the part 'valid'" in refused(
        write(tmp_path / "two", train=None)
    )


@pytest.mark.parametrize("part", data.PARTS)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", " is empty; every part needs some sentences"),
        (b"\n \t\n\xc2\xa0\n", " has no words; every part needs some sentences"),
        (b"-DOCSTART- O\n\n", " has no words; every part needs some sentences"),
        (b"word\n", ": line 1 has 1 column: 'word'; a row has the word in column 1"),
        (b"\na O\nb\n", ": line 3 has 1 column, and should have 2, as the rows before it: 'b'"),
        (b"a O\nb c O\n", ": line 2 has 3 columns, and should have 2"),
        (b"a O\nb NN\n", ": line 2: 'NN' is no tag of any scheme, as O, B-TYPE, I-TYPE"),
        (b"a O\nb\0 O\n", ": line 2 has a NUL byte; this is no text"),
        (b"a O\n\xc3\xa4 O\n\xe4 O\n", ": line 3 is not UTF-8 (byte value 0xe4)"),
        ("a O\n".encode("utf-16"), ": the text is UTF-16; save it as UTF-8"),
        (b"a O\nb " + b"x" * 70_000 + b"\n", ": line 2 has more than 65,536 bytes"),
        (b"a O\nb " + b"x" * 70_000, ": line 2 has more than 65,536 bytes"),
        (b"a O\rb O\r", ": line 1 has a carriage return inside"),
    ],
    ids=lambda value: str(value[:12]),
)  # fmt: skip
def test_files_that_are_none(tmp_path: Path, part: str, text: bytes, message: str):
    folder = write(tmp_path, **{part: text})
    assert f"{part}.conll{message}" in refused(folder)
    assert not list((tmp_path / "cache").glob("tokens/*.bin"))


def test_rows_that_do_not_fit_the_names(tmp_path: Path):
    message = refused(write(tmp_path), columns="word pos ner")
    assert "line 1 has 2 columns, and should have 3 (word pos ner): 'Ada B-PER'" in message
    assert "line 1 has 2 columns: 'Ada B-PER'; a row has the word in column 3" in refused(
        tmp_path, word=3
    )
    assert "line 1 has 2 columns" in refused(tmp_path, word=2)


def test_an_empty_word_between_tabs(tmp_path: Path):
    folder = write(tmp_path, train="a\tO\n\tB-X\n")
    assert "train.conll: line 2 has no word in column 1" in refused(folder, separator="tabs")


def test_no_tags_but_o(tmp_path: Path):
    folder = write(tmp_path / "a", train="a O\nb O\n")
    assert "train.conll has no tags but O; there is nothing to learn" in refused(folder)
    train = "a I-X\nb O\n"
    found = tagged.load(write(tmp_path / "b", train=train, valid=train, test="a O\nb O\n"))
    assert "no spans: every tag is O" in found.describe()
    assert "the files' tags are IOB1" in found.describe()  # O alone says nothing


def test_tags_that_contradict_each_other(tmp_path: Path):
    folder = write(tmp_path, test="a B-LOC\nb I-PER\n\nc I-PER\nd O\ne B-X\nf B-Y\ng B-X\n")
    found = tagged.load(folder)
    assert found.parts["test"].spans == {"LOC": 1, "PER": 2, "X": 2, "Y": 1}
    assert found.tags.decode(found.test.tags[:3]) == ["S-LOC", "S-PER", "S-PER"]
    assert found.found["test"].contradictions == 2
    note = "test: 2 tags contradict IOB2, the first on line 2: I-PER after B-LOC"
    assert note in found.describe()
    message = refused(folder, strict=True)
    assert "test.conll: line 2: I-PER after B-LOC" in message
    assert "this is not IOB2; mend it, or leave out strict" in message


def test_the_scheme_that_is_given_is_the_one_that_is_checked(tmp_path: Path):
    folder = write(tmp_path)
    assert tagged.load(folder, source="IOB1").found["train"].contradictions == 3
    assert "line 1: B-PER after the sentence's start: this is not IOB1" in refused(
        folder, source="IOB1", strict=True
    )
    (folder / "test.conll").write_text("a S-PER\n")
    assert "test.conll: line 1: 'S-PER' is no tag of IOB2" in refused(folder, source="IOB2")
    (folder / "test.conll").write_text("a S-PER\nb B-PER\n")
    message = refused(folder, strict=True)
    assert "test.conll: line 2: B-PER after S-PER, at the sentence's end: this is not" in message


def test_line_ends_and_marks_make_no_difference(tmp_path: Path):
    plain = tagged.load(write(tmp_path / "unix"))
    windows = {part: text.replace("\n", "\r\n") for part, text in PARTS.items()}
    marked = {part: b"\xef\xbb\xbf" + text.encode() for part, text in windows.items()}
    no_end = {part: text.removesuffix("\n") for part, text in PARTS.items()}
    loose = {part: f"\n \n{text}\n\n".replace("\n\n", "\n\t \n\n") for part, text in PARTS.items()}
    for number, parts in enumerate((windows, marked, no_end, loose)):
        other = tagged.load(write(tmp_path / f"{number}", **parts))
        assert other.fingerprint == plain.fingerprint


def test_too_many_types_and_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = write(tmp_path)
    monkeypatch.setattr(rows, "MOST_TAG_TYPES", 1)
    assert "line 4: more than 1 different tags" in refused(folder)
    monkeypatch.undo()
    monkeypatch.setenv("CELLWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(rows, "MOST_TYPES", 3)
    assert "train.conll: more than" in refused(folder)


def test_a_sentence_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    long = "word B-X\n" * 100_000
    found = tagged.load(write(tmp_path / "a", train=f"a O\n\n{long}"))
    assert found.train.lengths.tolist() == [1, 100_000]
    assert found.parts["train"].spans == {"X": 100_000}
    monkeypatch.setattr(rows, "MOST_WORDS", 1000)
    message = refused(write(tmp_path / "b", train=f"a O\n\n{long}"))
    assert "the sentence that begins on line 3 has more than 1,000 words; an empty line" in message


def test_only_some_sentences_are_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    written: list[int] = []
    append = SentenceFiles.append

    def counted(self: SentenceFiles, words: rows.Array, *others: rows.Array) -> None:
        written.append(len(words))
        append(self, words, *others)

    monkeypatch.setattr(SentenceFiles, "append", counted)
    monkeypatch.setattr(rows, "blocks", lambda *of: lines.blocks(*of, block_bytes=256))
    monkeypatch.setattr(rows, "BATCH", 100)
    tagged.load(write(tmp_path, train="a B-X\nb O\n\n" * 2000))
    assert sum(written) == 4000 + 2 + 3
    assert max(written) < 200  # a batch, and a block of the file


def test_a_file_that_changes_while_it_is_read(tmp_path: Path):
    folder = write(tmp_path)

    def meddle(what: str, *_: int) -> None:
        if what == "reading train":
            (folder / "train.conll").write_text("longer O\n" * 50)

    with pytest.raises(DataError, match=r"train.conll was written to while it was read"):
        tagged.load(folder, progress=meddle)


def test_lines_are_counted_over_blocks(tmp_path: Path):
    text = b"a O\n" * 300_000
    assert len(text) > lines.BLOCK_BYTES
    folder = write(tmp_path, train=text + b"b X\n")
    assert "line 300,001: 'X' is no tag" in refused(folder)
    (folder / "train.conll").write_bytes(text + b"\xff\n")
    assert "line 300,001 is not UTF-8" in refused(folder)
