"""Files of sentences as they should not be: a message that names the line, or sound handling."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from cellwright import data
from cellwright.base.optional import MissingPackageError
from cellwright.data import DataError, labelled, tagged
from cellwright.data.labelled import prepare, targets
from data.labelled_files import OFFICIAL, OWN, SICK, SICK_WHOLE, STS, glue, own, put, read, table


def refused(name: Path | str, /, **options: object) -> str:
    with pytest.raises(DataError) as error:
        labelled.load(name, **options)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
    return str(error.value)


def test_nothing_there(tmp_path: Path):
    assert "no such folder" in refused(tmp_path / "missing")
    assert "unknown labelled data 'MRPC'; did you mean 'mrpc'?" in refused("MRPC")
    assert "mrpc is not on this machine" in refused("mrpc")
    assert "ptb is running text, without labels; with labels are cola, sst-2" in refused("ptb")
    assert "wnut17 is sentences with tags, without labels" in refused("wnut17")
    with pytest.raises(DataError, match=r"mrpc is sentences with labels, not running text"):
        data.load("mrpc")
    with pytest.raises(DataError, match=r"mrpc is sentences with labels, without tags"):
        tagged.load("mrpc")
    folder = own(tmp_path / "a", test=None, valid=None)
    assert "no file for the part 'test'; sentences with labels are a folder with" in refused(folder)
    assert "(it has train.tsv)" in refused(folder)
    assert "is a file; give the folder" in refused(folder / "train.tsv")
    (tmp_path / "empty").mkdir()
    assert "no file for the part 'train'" in refused(tmp_path / "empty")
    own(tmp_path / "two", ".csv")
    assert "both train.csv and train.tsv could be the part 'train'" in refused(
        own(tmp_path / "two")
    )
    hidden = own(tmp_path / "h", valid=None, test="text\na\n")
    assert "test.tsv has no column with labels, and there is no file for the part" in refused(
        hidden
    )


def test_official_files_that_are_missing(tmp_path: Path):
    folder = put(tmp_path / "x", {"notes.md": "?"})
    assert refused("rte", folder=folder) == (
        f"{folder}: the files of rte are train.tsv and dev.tsv (it has notes.md)"
    )
    everything = glue(tmp_path / "all")
    assert "rte has no public labels of test; parts 'dev-as-test'" in refused(
        "rte", folder=everything, parts="official"
    )
    assert "rte has no mismatched part; mnli has one" in refused(
        "rte", folder=everything, mismatched=True
    )
    (everything / "glue/MNLI/dev_mismatched.tsv").unlink()
    assert "no file dev_mismatched.tsv, the mismatched part of mnli" in refused(
        "mnli", folder=everything, mismatched=True
    )
    assert "rte has columns of its own; first is for your own files" in refused(
        "rte", folder=everything, first="x"
    )
    cola = put(tmp_path / "RTE", dict(OFFICIAL["CoLA"]))
    assert "line 1 has no column 'sentence1'; it has 'gj04'" in refused("rte", folder=cola)


@pytest.mark.parametrize("part", data.PARTS)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", " is empty; every file needs some rows"),
        (b"\n \n\t\n", " is empty; every file needs some rows"),
        (b"sentence\tlabel\n", " has no examples; every part needs some"),
        (b"sentence\tlabel\na\tyes\nb\n", ": line 3 has 1 column, and should have 2 (sentence lab"),
        (b"sentence\tlabel\na\tb\tyes\n", ": line 2 has 3 columns, and should have 2 (sentence l"),
        (b"sentence\tlabel\na\tyes\nb\t \n", ": line 3 has no label"),
        (b"sentence\tlabel\na\tyes\nb\0\tno\n", ": line 3 has a NUL byte; this is no text"),
        (b"sentence\tlabel\n\xe4\tyes\n", ": line 2 is not UTF-8 (byte value 0xe4)"),
        ("sentence\tlabel\n".encode("utf-16"), ": the text is UTF-16; save it as UTF-8"),
        (b"sentence\tlabel\na" + b" x" * 600_000 + b"\tyes\n", ": line 2 has more than 1,048,576"),
        (b"sentence\tlabel\ra\tyes\r", ": line 1 has a carriage return inside"),
        (b"sentense\tlabels\na\tyes\n", ": line 1 names no column with a sentence, as sentence1"),
    ],
    ids=lambda value: str(value[:24]),
)  # fmt: skip
def test_files_that_are_none(tmp_path: Path, part: str, text: bytes, message: str):
    found = refused(own(tmp_path, **{part: text}))
    assert found.startswith(f"{tmp_path / part}.tsv{message}")


@pytest.mark.parametrize("part", ["valid", "test"])
def test_a_label_that_train_lacks(tmp_path: Path, part: str):
    folder = own(tmp_path / "a", **{part: table("sentence | label", "a | yes", "b | yess")})
    assert refused(folder).endswith(
        f"{part}.tsv: line 3: 'yess' is not one of the labels; did you mean 'yes'?"
    )
    folder = own(tmp_path / "b", **{part: table("sentence | label", "a | 5")})
    assert refused(folder).endswith("line 2: '5' is not one of the labels; they are no, yes")


def test_official_labels(tmp_path: Path):
    folder = glue(tmp_path / "all")
    path = folder / "glue/RTE/dev.tsv"
    path.write_text(path.read_text().replace("not_entailment", "no-entailment"))
    assert refused("rte", folder=folder) == (
        f"{path}: line 3: 'no-entailment' is not one of the labels; did you mean 'not_entailment'?"
    )


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ("nan", "line 2: 'nan' is no number, as a score is"),
        ("inf", "line 2: 'inf' is no number, as a score is"),
        ("-1e999", "line 2: '-1e999' is no number, as a score is"),
        ("high", "line 2: 'high' is no number, as a score is"),
        ("5.1", "line 2: the score 5.1 is not between 1 and 5"),
        ("0.99", "line 2: the score 0.99 is not between 1 and 5"),
        ("", "line 2 has no label"),
    ],
)
@pytest.mark.parametrize("file", ["SICK_train.txt", "SICK_test_annotated.txt"])
def test_scores_that_are_none(tmp_path: Path, file: str, score: str, message: str):
    files = dict.fromkeys(("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"), SICK)
    folder = put(tmp_path, {**files, file: SICK.replace("4.9", score)})
    assert refused("sick-r", folder=folder) == f"{folder / file}: {message}"


def test_one_file_that_lacks_a_part_or_says_of_none(tmp_path: Path):
    whole = put(tmp_path / "a", {"SICK.txt": SICK_WHOLE.replace("TRIAL", "TRAIN")})
    assert refused("sick-r", folder=whole) == (
        f"{whole / 'SICK.txt'} has no examples of TRIAL; every part needs some"
    )
    none = put(tmp_path / "b", {"SICK.txt": SICK_WHOLE.replace("SemEval_set", "set")})
    assert "line 1 has no column 'SemEval_set'" in refused("sick-r", folder=none)


def test_ones_own_scores(tmp_path: Path):
    scores = table("text | score", "a | 2.5", "b | 1", "c | x")
    assert (
        "train.tsv: line 4: 'x' is no number, but 2.5 on line 2 is; labels are words"
    ) in refused(own(tmp_path / "a", train=scores))
    scores = table("text | score", "a | 2.5", "b | 1")
    assert "test.tsv: line 2: 'no' is no number, as a score is" in refused(
        own(tmp_path / "b", train=scores, valid=None)
    )
    same = table("text | score", "a | 2.5", "b | 2.50")
    assert "all examples of train are '2.5'; there is nothing to learn" in refused(
        own(tmp_path / "c", **dict.fromkeys(data.PARTS, same))
    )
    one = table("text | label", "a | yes", "b | yes")
    assert "all examples of train are 'yes'; there is nothing to learn" in refused(
        own(tmp_path / "d", **dict.fromkeys(data.PARTS, one))
    )


def test_too_many_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(targets, "MOST_LABELS", 5)
    text = table("text | label", *(f"a | label{n}" for n in range(7)))
    assert "line 7: more than 5 different labels; is this the labels' column?" in refused(
        own(tmp_path, train=text)
    )
    with pytest.raises(DataError, match=r"line 7: more than 5 different labels; are they scores"):
        labelled.load(tmp_path, score=False)


def test_columns_that_are_not_there(tmp_path: Path):
    folder = own(tmp_path)
    assert "train.tsv: line 1 has no column 'sentense'; did you mean 'sentence'?" in refused(
        folder, first="sentense"
    )
    assert "line 1 has no column 'other'; its columns are 'sentence', 'label'" in refused(
        folder, second="other"
    )
    assert "line 1 has no column 'lable'; did you mean 'label'?" in refused(folder, label="lable")
    assert "line 1 has 2 columns, and no column 3" in refused(folder, label=3)
    assert "line 1 has 2 columns, and no column 9" in refused(folder, first=1, label=9)
    assert "first is 0; columns are counted from 1 on" in refused(folder, first="0")
    assert "are not three different columns" in refused(folder, second="sentence")
    assert "say the number of the labels' column" in refused(folder, first=1)
    (folder / "valid.tsv").write_text(table("sentence1 | sentence2 | label", "a | b | yes"))
    assert "the files differ in sentences of an example: train 1, valid 2" in refused(folder)


def test_rows_of_official_files_without_a_header(tmp_path: Path):
    folder = glue(tmp_path / "all")
    path = folder / "glue/STS-B/sts-test.csv"
    path.write_text(STS + table("main | x | 2012 | 4 | 3.0 | Only one"))
    assert refused("sts-b", folder=folder).startswith(
        f"{path}: line 4 has 6 columns, and should have 7 or 9: "
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1]", "is no JSON object: '[1]'"),
        ('{"sentence": "a"', "is no JSON object"),
        ("[" * 100_000, "is no JSON object"),
        ('{"sentence": "a"}', "has no 'label'; it has 'sentence'"),
        ('{"sentense": "a", "label": "no"}', "has no 'sentence'; did you mean 'sentense'?"),
        ('{"sentence": 5, "label": "no"}', ": sentence is 5, and no sentence"),
        ('{"sentence": null, "label": "no"}', ": sentence is None, and no sentence"),
        ('{"sentence": "a", "label": ["no"]}', ": label is ['no']; a label is a word or a number"),
        ('{"sentence": "a", "label": null}', "has no label"),
        ('{"sentence": "a\\ud800", "label": "no"}', "has half a character, \\ud800"),
    ],
)  # fmt: skip
def test_json_lines_that_are_none(tmp_path: Path, line: str, message: str):
    good = '{"sentence": "a", "label": "yes"}\n{"sentence": "b", "label": "no"}\n'
    folder = own(tmp_path, ".jsonl", train=good + line, valid=good, test=good)
    found = refused(folder)
    assert found.startswith(f"{tmp_path / 'train.jsonl'}: line 3")
    assert message in found


def test_quotation_marks_that_are_never_closed(tmp_path: Path):
    good = "text,label\na,x\nb,y\n"
    open_ = good + 'c,"x\n' + "d,y\n" * 50_000
    folder = own(tmp_path / "a", ".csv", train=open_, valid=good, test=good)
    assert "train.csv: line 4: " in refused(folder)
    assert "quotation marks stand around a whole field" in refused(folder)
    folder = own(tmp_path / "b", ".csv", train=good + '"c"d,x\n', valid=good, test=good)
    assert "train.csv: line 4: " in refused(folder)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokenizer": "spcy"}, "tokenizer is 'spcy'; did you mean 'spacy'?"),
        ({"parts": "all"}, "parts is 'all'; it is one of auto, official, dev-as-test, dev-alone"),
        ({"valid": "no"}, "valid is 'no'; it is one of file, cut"),
        ({"separator": ","}, "separator is ','; it is one of auto, tabs, commas"),
        ({"longest": -1}, "longest is -1; it is 0, no limit, or more"),
        ({"most_words": -1}, "most_words is -1; it is 0, no limit, or more"),
        ({"tokenizer": "pieces"}, "the tokenizer 'pieces' needs encoder"),
        ({"encoder": "x"}, "encoder is for the tokenizer 'pieces'"),
        ({"mismatched": True}, "has no mismatched part; mnli has one"),
    ],
)
def test_options_that_are_none(tmp_path: Path, options: dict[str, object], message: str):
    assert message in refused(own(tmp_path), **options)


def test_without_spacy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import importlib
    import importlib.metadata

    whole = importlib.import_module

    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    def none(name: str, package: str | None = None) -> object:
        if name == "spacy":
            raise ModuleNotFoundError("No module named 'spacy'", name="spacy")
        return whole(name, package)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    monkeypatch.setattr(importlib, "import_module", none)
    with pytest.raises(MissingPackageError) as error:
        labelled.load(own(tmp_path), tokenizer="spacy")
    assert str(error.value) == (
        "the tokenizer 'spacy' needs the package spacy; pip install 'cellwright[sentences]' "
        "brings it"
    )


def test_marks_and_windows_line_ends_make_no_difference(tmp_path: Path):
    plain = labelled.load(own(tmp_path / "a"))
    windows = {part: "\ufeff" + text.replace("\n", "\r\n") for part, text in OWN.items()}
    other = labelled.load(own(tmp_path / "b", **windows))
    assert other.fingerprint == plain.fingerprint


def test_a_file_that_changes_while_it_is_read(tmp_path: Path):
    folder = own(tmp_path)

    def meddle(what: str, *_: int) -> None:
        if what == "reading train":
            (folder / "train.tsv").write_text("long\tyes\n" * 50)

    with pytest.raises(DataError, match=r"train.tsv was written to while it was read"):
        labelled.load(folder, progress=meddle)


def test_memory_does_not_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(prepare, "AT_ONCE", 100)
    rows = "".join(f"some words of a sentence {n % 50}\t{n % 2}\n" for n in range(20_000))
    text = f"text\tlabel\n{rows}"
    small = table("text | label", "a | 0", "b | 1")
    folder = own(tmp_path, train=text, valid=small, test=small)
    size = len(text)
    del rows, text
    tracemalloc.start()
    found = labelled.load(folder, tokenizer="spaces")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found.train) == 20_000
    assert peak < 8 * size  # a block of lines and of arrays; all rows as words would be 30 times


def test_lines_are_counted_over_blocks(tmp_path: Path):
    text = "text\tlabel\n" + f"{'a' * 90}\tyes\nb\tno\n" * 12_000
    assert len(text) > 2**20
    folder = own(tmp_path, train=text + "c\n")
    assert "line 24,002 has 1 column" in refused(folder)
    assert len(read(labelled.load(own(tmp_path)))) == 3
