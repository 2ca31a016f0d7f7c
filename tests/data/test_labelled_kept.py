"""Sentences with labels: what is kept of them, and how the published sets come here."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cellwright.data import PARTS, DataError, get, labelled
from cellwright.data.labelled import LABELLED, prepare
from cellwright.data.registry import File
from data.archives import zipped
from data.labelled_files import OFFICIAL, SICK_FILES, SICK_WHOLE, glue, own, put, read, table
from data.loopback import Server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return own(tmp_path / "small")


def kept(cache: Path) -> Path:
    [folder] = [path for path in (cache / "tokens").iterdir() if path.is_dir()]
    return folder


def test_the_second_time_no_row_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch):
    for path in folder.iterdir():
        os.utime(path, (1_600_000_000, 1_600_000_000))
    first = labelled.load(folder)
    assert first.prepared == "not prepared yet"
    from cellwright.data import cache

    monkeypatch.setattr(prepare, "Table", lambda *_: pytest.fail("a file was read"))
    monkeypatch.setattr(cache, "_sha256", lambda *_: pytest.fail("a file was read"))
    second = labelled.load(folder)
    assert second.prepared is None
    assert isinstance(second.train.words, np.memmap)
    assert isinstance(second.train.targets, np.memmap)
    assert (second.fingerprint, second.describe()) == (first.fingerprint, first.describe())


def test_a_changed_file_is_noticed(folder: Path):
    labelled.load(folder)
    (folder / "test.tsv").write_text(table("sentence | label", "other words | yes"))
    found = labelled.load(folder)
    assert "test.tsv has changed" in str(found.prepared)
    assert read(found, "test") == [("other words", "yes")]
    (folder / "valid.tsv").unlink()
    assert labelled.load(folder).cut


@pytest.mark.parametrize(
    "options",
    [
        {"lower": True}, {"longest": 1}, {"most_words": 2}, {"tokenizer": "spaces"},
        {"valid": "cut"}, {"parts": "dev-as-test"},
    ],
    ids=str,
)  # fmt: skip
def test_other_options_are_kept_beside(folder: Path, options: dict[str, object]):
    rows = (f"Word{n}.x! and more | {'yes' if n % 2 else 'no'}" for n in range(10))
    (folder / "train.tsv").write_text(table("sentence | label", *rows))
    plain = labelled.load(folder)
    other = labelled.load(folder, **options)  # type: ignore[arg-type]
    assert other.prepared == "not prepared yet"
    assert other.fingerprint != plain.fingerprint
    assert labelled.load(folder).prepared is None
    assert labelled.load(folder, **options).prepared is None  # type: ignore[arg-type]


def test_another_tokenizer_version_is_made_anew(folder: Path, monkeypatch: pytest.MonkeyPatch):
    labelled.load(folder)
    monkeypatch.setattr("cellwright.data.labelled.tokenizers.WORDS_VERSION", 2)
    assert labelled.load(folder).prepared == "not prepared yet"


def test_what_is_kept_can_be_read_by_others(folder: Path, cache: Path):
    labelled.load(folder)
    parts = ("train", "valid", "test")
    names = {f"{part}.{what}.bin" for part in parts for what in ("words", "targets", "offsets")}
    names |= {"words.tsv", "characters.tsv", "labelled.json"}
    assert {path.name for path in kept(cache).iterdir()} == names
    assert np.fromfile(kept(cache) / "train.offsets.bin", "<i8").tolist() == [0, 2, 4, 5]
    assert np.fromfile(kept(cache) / "train.targets.bin", "<f4").tolist() == [1, 0, 1]
    assert json.loads((kept(cache) / "labelled.json").read_text())["labels"] == ["no", "yes"]


@pytest.mark.parametrize("name", ["train.targets.bin", "test.words.bin", "labelled.json"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "gone"])
def test_damage_is_noticed_and_repaired(folder: Path, cache: Path, name: str, damage: str):
    facts = labelled.load(folder).fingerprint
    path = kept(cache) / name
    content = path.read_bytes()
    changed = {"cut": content[:-3], "flipped": content[:-1] + b"\x7f", "empty": b""}
    path.unlink()
    if damage != "gone":
        path.write_bytes(changed[damage])
    found = labelled.load(folder)
    assert found.prepared is not None
    assert found.fingerprint == facts
    assert labelled.load(folder).prepared is None


def test_an_error_leaves_nothing(folder: Path, cache: Path):
    (folder / "test.tsv").write_text("sentence\tlabel\na\n")
    with pytest.raises(DataError, match="line 2 has 1 column"):
        labelled.load(folder)
    assert not [path for path in (cache / "tokens").iterdir() if path.is_dir()]


def test_progress_counts_every_byte(folder: Path):
    steps: list[tuple[str, int, int]] = []
    labelled.load(folder, progress=lambda *step: steps.append(step))
    total = sum(path.stat().st_size for path in folder.iterdir())
    assert steps[-1] == ("reading test", total, total)


def archive(*names: str) -> bytes:
    return zipped(
        {f"{name}/{file}": text.encode() for name in names for file, text in OFFICIAL[name].items()}
    )


def test_an_archive_is_downloaded(server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch):
    content = archive("RTE")
    server.files["RTE.zip"] = content
    known = replace(
        LABELLED["rte"],
        urls=(server.url("RTE.zip"),),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    monkeypatch.setitem(LABELLED, "rte", known)
    folder = get("rte")
    assert folder == cache / "corpora" / "rte"
    assert sorted(path.name for path in folder.iterdir()) == ["dev.tsv", "test.tsv", "train.tsv"]
    assert labelled.load("rte").as_published is False
    assert labelled.hidden_files("rte") == {"RTE": folder / "test.tsv"}


def test_sick_is_downloaded_as_one_file(server: Server, monkeypatch: pytest.MonkeyPatch):
    content = zipped({"SICK.txt": SICK_WHOLE.encode(), "readme.txt": b"The SICK data set"})
    server.files["SICK.zip"] = content
    known = replace(
        LABELLED["sick-e"],
        urls=(server.url("SICK.zip"),),
        sha256=hashlib.sha256(content).hexdigest(),
    )
    monkeypatch.setitem(LABELLED, "sick-e", known)
    assert [path.name for path in get("sick-e").iterdir()] == ["SICK.txt"]
    found = labelled.load("sick-e")
    assert {part: facts.examples for part, facts in found.parts.items()} == dict.fromkeys(PARTS, 3)


def test_mnli_comes_with_the_diagnostic_set(server: Server, monkeypatch: pytest.MonkeyPatch):
    server.files["MNLI.zip"] = archive("MNLI")
    server.files["AX.tsv"] = OFFICIAL["diagnostic"]["diagnostic.tsv"].encode()
    hashes = {name: hashlib.sha256(text).hexdigest() for name, text in server.files.items()}
    known = replace(
        LABELLED["mnli"],
        urls=(server.url("MNLI.zip"),),
        sha256=hashes["MNLI.zip"],
        files=(File(server.url("AX.tsv"), hashes["AX.tsv"]),),
    )
    monkeypatch.setitem(LABELLED, "mnli", known)
    folder = get("mnli")
    assert labelled.hidden_files("mnli") == {
        "MNLI-m": folder / "test_matched.tsv",
        "MNLI-mm": folder / "test_mismatched.tsv",
        "AX": folder / "AX.tsv",
    }


def test_of_an_archive_with_several_sets_the_right_one_is_taken(tmp_path: Path):
    everything = tmp_path / "glue.zip"
    everything.write_bytes(archive("CoLA", "RTE", "WNLI"))
    folder = get("wnli", origin=everything, to=tmp_path / "mine")
    assert labelled.load("wnli", folder=folder).target.labels == ("0", "1")
    other = tmp_path / "cola.zip"
    other.write_bytes(archive("CoLA"))
    with pytest.raises(DataError, match=r"train.tsv: line 1 has no column 'sentence1'"):
        get("rte", origin=other, to=tmp_path / "mine")
    assert not (tmp_path / "mine" / "rte").exists()


@pytest.mark.parametrize("packed", [True, False])
def test_the_files_that_a_set_was_made_from_come_along(tmp_path: Path, packed: bool):
    files = OFFICIAL["STS-B"]
    inside = {name: f"original/{name}" if name.startswith("sts") else name for name in files}
    texts = {f"STS-B/{inside[name]}": text.encode() for name, text in files.items()}
    if packed:
        origin = tmp_path / "STS-B.zip"
        origin.write_bytes(zipped(texts))
    else:
        origin = tmp_path / "all"
        for name, text in texts.items():
            put((origin / name).parent, {Path(name).name: text})
    folder = get("sts-b", origin=origin, to=tmp_path / "mine")
    assert sorted(path.name for path in folder.iterdir()) == sorted(files)
    assert labelled.load("sts-b", folder=folder).way == "official"


def test_of_two_forms_of_a_file_one_is_taken(tmp_path: Path):
    files = {**OFFICIAL["MNLI"], "train.jsonl": "{}", "original/multinli_1.0_train.jsonl": "{}"}
    origin = tmp_path / "MNLI.zip"
    origin.write_bytes(zipped({f"MNLI/{name}": text.encode() for name, text in files.items()}))
    folder = get("mnli", origin=origin, to=tmp_path / "mine")
    assert sorted(path.name for path in folder.iterdir()) == sorted(OFFICIAL["MNLI"])


def test_sets_come_from_folders(tmp_path: Path, cache: Path):
    everything = glue(tmp_path / "all")
    folder = get("mrpc", origin=everything, to=tmp_path / "mine")
    assert sorted(path.name for path in folder.iterdir()) == sorted(OFFICIAL["MRPC"])
    get("sick-r", origin=everything / "sick")
    assert sorted(path.name for path in (cache / "corpora/sick-r").iterdir()) == sorted(SICK_FILES)
    assert labelled.load("sick-e").where == str(cache / "corpora/sick-r")
    with pytest.raises(DataError, match=r"cellwright data get mrpc --from FOLDER"):
        get("mrpc", to=tmp_path / "nowhere")


def test_a_folder_of_one_set_may_not_be_another(tmp_path: Path):
    with pytest.raises(DataError, match=r"has no column '#1 String'"):
        get("mrpc", origin=put(tmp_path / "x", dict(OFFICIAL["RTE"])), to=tmp_path / "mine")
    assert not (tmp_path / "mine" / "mrpc").exists()


@pytest.mark.parametrize("known", LABELLED.values(), ids=lambda known: known.name)
def test_the_table_makes_sense(known: labelled.KnownLabelled):
    assert bool(known.how) != bool(known.urls)
    assert len(known.sha256) == (64 if known.urls else 0)
    addresses = [*known.urls, *(file.url for file in known.files)]
    places = ("https://dl.fbaipublicfiles.com/glue/data/", "https://zenodo.org/records/2787612/")
    assert all(each.startswith(places) for each in addresses)
    named = {file for layout in known.layouts for files in layout.values() for file in files}
    assert named | set(known.mismatched) | set(known.hidden.values()) <= known.forms.keys()
    counted = {name.split(" ")[0] for name in known.rows}
    assert counted <= known.forms.keys()
    assert len({form.per_example for form in known.forms.values()}) == 1
    assert all(known.forms[file].label is not None for file in named | set(known.mismatched))
    assert all(known.forms[file].label is None for file in known.hidden.values())
    assert bool(known.labels) != (known.lowest < known.highest)
    assert tuple(sorted(known.labels)) == known.labels
