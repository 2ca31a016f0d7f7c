"""A folder in which something else lies in the place of a file: said at once, and in one line."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cellwright.base.errors import FileError, UserError
from cellwright.bench import BenchError
from cellwright.bench import load as load_benchmark
from cellwright.bench.feature_files import read_features
from cellwright.compare.plan import read_plan
from cellwright.data import DataError, load
from cellwright.data.unpack import unpack
from cellwright.data.word_pairs import read_pairs
from cellwright.runs.curves import curve_of
from cellwright.runs.folder import RunFolder
from cellwright.runs.recipes import load_recipe
from cellwright.runs.runner import train
from cellwright.search.one_shot.figures import Selection, read_figures
from cellwright.trials.store import StoreError, open_store
from runs.support import small_run

SPECIAL: dict[str, Callable[[Path], object]] = {
    "named pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "directory": lambda path: path.mkdir(),
}

READ: dict[str, Callable[[RunFolder], Any]] = {
    "run.json": RunFolder.refresh,
    "cell.json": RunFolder.cell,
    "metrics.jsonl": curve_of,
    "last.safetensors": RunFolder.last,
    "best.safetensors": RunFolder.best,
    "result.json": RunFolder.result,
}


@pytest.fixture(scope="module")
def trained(text_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = small_run(text_folder, tmp_path_factory.mktemp("runs") / "run", "training.epochs=1")
    train(run.folder, run.training)
    return run.folder.path


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("name", READ)
def test_a_file_of_a_run_that_is_something_else(
    trained: Path, tmp_path: Path, name: str, kind: str
):
    path = tmp_path / "run"
    shutil.copytree(trained, path)
    folder = RunFolder.open(path)
    (path / name).unlink()
    SPECIAL[kind](path / name)
    with pytest.raises(FileError, match=rf"cannot read .*{name}: is a {kind}, and should be"):
        READ[name](folder)


OTHERS: dict[str, tuple[type[UserError], Callable[[Path], Any]]] = {
    "recipe.toml": (UserError, load_recipe),
    "table.bench": (BenchError, load_benchmark),
    "selection.json": (FileError, lambda path: read_figures(path, Selection)),
    "comparison.json": (FileError, lambda path: read_plan(path.parent)),
    "pairs.tsv": (DataError, lambda path: read_pairs(path, "pairs")),
    "corpus.tgz": (DataError, lambda path: unpack(path, path.parent)),
    "studies.db": (StoreError, lambda path: open_store(path, create=False)),
}


@pytest.mark.parametrize("kind", ["named pipe", "device"])
@pytest.mark.parametrize("name", OTHERS)
def test_other_files(tmp_path: Path, name: str, kind: str):
    path = tmp_path / name
    SPECIAL[kind](path)
    error, read = OTHERS[name]
    with pytest.raises(error, match=r" is a .*(pipe|device)"):
        read(path)


def test_features_that_never_end_are_read_as_far_as_is_sensible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("cellwright.bench.feature_files.MOST_BYTES", 1000)
    (tmp_path / "features.csv").symlink_to("/dev/zero")
    with pytest.raises(BenchError, match=r"features\.csv: is larger than"):
        read_features(tmp_path / "features.csv")


def test_a_text_that_is_no_file_is_not_there(tmp_path: Path):
    for part in ("train", "valid"):
        (tmp_path / f"{part}.txt").write_text("some text\n")
    os.mkfifo(tmp_path / "test.txt")
    with pytest.raises(DataError, match=r"no file for the part 'test'"):
        load(str(tmp_path))
