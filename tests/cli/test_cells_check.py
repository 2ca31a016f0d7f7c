"""`cells check` over files, folders and zip files, sound and broken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from cellwright.cell.zoo import zoo

DATA = os.environ.get("CELLWRIGHT_DATA")

RECIPE = {
    "f": {"op": "linear", "input": ["x", "h_prev_0"]},
    "h_new_0": {"op": "activation_tanh", "input": ["f"]},
}
RENAMED = {
    "g": {"op": "linear", "input": ["h_prev_0", "x"]},
    "h_new_0": {"op": "activation_tanh", "input": ["g"]},
}
OTHER = {**RECIPE, "h_new_0": {"op": "activation_sigm", "input": ["f"]}}


def log(recipe: object) -> str:
    return json.dumps({"recepie": json.dumps(recipe), "recepie_id": 7, "epochs": 50})


@pytest.fixture
def texts() -> dict[str, str]:
    return {
        "a.json": json.dumps(RECIPE),
        "deep/b.json": log(RECIPE),
        "deep/c.json": json.dumps([RENAMED, OTHER]),
        "README.md": "not a cell",
        ".hidden.json": "not a cell",
    }


def unpack(texts: dict[str, str], folder: Path) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def pack(texts: dict[str, str], path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, text)


@pytest.mark.parametrize("kind", ["files", "folder", "zip", "zip in a folder", "zip by a pipe"])
def test_all_ways_to_give_the_same_cells(run, folder: Path, texts: dict[str, str], kind: str):
    unpack(texts, folder / "cells")
    (folder / "zips").mkdir()
    pack(texts, folder / "zips" / "cells.zip")
    stdin = (folder / "zips" / "cells.zip").read_bytes() if kind == "zip by a pipe" else b""
    arguments = {
        "files": ["cells/a.json", "cells/deep/b.json", "cells/deep/c.json"],
        "folder": ["cells"],
        "zip": ["zips/cells.zip"],
        "zip in a folder": ["zips"],
        "zip by a pipe": ["-"],
    }[kind]
    outcome = run("cells", "check", *arguments, "--json", stdin=stdin)
    assert outcome.code == 0
    found = json.loads(outcome.out)
    assert (found["files"], found["cells"]) == (3, 4)
    assert (found["distinct_listings"], found["distinct_graphs"]) == (3, 2)
    assert [len(group) for group in found["same_graph"].values()] == [3]
    assert found["failures"] == []
    text = run("cells", "check", *arguments, stdin=stdin).out
    assert "3 files, 4 cells: 3 distinct listings, 2 distinct graphs" in text
    assert "3 cells, written in 2 ways" in text


def test_a_failure_is_named_and_the_rest_goes_on(run, folder: Path, texts: dict[str, str]):
    texts["bad.json"] = '{"f": {"op": "linear"'
    texts["deep/worse.json"] = json.dumps({"h_new_0": {"op": "nonsense", "input": ["x"]}})
    unpack(texts, folder / "cells")
    (folder / "cells" / "broken.zip").write_bytes(b"PK\x03\x04 and then nothing of use")
    (folder / "cells" / "noise.json").write_bytes(bytes(range(256)))
    outcome = run("cells", "check", "cells", "--json")
    assert outcome.code == 1
    found = json.loads(outcome.out)
    assert found["cells"] == 4
    assert {failure["where"] for failure in found["failures"]} == {
        "cells/bad.json",
        "cells/broken.zip",
        "cells/noise.json",
        "cells/deep/worse.json",
    }
    out = run("cells", "check", "cells").out
    assert "4 failures:" in out
    assert "cells/broken.zip: not a readable zip file" in out


def test_an_encrypted_member_says_so(run, folder: Path):
    path = folder / "secret.zip"
    pack({"a.json": json.dumps(RECIPE)}, path)
    data = bytearray(path.read_bytes())
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(magic) + offset] |= 1
    path.write_bytes(data)
    outcome = run("cells", "check", "secret.zip")
    assert outcome.code == 1
    assert "secret.zip:a.json: is encrypted" in outcome.out


def test_a_damaged_member_says_so(run, folder: Path):
    path = folder / "damaged.zip"
    pack({"a.json": json.dumps([RECIPE] * 50)}, path)
    data = bytearray(path.read_bytes())
    data[60:70] = b"x" * 10
    path.write_bytes(data)
    outcome = run("cells", "check", "damaged.zip")
    assert outcome.code == 1
    assert "damaged.zip:a.json: the zip file is damaged" in outcome.out


def test_an_exploding_zip_is_refused(run, folder: Path, monkeypatch: pytest.MonkeyPatch):
    from cellwright.cli import sources

    monkeypatch.setattr(sources, "MOST_BYTES", 2**20)
    pack({"a.json": json.dumps(RECIPE), "bomb.json": " " * 2**21}, folder / "bomb.zip")
    outcome = run("cells", "check", "bomb.zip")
    assert outcome.code == 1
    assert "bomb.zip:bomb.json: larger than 1 MiB" in outcome.out
    monkeypatch.setattr(sources, "MOST_ZIP_BYTES", 2**20)
    outcome = run("cells", "check", "bomb.zip")
    assert outcome.code == 1
    assert "unpacks to more than 1 MiB" in outcome.out


def test_a_member_that_points_outside_is_only_read(run, folder: Path):
    inner = folder / "inner"
    inner.mkdir()
    pack({"../outside.json": json.dumps(RECIPE)}, inner / "a.zip")
    outcome = run("cells", "check", "inner/a.zip", "--json")
    assert (outcome.code, json.loads(outcome.out)["cells"]) == (0, 1)
    assert [path.name for path in folder.iterdir()] == ["inner"]


def test_nothing_to_check_is_an_error(run, folder: Path):
    Path("empty").mkdir()
    pack({"README.md": "no cells"}, folder / "empty.zip")
    assert run("cells", "check", "empty").code == 1
    assert run("cells", "check", "empty.zip").code == 1
    assert run("cells", "check", "-", stdin="[]").code == 1


def test_the_check_finds_a_format_that_loses_something(
    run, monkeypatch: pytest.MonkeyPatch, folder: Path
):
    from cellwright.cell import formats

    Path("cell.json").write_text(zoo["gru"].to_json())
    monkeypatch.setattr(formats, "write", lambda cell, format: zoo["rnn"].to_json())
    outcome = run("cells", "check", "cell.json")
    assert outcome.code == 1
    assert "cell.json: comes back from cellwright as another graph" in outcome.out


def test_progress_counts_cells_not_files(folder: Path):
    from cellwright.cli import sources
    from cellwright.cli.cells.survey import survey

    Path("a.json").write_text(json.dumps([RECIPE, OTHER, RENAMED]))
    Path("b.json").write_text("nonsense")
    Path("c.json").write_text(json.dumps(RECIPE))
    steps: list[tuple[int, int]] = []
    with sources.opened(["a.json", "b.json", "c.json"]) as documents:
        survey(documents, watch=lambda done, expected: steps.append((done, expected)))
    assert steps == [(1, 5), (2, 5), (3, 5), (5, 5)]


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal")
def test_progress_on_a_terminal(folder: Path):
    import pty

    Path("a.json").write_text(json.dumps([RECIPE] * 100))
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "cellwright", "cells", "check", "a.json"],
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
    assert b"checking" in shown
    assert b"1 file, 100 cells: 1 distinct listing, 1 distinct graph" in done.stdout


@pytest.mark.skipif(DATA is None, reason="needs the NAS-Bench-NLP logs; set CELLWRIGHT_DATA")
@pytest.mark.parametrize("unzipped", [False, True])
def test_all_published_logs(run, folder: Path, unzipped: bool):
    assert DATA is not None
    path = Path(DATA) / "nas-bench-nlp" / "train_logs_wikitext-2.zip"
    if unzipped:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder / "logs")
        path = folder / "logs"
    outcome = run("cells", "check", str(path), "--json")
    found = json.loads(outcome.out)
    assert outcome.code == 0
    assert (found["files"], found["cells"]) == (197, 197)
    assert found["distinct_listings"] == 169
    assert found["distinct_graphs"] == 156  # some recipes differ only in names and order


DEAD = {
    "a": {"op": "linear", "input": ["x", "h_prev_0"]},
    "t": {"op": "activation_tanh", "input": ["a"]},
    "h_new_0": {"op": "elementwise_prod", "input": ["t", "h_prev_0"]},
}


def test_a_cell_that_cannot_learn_is_named_and_valid(run, folder: Path):
    (folder / "cells.json").write_text(json.dumps([RECIPE, DEAD]))
    found = run("cells", "check", "cells.json")
    assert found.code == 0
    assert "1 cell that cannot learn:" in found.out
    reason = "its output is zero at every step, whatever it reads"
    assert reason in found.out
    values = json.loads(run("cells", "check", "cells.json", "--json").out)
    assert [entry["reason"] for entry in values["cannot_learn"]] == [reason]


def test_showing_a_cell_that_cannot_learn_says_so(run, folder: Path):
    (folder / "dead.json").write_text(json.dumps(DEAD))
    assert "cannot learn" in run("cells", "show", "dead.json").out
    assert "cannot learn" not in run("cells", "show", "lstm").out
