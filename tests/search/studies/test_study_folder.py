"""What a study found has a folder that knows of which study it is; no other study writes there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cellwright import Cell
from cellwright.base.errors import FileError
from cellwright.search.blackbox.methods import method
from cellwright.search.studies.folder import check_writable
from cellwright.search.studies.found import write_found
from cellwright.spaces import Enas
from cellwright.trials.executors import Call, InProcess
from cellwright.trials.store import Store, find_study, open_store, read_ledger
from cellwright.trials.study import run_study


def study(store: Store, seed: int, name: str = "s", trials: int = 4) -> None:
    chosen = method("random", Enas(), seed=seed)
    run_study(store, name, chosen, Call("trials.evaluators:evaluate"), InProcess(), trials=trials)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """Two stores, each with a study `s`."""
    with open_store(tmp_path / "a.db") as a, open_store(tmp_path / "b.db") as b:
        for seed, store in enumerate((a, b)):
            study(store, seed)
        yield a, b


def written(store: Store, out: Path, name: str = "s") -> Path:
    found = find_study(store, name)
    folder = write_found(store, found, read_ledger(store, found), None, out)
    assert folder is not None
    return folder


def best(folder: Path) -> Cell:
    return Cell.from_json((folder / "best.json").read_text())


def test_studies_of_one_name_in_two_stores_have_a_folder_each(
    stores: tuple[Store, Store], tmp_path: Path
):
    a, b = stores
    out = tmp_path / "studies"
    assert written(a, out) == out / "s"
    first = best(out / "s")
    assert written(b, out) == out / "s-2"
    assert best(out / "s") == first != best(out / "s-2")
    study(b, 1, trials=6)
    assert (written(b, out), written(a, out)) == (out / "s-2", out / "s")  # each finds its own
    said = json.loads((out / "s-2" / "study.json").read_text())
    assert (said["study"], said["store"]) == ("s", b.title)
    assert sorted(path.name for path in out.iterdir()) == ["s", "s-2"]


def test_names_that_are_one_as_files_are_kept_apart(stores: tuple[Store, Store], tmp_path: Path):
    store, out = stores[0], tmp_path / "studies"
    study(store, 2, "s!")
    assert written(store, out) == out / "s"
    assert written(store, out, "s!") == out / "s-2"


def test_a_store_that_was_moved_keeps_its_folder(stores: tuple[Store, Store], tmp_path: Path):
    out = tmp_path / "studies"
    folder = written(stores[0], out)
    stores[0].close()
    moved = Path(stores[0].title).rename(tmp_path / "moved.db")
    with open_store(moved) as store:
        assert written(store, out) == folder


def test_folders_of_earlier_versions_are_gone_on_with(stores: tuple[Store, Store], tmp_path: Path):
    """They had no word on their store; the best trial in their ledger tells."""
    a, b = stores
    out = tmp_path / "studies"
    (written(a, out) / "study.json").unlink()
    assert written(b, out) == out / "s-2"
    assert written(a, out) == out / "s"
    assert json.loads((out / "s" / "study.json").read_text())["store"] == a.title


@pytest.mark.parametrize("there", ["a file", "other files", "a damaged one"])
def test_what_is_in_the_way_is_left_alone(stores: tuple[Store, Store], tmp_path: Path, there: str):
    out = tmp_path / "studies"
    out.mkdir()
    if there == "a file":
        (out / "s").write_text("mine")
    else:
        (out / "s").mkdir()
        name = "notes.txt" if there == "other files" else "study.json"
        (out / "s" / name).write_text("mine")
    assert written(stores[0], out) == out / "s-2"
    kept = [path.read_text() for path in (out / "s", *(out / "s").glob("*")) if path.is_file()]
    assert kept == ["mine"]


def test_that_nothing_can_be_written_is_said_before_anything_is_trained(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"cannot make .*file/studies"):
        check_writable(tmp_path / "file" / "studies")
