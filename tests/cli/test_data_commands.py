"""The `data` commands do what their help says, offline."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

HELPS = ["data", "data list", "data get", "data make"]


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("CELLWRIGHT_CACHE", str(folder))
    monkeypatch.delenv("CELLWRIGHT_DATA", raising=False)
    return folder


def examples(text: str) -> list[str]:
    return [line.strip()[2:] for line in text.splitlines() if line.strip().startswith("$ ")]


def corpus(folder: str, **parts: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    texts = {"train": "the cat sat\n", "valid": "the dog sat\n", "test": "the cat\n", **parts}
    for part, text in texts.items():
        Path(folder, f"{part}.txt").write_text(text)


@pytest.mark.parametrize("command", HELPS)
def test_the_examples_run(run, example, command: str):
    lines = examples(run(*command.split(), "--help").out)
    assert len(lines) >= 3
    for line in lines:
        example(line)


@pytest.mark.parametrize("command", HELPS)
def test_the_help_fits_a_terminal(run, command: str):
    narrow = run(*command.split(), "--help", width=80).out
    assert max(map(len, narrow.splitlines())) <= 80


@pytest.mark.parametrize("arguments", ["--help", "data list"])
def test_data_does_not_import_torch(shell, arguments: str):
    outcome = shell(f"cellwright {arguments}", PYTHONPROFILEIMPORTTIME="1")
    imported = re.findall(r"\| +([\w.]+)$", outcome.err, re.MULTILINE)
    assert "cellwright.cli.data" in imported
    assert "torch" not in imported


def test_a_list_of_names_makes_nothing(run, cache: Path):
    rows = json.loads(run("data", "list", "--json").out)
    texts = [row["name"] for row in rows if row["kind"] == "text"]
    assert texts == ["builtin", "ptb", "wikitext-2", "wikitext-103"]
    tagged = [row["name"] for row in rows if row["kind"] == "tagged"]
    assert tagged == ["conll2003", "conll2000", "wnut17"]
    labelled = [row["name"] for row in rows if row["kind"] == "labelled"]
    assert labelled == [
        "cola", "sst-2", "mrpc", "qqp", "sts-b", "mnli", "qnli", "rte", "wnli", "sick-r", "sick-e",
    ]  # fmt: skip
    assert [row["where"] for row in rows] == ["Python", *[None] * 17]
    assert not any(row["prepared"] for row in rows)
    assert not list(cache.iterdir())
    out = run("data", "list").out
    assert "not here; cellwright data get wikitext-103" in out
    assert "not read yet" in out


@pytest.mark.usefixtures("whole_builtin")
def test_a_named_corpus_is_read(run):
    [row] = json.loads(run("data", "list", "builtin", "--json").out)
    assert row["train"] > 10 * row["test"] > 10_000
    assert (row["licence"], row["prepared"], row["as_published"]) == ("PSF-2.0", True, None)
    again = json.loads(run("data", "list", "--json").out)
    assert again[0] == row
    assert f"{row['train']:,}" in run("data", "list").out


def test_a_folder_is_a_corpus(run):
    corpus("my[red]corpus")
    outcome = run("data", "list", "my[red]corpus")
    assert outcome.code == 0
    assert re.search(r"my\[red\]corpus +4 +4 +3 +5 +1 +– +my\[red\]corpus", outcome.out)


def test_names_from_the_data_folder(run, monkeypatch: pytest.MonkeyPatch):
    corpus("all/ptb")
    corpus("all/wikitext-2", train="")
    Path("all/wikitext-103").mkdir()
    monkeypatch.setenv("CELLWRIGHT_DATA", "all")
    rows = {row["name"]: row for row in json.loads(run("data", "list", "--json").out)}
    assert rows["ptb"]["where"] == os.path.join("all", "ptb")
    assert "no file for the part 'train'" in rows["wikitext-103"]["problem"]
    outcome = run("data", "list", "ptb")
    assert "ptb: these are not its published counts" in outcome.out
    assert run("data", "list").code == 0


def tagged(folder: str, ending: str = ".conll") -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    texts = {"train": "Ada X B-PER\nran Y O\n", "dev": "Ada X B-PER\n", "test": "Eve X B-PER\n"}
    for part, text in texts.items():
        Path(folder, f"{part}{ending}").write_text(text)


def test_sentences_with_tags(run):
    tagged("mine")
    outcome = run("data", "list", "mine")
    assert re.search(r"mine +2 +1 +1 +4 +1 +– +mine", outcome.out)
    assert "mine: 4 types, 5 tags in IOBES" in outcome.out
    assert "train  1 sentences  2 words  1 spans" in outcome.out
    [row] = json.loads(run("data", "list", "mine", "--json").out)
    assert (row["kind"], row["train"], row["spans"]["train"]) == ("tagged", 2, {"PER": 1})
    assert row["tags"] == ["O", "B-PER", "I-PER", "E-PER", "S-PER"]
    words = ["--columns", "word pos ner", "--tag", "pos", "--scheme", "plain"]
    [row] = json.loads(run("data", "list", "mine", *words, "--json").out)
    assert row["tags"] == ["X", "Y"]


def test_tags_in_files_that_end_as_text_does(run):
    tagged("mine", ".txt")
    [row] = json.loads(run("data", "list", "mine", "--json").out)
    assert row["kind"] == "text"
    [row] = json.loads(run("data", "list", "mine", "--tagged", "--json").out)
    assert row["kind"] == "tagged"


def test_get_a_set_with_tags(run, monkeypatch: pytest.MonkeyPatch):
    tagged("mine")
    outcome = run("data", "get", "conll2000", "--from", "mine", "--to", "all")
    assert outcome.code == 0
    assert "conll2000: 4 types" in outcome.out
    assert "these are not the published counts of conll2000" in outcome.out
    assert "licence: LDC (CoNLL-2000, English chunks)" in outcome.err
    monkeypatch.setenv("CELLWRIGHT_DATA", "all")
    rows = {row["name"]: row for row in json.loads(run("data", "list", "--json").out)}
    assert (rows["conll2000"]["train"], rows["conll2000"]["prepared"]) == (2, True)
    assert run("data", "get", "conll2000").out == outcome.out


def labelled(folder: str, header: str = "sentence\tlabel\n") -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    texts = {"train": "so good\tyes\nso bad\tno\n", "dev": "bad\tno\n", "test": "good day\tyes\n"}
    for part, text in texts.items():
        Path(folder, f"{part}.tsv").write_text(header + text)


def test_sentences_with_labels(run):
    labelled("mine")
    outcome = run("data", "list", "mine")
    assert re.search(r"mine +4 +1 +2 +5 +1 +– +mine", outcome.out)
    assert "mine: sentences with 2 labels (no, yes), 5 types, from mine" in outcome.out
    assert "train  2 sentences  4 words\n    no 1 (50%), yes 1 (50%)" in outcome.out
    [row] = json.loads(run("data", "list", "mine", "--json").out)
    assert (row["kind"], row["train"], row["sentences"]) == ("labelled", 4, 1)
    assert (row["labels"], row["range"]) == (["no", "yes"], None)
    assert row["examples"]["test"] == {"no": 0, "yes": 1}
    assert row["lines"] == {"train": 2, "valid": 1, "test": 1}


def test_labels_in_columns_without_names(run):
    labelled("mine", "")
    columns = ["--first", "1", "--label", "2", "--tokenizer", "spaces"]
    [row] = json.loads(run("data", "list", "mine", *columns, "--json").out)
    assert (row["kind"], row["labels"]) == ("labelled", ["no", "yes"])
    assert "names no column with a sentence" in run("data", "list", "mine", "--labelled").err
    assert "leave out one of the two" in run("data", "list", "mine", "--label", "1", "--tagged").err


def test_get_a_set_with_labels(run, monkeypatch: pytest.MonkeyPatch):
    labelled("mine")
    outcome = run("data", "get", "sst-2", "--from", "mine", "--to", "all")
    assert outcome.code == 1
    assert "train.tsv: line 2: 'yes' is not one of the labels; they are 0, 1" in outcome.err
    for path in Path("mine").iterdir():
        path.write_text(path.read_text().replace("yes", "1").replace("no", "0") + "more\t1\n")
    outcome = run("data", "get", "sst-2", "--from", "mine", "--to", "all")
    assert outcome.code == 0
    assert "sst-2: sentences with 2 labels (0, 1)" in outcome.out
    assert "test is dev.tsv: labels of test are not public, or not here" in outcome.out
    assert "licence: not stated (SST-2, is a review of a film positive?)" in outcome.err
    monkeypatch.setenv("CELLWRIGHT_DATA", "all")
    rows = {row["name"]: row for row in json.loads(run("data", "list", "--json").out)}
    assert (rows["sst-2"]["kind"], rows["sst-2"]["prepared"]) == ("labelled", True)


def test_get_from_files(run):
    corpus("mine")
    outcome = run("data", "get", "ptb", "--from", "mine", "--to", "corpora")
    assert outcome.code == 0
    assert "train  4 tokens  1 lines" in outcome.out
    assert "1 words that train does not have (25%)" in outcome.out
    assert "not the published counts" in outcome.out
    assert "licence: LDC" in outcome.err
    assert sorted(path.name for path in Path("corpora/ptb").iterdir()) == [
        "test.txt",
        "train.txt",
        "valid.txt",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "nothing"], "unknown corpus 'nothing'"),
        (["list", "no/such"], "no/such: no such folder"),
        (["list", "broken"], "train.txt is empty"),
        (["list", "."], "no file for the part 'train'"),
        (["list", "ptb"], "'cellwright data get ptb' gets it, or says how"),
        (["list", "conll2003"], "'cellwright data get conll2003' gets it, or says how"),
        (["list", "builtin", "--tagged"], "builtin is running text, without tags"),
        (["list", "broken", "--tag", "7"], "train.txt is empty"),
        (["get", "conll2003"], "conll2003 has text of the Reuters Corpus"),
        (["get", "conll2000"], "conll2000 has text of the Wall Street Journal"),
        (["list", "sick-r"], "'cellwright data get sick-r' gets it, or says how"),
        (["list", "conll2003", "--labelled"], "conll2003 is sentences with tags, without labels"),
        (["list", "builtin", "--labelled"], "builtin is running text, without labels"),
        (["get", "mrpc"], "mrpc is licensed by Microsoft for research"),
        (["get", "nothing"], "unknown corpus 'nothing'"),
        (["get", "ptb"], "licensed by the Linguistic Data Consortium"),
        (["get", "ptb", "--from", "missing.tgz"], "missing.tgz: no such file or folder"),
        (["get", "wikitext-2", "--url", "file:///x"], "not an http or https address"),
        (["get", "wikitext-2", "--url", "http://x", "--sha256", "1"], "64 hexadecimal digits"),
    ],
)
def test_errors_are_a_line(run, arguments: list[str], message: str):
    corpus("broken", train="")
    outcome = run("data", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    first = outcome.err.splitlines()[0]
    assert first.startswith("error: ")
    assert message in first


def test_a_name_is_needed(run):
    assert run("data", "get").code == 2
    assert run("data").code == 2


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal")
def test_progress_on_a_terminal(folder: Path):
    import pty
    import subprocess
    import sys

    corpus("large", train="some words of text\n" * 300_000)
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "cellwright", "data", "list", "large"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
        timeout=120,
        check=False,
    )
    os.close(theirs)
    shown = os.read(ours, 2**16)
    os.close(ours)
    assert done.returncode == 0
    assert b"reading t" in shown  # of train, or test on a machine that is fast
    assert b"1,500,000" in done.stdout
