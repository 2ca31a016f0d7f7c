"""Choosing by training: what is proposed, who goes on how long, and that kills are undone."""

from __future__ import annotations

import json
import math
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from dying import Ends

from cellwright.api.results import Found
from cellwright.base.cores import cores
from cellwright.cell import Cell
from cellwright.cell.listings import DartsListing, EssListing
from cellwright.engine.probe import dead_reason
from cellwright.runs.curves import curve_of
from cellwright.runs.errors import RunError, Stopped
from cellwright.search.gradient.drawing import drawn_listing
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.search.one_shot import proposals
from cellwright.search.one_shot.choosing import Candidate, choose
from cellwright.search.one_shot.folder import SearchFolder
from cellwright.search.one_shot.proposals import proposed
from cellwright.search.one_shot.recipes import load_search_recipe
from cellwright.search.one_shot.searching import Watcher, run_search
from cellwright.search.one_shot.short_trainings import Tried
from runs.support import write_corpus

SMALL = (
    "search.nodes=2", "search.batch=8", "search.evaluation_batch=4", "task.bptt=9",
    "model.hidden=5", "selection_cells=4", "selection_epochs=2", "selection_eta=2",
)  # fmt: skip
GRADIENT = ("search.rounds=1", "search.warmup_epochs=0", "search.scope=intra")
SHARING = ("search.epochs=1", "search.candidates=6", "search.finalists=4", "search.batch=16")
TRAINING = """
[task]
kind = "language"
data = "builtin"
bptt = 9
[model]
kind = "one-layer"
hidden = 5
[training]
optimizer = "adam"
learning_rate = 0.01
epochs = 3
batch = 8
evaluation_batch = 4
"""
DYING = Path(__file__).with_name("dying.py")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    folder = write_corpus(tmp_path_factory.mktemp("text"))
    (folder.parent / "training.toml").write_text(TRAINING)
    return folder


def made(
    text: Path, path: Path, *settings: str, seeds: tuple[int, ...] = (0,), name: str = "ess-laptop"
) -> SearchFolder:
    own = GRADIENT if name == "ess-laptop" else SHARING
    training = f"training={text.parent / 'training.toml'}"
    recipe = load_search_recipe(name, [*SMALL, *own, training, *settings])
    return SearchFolder.create(recipe, seeds, data=str(text), path=path)


@pytest.fixture(scope="module")
def done(text: Path, tmp_path_factory: pytest.TempPathFactory) -> SearchFolder:
    """A search that has ended; whoever changes it takes a copy."""
    folder = made(text, tmp_path_factory.mktemp("done") / "search")
    run_search(folder)
    return folder


def copied(folder: SearchFolder, path: Path) -> SearchFolder:
    shutil.copytree(folder.path, path)
    return SearchFolder.open(path)


class Steps(Watcher):
    """Counts the epochs of each short training, and who went on."""

    def __init__(self) -> None:
        self.epochs: Counter[str] = Counter()
        self.entered: list[tuple[str, bool]] = []

    @contextmanager
    def retraining(self, folder: Any, resumed: bool) -> Iterator[Any]:
        self.entered.append((folder.path.name, resumed))

        def watch(event: Any) -> None:
            self.epochs[folder.path.name] += event.ends_epoch

        yield watch


# -- what is proposed --------------------------------------------------------------------------


def test_draws_follow_theta() -> None:
    settings = DifferentiableSettings.model_validate({"nodes": 1, "operations": ["none", "tanh",
        "relu"]})  # fmt: skip
    found = DartsListing.of([("tanh", 0)])
    names = list(settings.whole_supernet().edges)
    theta = {names[0]: (0.2, 0.6, 0.2)}
    drawn = [drawn_listing(settings, theta, found, 1, number) for number in range(400)]
    counts = Counter(listing.nodes[0][0][0] for listing in drawn)
    # none is never derived, so tanh is three times as likely as relu
    assert set(counts) == {"tanh", "relu"}
    assert 270 <= counts["tanh"] <= 330
    again = [drawn_listing(settings, theta, found, 1, number) for number in range(5)]
    assert again == drawn[:5]


def test_what_never_learned_gates_draws_none() -> None:
    settings = DifferentiableSettings.model_validate({"kind": "ess", "nodes": 1, "m": 1})
    edges = settings.whole_supernet().edges
    theta = {name: [1 / len(each)] * len(each) for name, each in edges.items()}
    plain = EssListing(DartsListing.of([("tanh", 0)], edges="plain"))
    drawn = drawn_listing(settings, theta, plain, 0, 0)
    assert isinstance(drawn, EssListing)
    assert drawn.f_gate is None
    gated = drawn_listing(settings, theta, EssListing(plain.intra, ("tanh",), ("tanh",)), 0, 0)
    assert isinstance(gated, EssListing)
    assert gated.f_gate is not None


@pytest.mark.parametrize("name", ["ess-laptop", "enas-ptb-laptop", "random-sharing-ptb-laptop"])
def test_candidates_are_different_and_live(text: Path, tmp_path: Path, name: str) -> None:
    fewer = ("search.controller_steps=2",) if name.startswith("enas") else ()
    folder = made(text, tmp_path / "some", *fewer, seeds=(0, 1), name=name)
    watcher = Steps()
    candidates = run_search(folder, watcher)
    tried = [each for each in proposed(folder) if each.tried]
    assert len({each.cell.id for each in tried}) == len(tried) >= 6
    assert all(dead_reason(each.cell) is None for each in tried)
    assert {each.seed for each in tried} == {0, 1}
    assert {each.origin for each in tried} >= {"found", "drawn"}
    # all for one epoch, half of them for two; nothing was trained twice
    assert sorted(watcher.epochs.values()) == [1] * (len(tried) - len(tried) // 2) + [2] * (
        len(tried) // 2
    )
    losses = [each.retrained for each in candidates if each.epochs == 2]
    assert losses == sorted(losses, key=float)
    chosen = candidates[0]
    assert chosen.epochs == 2
    run = folder.retraining(chosen.seed, chosen.number)
    assert run is not None
    assert folder.found().id == run.cell().id == chosen.cell_id
    assert chosen.retrained == min(record.valid for record in curve_of(run))
    assert folder.state == "finished"
    kept = folder.selection()
    assert (kept["chosen"], len(kept["candidates"])) == (chosen.seed, len(candidates))


def test_the_cost_of_the_choice_is_counted_apart(done: SearchFolder) -> None:
    folder = done
    candidates = tuple(Candidate(**each) for each in folder.selection()["candidates"])
    found = Found(folder, candidates)
    assert found.search_seconds == folder.seed_folder(0).figures()["seconds"]
    spent = 0.0
    for each in found.candidates:
        run = folder.retraining(each.seed, each.number)
        assert run is not None
        spent += each.retraining_seconds
        if run.state == "stopped":  # left behind
            assert each.retraining_seconds == curve_of(run)[-1].seconds
    assert found.choice_seconds == spent > 0
    assert found.cost.seconds == found.search_seconds + found.choice_seconds
    assert sum(row["seconds"] for row in found.rows()) == pytest.approx(found.cost.seconds)


def test_a_dead_cell_is_not_chosen_while_one_lives(
    text: Path, done: SearchFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = done.seed_folder(0).cell().id

    def reason(cell: Cell) -> str | None:
        return "it reads nothing" if cell.id == first else None

    monkeypatch.setattr(proposals, "dead_reason", reason)
    again = made(text, tmp_path / "again")
    candidates = run_search(again)
    assert candidates[-1].cell_id == first
    assert candidates[-1].dead
    assert candidates[-1].retrained is None
    assert again.found().id != first
    assert sum(not each.dead for each in candidates) == 4


def test_among_seeds_a_live_one_is_chosen_whatever_its_loss() -> None:
    dead = Candidate(0, "a", "ok", 1.0, 1.0, retrained=2.0, dead=True)
    live = Candidate(1, "b", "ok", 9.0, 1.0, retrained=math.inf)
    assert choose([dead, live])[0] == live


def test_what_two_seeds_found_is_trained_once_beside_others(
    done: SearchFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied(done, tmp_path / "two")
    path = folder.path / "search.json"
    info = json.loads(path.read_text())
    for cells, wanted in ((4, [True, False]), (1, [True, True])):
        recipe = {**info["recipe"], "selection_cells": cells}
        path.write_text(json.dumps({**info, "seeds": [0, 1], "recipe": recipe}))
        again = SearchFolder.open(folder.path)
        one = again.seed_folder(0)
        monkeypatch.setattr(SearchFolder, "seed_folder", lambda self, seed, one=one: one)
        monkeypatch.setattr(proposals, "dead_reason", lambda cell: None)
        assert [each.tried for each in proposed(again) if each.number == 1] == wanted


def test_a_search_that_diverged_proposes_where_it_stood(text: Path, tmp_path: Path) -> None:
    folder = made(text, tmp_path / "wild", "search.explode_above=0.1")
    [candidate] = run_search(folder)
    assert candidate.status == "exploded"
    assert candidate.retrained is None


# -- going on ----------------------------------------------------------------------------------


def outcome(folder: SearchFolder) -> dict[str, Any]:
    """All that has to be equal in two searches of one seed, whatever happened to them."""
    kept: dict[str, Any] = {"found": folder.found().id}
    for each in folder.selection()["candidates"]:
        key = (each["seed"], each["number"])
        kept[f"{key}"] = [each[name] for name in ("cell_id", "retrained", "epochs", "origin")]
        run = folder.retraining(*key)
        assert run is not None
        last = run.last()
        assert last is not None
        kept[f"{key} weights"] = {
            name: tensor.contiguous().numpy().tobytes() for name, tensor in last.tensors.items()
        }
    return kept


def test_killed_in_the_choice_it_comes_to_the_same(
    text: Path, done: SearchFolder, tmp_path: Path
) -> None:
    folder = made(text, tmp_path / "killed")
    shutil.rmtree(folder.path / "seed-0", ignore_errors=True)
    shutil.copytree(done.path / "seed-0", folder.path / "seed-0")  # the choice is what is killed
    counting = Ends(-1, lambda: None)
    run_search(copied(folder, tmp_path / "counted"), counting)
    events = -1 - counting.left
    words = [sys.executable, str(DYING), str(folder.path), str(events // 3)]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    with pytest.raises(KeyboardInterrupt):
        run_search(SearchFolder.open(folder.path), Ends(events // 2, _interrupt))
    run_search(SearchFolder.open(folder.path))
    assert outcome(SearchFolder.open(folder.path)) == outcome(done)


def _interrupt() -> None:
    raise KeyboardInterrupt


def test_a_run_of_another_cell_is_not_taken(text: Path, done: SearchFolder, tmp_path: Path) -> None:
    other = made(text, tmp_path / "two")
    shutil.copytree(done.path / "seed-0", other.path / "seed-0")
    for taken, place in (("0", "0"), ("0-2", "0-2"), ("0-2", "0-3")):
        shutil.copytree(done.path / f"retrained-{taken}", other.path / f"retrained-{place}")
    with pytest.raises(RunError, match="retrained-0-3 is of another cell than candidate 3 of seed"):
        run_search(other)


def test_figures_that_are_damaged_are_named(done: SearchFolder, tmp_path: Path) -> None:
    folder = copied(done, tmp_path / "cut")
    path = folder.path / "seed-0" / "result.json"
    figures = json.loads(path.read_text())
    name = next(iter(figures["theta"]))
    path.write_text(json.dumps({**figures, "theta": {**figures["theta"], name: [0.5]}}))
    with pytest.raises(
        RunError, match=r"result\.json is damaged, no cells can be drawn .* numbers"
    ):
        proposed(folder)
    del figures["theta"]
    path.write_text(json.dumps(figures))
    with pytest.raises(RunError, match="no cells can be drawn from it: KeyError: 'theta'"):
        proposed(folder)


def test_what_earlier_versions_chose_by_is_read(done: SearchFolder, tmp_path: Path) -> None:
    folder = copied(done, tmp_path / "earlier")
    path = folder.path / "selection.json"
    kept = json.loads(path.read_text())
    for each in kept["candidates"]:
        for name in ("number", "origin", "epochs", "dead"):
            del each[name]
    path.write_text(json.dumps(kept))
    assert len(SearchFolder.open(folder.path).selection()["candidates"]) == len(kept["candidates"])


# -- side by side ------------------------------------------------------------------------------


def with_threads(folder: SearchFolder, path: Path, threads: int) -> SearchFolder:
    """A copy of a search that has its choice before it, and so many threads."""
    shutil.copytree(folder.path, path)
    for each in path.glob("retrained-*"):
        shutil.rmtree(each)
    for name in ("found.json", "found.svg", "selection.json"):
        (path / name).unlink()
    info = json.loads((path / "search.json").read_text())
    (path / "search.json").write_text(json.dumps({**info, "threads": threads, "status": "stopped"}))
    return SearchFolder.open(path)


class Told(Watcher):
    """Remembers what was tried; after some trainings, somebody presses Ctrl-C."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.events: list[Tried] = []
        self._stop_after = stop_after

    @contextmanager
    def choosing(self, folder: Any, plan: Any, workers: int) -> Iterator[Any]:
        self.plan, self.workers = plan, workers

        def watch(event: Tried) -> None:
            self.events.append(event)
            if len(self.events) == self._stop_after:
                signal.raise_signal(signal.SIGINT)

        yield watch


@pytest.mark.skipif(cores() < 2, reason="one core has one training at a time")
def test_side_by_side_it_comes_to_the_same(done: SearchFolder, tmp_path: Path) -> None:
    folder = with_threads(done, tmp_path / "two", 2)
    stopped = Told(stop_after=3)
    with pytest.raises(Stopped, match="goes on from here"):
        run_search(folder, stopped)
    assert folder.state == "stopped"
    told = Told()
    run_search(SearchFolder.open(folder.path), told)
    assert told.workers == 2
    ended = [each for each in told.events if each.kind == "ended"]
    assert len(ended) == sum(rung.cells for rung in told.plan)
    assert outcome(folder) == outcome(done)


@pytest.mark.skipif(cores() < 2, reason="one core has one training at a time")
def test_a_training_that_fails_side_by_side_is_named(done: SearchFolder, tmp_path: Path) -> None:
    folder = with_threads(done, tmp_path / "two", 2)
    path = folder.retraining_path(0, 2)
    path.write_text("not a folder")
    with pytest.raises(RunError, match=r"retrained-0-2"):
        run_search(folder)
