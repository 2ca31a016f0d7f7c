"""Every kind of file that the program reads, once and small; and the commands that read it."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cellwright as cw
from cellwright.bench import save
from cellwright.bench.compare import scheduling
from cellwright.bench.export import EXPORTS
from cellwright.bench.synthetic import synthetic
from cellwright.cell import formats
from cellwright.runs.recipes import load_recipe
from cellwright.runs.runner import train
from cellwright.search.one_shot.folder import SearchFolder
from cellwright.search.one_shot.recipes import load_search_recipe
from cellwright.search.one_shot.searching import Watcher, run_search
from cellwright.search.studies.recipes import load_study_recipe
from cellwright.trials.executors import InProcess
from runs.support import small_run, write_corpus

Command = tuple[str, ...] | Callable[[], Any]
"""Words of the command line, or a call."""


@dataclass(frozen=True)
class Kind:
    """Files that are damaged, and what reads them.

    Args:
        files: of the fixture's folder, as patterns.
        reads: commands that change nothing.
        works: commands that go on with what is there, and write.
    """

    files: tuple[str, ...]
    reads: tuple[Command, ...]
    works: tuple[Command, ...] = ()


TRAINING = """
extends = "laptop"
[task]
data = "text"
bptt = 7
[model]
hidden = 6
[training]
batch = 8
evaluation_batch = 4
epochs = 1
"""
SEARCH = """
extends = "ess-laptop"
training = "training.toml"
selection_cells = 1
[task]
data = "text"
bptt = 9
[model]
hidden = 5
[search]
nodes = 2
rounds = 2
warmup_epochs = 0
batch = 8
evaluation_batch = 4
"""
STUDY = """
training = "training.toml"
trials = 2
[task]
data = "text"
[space]
kind = "enas"
nodes = 2
[method]
kind = "random"
epochs = 1
"""
METHODS = ("bench", "compare", "table.bench", "-m", "rs-10e", "-m", "rs-50e", "-n", "2",
           "--hours", "1", "--no-figures", "-o", "methods")  # fmt: skip
COMPARE = ("compare", "rnn", "--recipe", "training.toml", "--seeds", "1", "-o", "comparison",
           "--executor", "in-process")  # fmt: skip

KINDS: dict[str, Kind] = {
    "run": Kind(
        ("runs/done/*",),
        (
            ("runs", "list"), ("runs", "list", "--json"), ("runs", "show", "done"),
            ("runs", "show", "done", "--json"), ("evaluate", "done"),
            ("similarity", "done", "--pairs", "pairs.tsv"),
            lambda: repr(cw.load("runs/done")),
        ),
        (("train", "--resume", "done"), ("runs", "plot", "done", "-o", "plot.svg")),
    ),
    "cut run": Kind(
        ("runs/cut/*",),
        (("runs", "list"), ("runs", "show", "cut"), ("evaluate", "cut")),
        (("train", "--resume", "cut"),),
    ),
    "exported": Kind(
        ("model/*",),
        (
            ("runs", "show", "model"), ("evaluate", "model"), lambda: repr(cw.load("model")),
            lambda: cw.load("model").model,
        ),
        (("export", "model", "-o", "model.py"), ("export", "model", "--force", "-o", "model"),
         ("train", "--resume", "model")),
    ),
    "search": Kind(
        ("searches/cut/*.*", "searches/cut/seed-0/*.*"),
        (),
        (("search", "--resume", "cut"),),
    ),
    "store": Kind(
        ("studies.db",),
        (
            ("studies", "list"), ("studies", "list", "--json"), ("studies", "show", "small"),
            ("studies", "show", "small", "--json"),
            ("studies", "show", "small", "--cell"),
        ),
        (("studies", "export", "small", "-o", "table.csv"),
         ("studies", "export", "small", "--table", "curves", "-o", "curves.csv"),
         ("studies", "plot", "small", "-o", "plot.svg"),
         ("search", "study.toml", "--name", "small", "--executor", "in-process")),
    ),
    "benchmark": Kind(
        ("table.bench",),
        (
            ("bench", "info", "table.bench"), ("bench", "info", "table.bench", "--json"),
            ("bench", "top", "table.bench"), ("bench", "query", "table.bench", "nbnlp-gru"),
            ("bench", "export", "table.bench", "curves", "-o", "-"),
        ),
        (
            ("bench", "export", "table.bench", "logs", "-o", "logs.zip"),
            ("bench", "analyze", "table.bench", "--only", "measures", "--no-figures", "-o", "a"),
            METHODS,
        ),
    ),
    "recipes": Kind(
        ("*.toml",),
        (
            lambda: load_recipe("training.toml"),
            lambda: load_search_recipe("search.toml"),
            lambda: load_study_recipe("study.toml"),
        ),
        (("search", "search.toml", "--resume", "x"),),
    ),
    "comparison": Kind(
        ("comparison/*.*", "comparison/cells/*.json", "comparison/runs/rnn-seed0/*"),
        (),
        (COMPARE,),
    ),
    "methods": Kind(("methods/runs/*/*.json", "methods/*.csv"), (), (METHODS,)),
    "cells": Kind(
        ("cells/*",),
        (
            ("cells", "check", "cells"), ("cells", "list", "cells"),
            ("cells", "convert", "cells", "--to", "cellwright"),
            lambda: cw.as_cell("cells/cellwright.json"),
        ),
    ),
    "corpus": Kind(("text/*",), (("data", "list", "text"),)),
    "tokens": Kind(("cache/tokens/*/*.*",), (("data", "list", "text"),)),
    "logs": Kind(
        ("logs/*", "features.csv"),
        (),
        (("bench", "import", "logs", "-o", "new.bench"),
         ("bench", "import", "logs", "--features", "features.csv", "-o", "new.bench")),
    ),
    "pairs": Kind(("pairs.tsv",), (("similarity", "done", "--pairs", "pairs.tsv"),)),
}  # fmt: skip


def build(folder: Path) -> None:
    """Make all files in an empty folder, which is the working directory."""
    scheduling.LocalProcesses = lambda *_, **__: InProcess()  # type: ignore[assignment,misc]
    write_corpus(folder / "text")
    for name, text in (("training", TRAINING), ("search", SEARCH), ("study", STUDY)):
        (folder / f"{name}.toml").write_text(text)
    _runs(folder)
    _search(folder)
    save(synthetic(12, epochs=5), folder / "table.bench")
    _cells(folder / "cells")
    _logs(folder)
    words = [f"w{number}" for number in range(20)]
    lines = [f"{a}\t{b}\t{(i * 7) % 10}" for i, (a, b) in enumerate(zip(words, words[1:]))]  # noqa: B905, RUF007
    (folder / "pairs.tsv").write_text("\n".join(lines) + "\n")


def commands() -> list[Command]:
    """Commands that make what is left, after `build`."""
    study = ("search", "study.toml", "--name", "small", "--executor", "in-process")
    return [study, COMPARE, METHODS]


class _Cut(Exception):  # noqa: N818
    pass


def _runs(folder: Path) -> None:
    done = small_run(folder / "text", folder / "runs" / "done", "training.epochs=2")
    train(done.folder, done.training)
    cw.export(folder / "runs" / "done", folder / "model")
    cut = small_run(folder / "text", folder / "runs" / "cut", "training.epochs=2")
    with contextlib.suppress(_Cut):
        train(cut.folder, cut.training, watch=_cut_after_epoch)


def _cut_after_epoch(event: Any) -> None:
    if event.ends_epoch:
        raise _Cut


class _CutWatcher(Watcher):
    def searching(self, folder: Any, resumed: bool) -> Any:
        from contextlib import nullcontext

        return nullcontext(_cut_after_epoch)


def _search(folder: Path) -> None:
    recipe = load_search_recipe(folder / "search.toml")
    made = SearchFolder.create(recipe, [0], path=folder / "searches" / "cut")
    with contextlib.suppress(_Cut):
        run_search(made, _CutWatcher())


def _cells(folder: Path) -> None:
    folder.mkdir()
    (folder / "cellwright.json").write_text(cw.zoo["gru"].to_json())
    texts = {
        "darts.txt": formats.write(cw.zoo["darts-v1"], "darts"),
        "enas.txt": formats.write(cw.zoo["enas"], "enas"),
        "nbnlp.json": formats.write(cw.zoo["nbnlp-gru"], "nas-bench-nlp"),
        "fenas.txt": formats.write(cw.zoo["fenas-gru"], "fenas"),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    with zipfile.ZipFile(folder / "some.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, text)


def _logs(folder: Path) -> None:
    logs = folder / "logs"
    logs.mkdir()
    table = synthetic(4, epochs=3)
    _, write = EXPORTS["logs"]
    data = write(table)
    assert isinstance(data, bytes)
    (logs / "some.zip").write_bytes(data)
    with zipfile.ZipFile(logs / "some.zip") as archive:
        for name in archive.namelist()[:2]:
            (logs / Path(name).name).write_bytes(archive.read(name))
    rows = [f"{label},{i},{i * i}" for i, label in enumerate(table.names)]
    (folder / "features.csv").write_text("\n".join(["label,a,b", *rows]) + "\n")
