"""Searches in folders: what is kept, what is chosen, and that every kill is undone."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from dying import Ends

from cellwright.base.memory import NotEnoughMemoryError
from cellwright.cell import Cell
from cellwright.report.search_pictures import draw_search
from cellwright.runs.errors import RecipeError, RunError, Stopped
from cellwright.runs.recipes import load_recipe
from cellwright.search.one_shot.epochs import epochs_of
from cellwright.search.one_shot.folder import SearchFolder, SeedFolder, check_seeds
from cellwright.search.one_shot.recipes import SearchRecipe, load_search_recipe
from cellwright.search.one_shot.searching import Candidate, Watcher, choose, run_search
from cellwright.spaces import Darts
from runs.support import write_corpus

SMALL = (
    "search.nodes=2",
    "search.rounds=1",
    "search.warmup_epochs=0",
    "search.batch=8",
    "search.evaluation_batch=4",
    "task.bptt=9",
    "model.hidden=5",
    "selection_epochs=1",
    "selection_cells=1",
)
DYING = Path(__file__).with_name("dying.py")
TIMES = ("seconds", "peak_memory", "speed")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    return write_corpus(tmp_path_factory.mktemp("text"))


def recipe(*settings: str) -> SearchRecipe:
    return load_search_recipe("ess-laptop", [*SMALL, *settings])


def made(text: Path, path: Path, seeds: list[int], *settings: str) -> SearchFolder:
    return SearchFolder.create(recipe(*settings), seeds, data=str(text), path=path)


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: timeless(item) for name, item in value.items() if name not in TIMES}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def outcome(folder: SearchFolder) -> dict[str, Any]:
    """All that has to be equal in two searches of one seed, whatever happened to them."""
    kept: dict[str, Any] = {}
    for seed in folder.info.seeds:
        one = folder.seed_folder(seed)
        last = one.last()
        assert last is not None
        kept[f"tensors {seed}"] = {
            name: tensor.contiguous().numpy().tobytes() for name, tensor in last.tensors.items()
        }
        kept[f"epochs {seed}"] = timeless([r for r in one.metrics() if r["kind"] == "epoch"])
        kept[f"figures {seed}"] = timeless(one.figures())
        run = folder.retraining(seed)
        if run is not None:
            result = run.result()
            assert result is not None
            kept[f"retrained {seed}"] = result.valid
    kept["found"] = folder.found().id
    kept["chosen"] = folder.selection()["chosen"]
    return kept


class Draws(Watcher):
    """Draws what has been searched."""

    def searched(self, folder: SeedFolder) -> None:
        draw_search(folder)


def test_a_search_leaves_its_cell_and_how_it_settled(text: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    folder = made(text, tmp_path / "mine", [3], "search.rounds=2")
    [candidate] = run_search(folder, Draws())
    assert candidate.seed == 3
    assert candidate.retrained is None
    assert folder.state == "finished"
    one = tmp_path / "mine" / "seed-3"
    epochs = [record for record in folder.seed_folder(3).metrics() if record["kind"] == "epoch"]
    assert [(r["round"], r["group"]) for r in epochs] == [
        (1, "intra"), (1, "inter"), (2, "intra"), (2, "inter"),
    ]  # fmt: skip
    assert {"entropy", "mad", "intra_mad", "inter_entropy"} <= epochs[-1]["watched"].keys()
    cells = [Cell.from_json(path.read_text()) for path in sorted((one / "cells").iterdir())]
    assert len(cells) == 4
    last = json.loads(json.dumps(epochs[-1]))
    for damaged, says in (
        ({**last, "watched": {"med": 0.1}}, "watched has other names"),
        ({**last, "listing": {"intra": last["listing"]["intra"]}}, "listing: KeyError: 'f_gate'"),
        ({**last, "listing": {**last["listing"], "f_gate": ["tan"]}}, "listing"),
    ):
        lines = [json.dumps(record) + "\n" for record in (epochs[0], damaged)]
        (one / "metrics.jsonl").write_text("".join(lines))
        with pytest.raises(RunError, match=f"is damaged, .*: an epoch's {says}"):
            draw_search(folder.seed_folder(3))
    found = folder.found()
    assert cells[-1] == found
    assert found.name == "mine"
    assert not found.is_supernet
    assert candidate.cell_id == found.id
    assert candidate.supernet == epochs[-1]["valid"]
    for name in ("cell.svg", "progress.svg", "evolution.svg", "evolution.gif"):
        assert (one / name).stat().st_size > 1000
    assert (tmp_path / "mine" / "found.svg").exists()


def test_among_seeds_the_one_that_retrains_best_is_chosen(text: Path, tmp_path: Path) -> None:
    folder = made(text, tmp_path / "two", [0, 1], "search.scope=intra")
    candidates = run_search(folder)
    losses = {each.seed: each.retrained for each in candidates}
    for seed, loss in losses.items():
        run = folder.retraining(seed)
        assert run is not None
        result = run.result()
        assert result is not None
        assert loss == result.valid
        assert len(result.curve) == 1
        assert run.cell() == folder.seed_folder(seed).cell()
    best = min(losses, key=lambda seed: losses[seed] or math.inf)
    assert candidates[0].seed == best
    assert folder.selection()["chosen"] == best
    assert folder.found() == folder.seed_folder(best).cell()


def test_the_choice_by_hand() -> None:
    def candidate(seed: int, supernet: float, retrained: float | None) -> Candidate:
        return Candidate(seed, "id", "ok", supernet, 1.0, retrained)

    trained = [candidate(1, 4.0, math.inf), candidate(2, 6.0, 5.5), candidate(3, 7.0, 5.2)]
    assert [each.seed for each in choose(trained)] == [3, 2, 1]
    alone = [candidate(1, math.nan, None), candidate(2, 6.0, None), candidate(3, 5.0, None)]
    assert [each.seed for each in choose(alone)] == [3, 2, 1]


def test_killed_anywhere_it_comes_to_the_same(text: Path, tmp_path: Path) -> None:
    settings = ("search.scope=joint", "search.fixed=choice")
    whole = made(text, tmp_path / "whole", [0, 1], *settings)
    counting = Ends(-1, lambda: None)
    run_search(whole, counting)
    events = -1 - counting.left
    folder = made(text, tmp_path / "killed", [0, 1], *settings)
    for after in (3, events // 2):
        words = [sys.executable, str(DYING), str(folder.path), str(after)]
        assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    run_search(SearchFolder.open(folder.path))
    assert outcome(SearchFolder.open(folder.path)) == outcome(whole)


def test_ctrl_c_saves_and_says_how_to_go_on(text: Path, tmp_path: Path) -> None:
    folder = made(text, tmp_path / "stopped", [0])
    watcher = Ends(2, lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(Stopped, match=f"cellwright search --resume {folder.path}"):
        run_search(folder, watcher)
    assert folder.seed_folder(0).state == "stopped"
    run_search(SearchFolder.open(folder.path))
    assert SearchFolder.open(folder.path).state == "finished"


def test_what_has_ended_is_not_searched_again(text: Path, tmp_path: Path) -> None:
    folder = made(text, tmp_path / "done", [0])
    run_search(folder)
    with pytest.raises(RunError, match="has finished, and there is nothing to resume"):
        run_search(SearchFolder.open(folder.path))


def test_a_search_that_diverges_is_a_result(text: Path, tmp_path: Path) -> None:
    folder = made(text, tmp_path / "wild", [0], "search.explode_above=0.1")
    [candidate] = run_search(folder)
    assert candidate.status == "exploded"
    assert math.isinf(candidate.supernet)
    assert folder.found().nodes
    assert SearchFolder.open(folder.path).state == "diverged"
    with pytest.raises(RunError, match="has diverged, and there is nothing to resume"):
        run_search(SearchFolder.open(folder.path))


@pytest.mark.parametrize(
    ("file", "says"),
    [("seed-0/last.safetensors", "damaged"), ("seed-0/search.json", "damaged")],
)
def test_a_damaged_file_is_named(text: Path, tmp_path: Path, file: str, says: str) -> None:
    folder = made(text, tmp_path / "cut", [0])
    with pytest.raises(KeyboardInterrupt):
        run_search(folder, Ends(2, _interrupt), checkpoint_seconds=0.0)
    path = folder.path / file
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(RunError, match=says) as caught:
        run_search(SearchFolder.open(folder.path))
    assert file in str(caught.value)


def _interrupt() -> None:
    raise KeyboardInterrupt


def test_another_text_is_refused(text: Path, tmp_path: Path) -> None:
    own = write_corpus(tmp_path / "text")
    folder = made(own, tmp_path / "moved", [0])
    (own / "train.txt").write_text("other words\n" * 300)
    with pytest.raises(RunError, match="other data"):
        run_search(folder)


def test_a_training_that_cannot_be_is_told_before_the_search(text: Path, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="unknown recipe 'labtop'; did you mean 'laptop'"):
        made(text, tmp_path / "two", [0, 1], "training=labtop")
    other = tmp_path / "other.toml"
    other.write_text('[task]\nkind = "toy_task:toy_kind"\n[training]\nepochs = 1\n')
    says = "for the task 'language', and its training, .*, is for 'toy_task:toy_kind'"
    with pytest.raises(RecipeError, match=says):
        made(text, tmp_path / "two", [0, 1], f"training={other}")
    assert not (tmp_path / "two").exists()
    with pytest.raises(RecipeError, match="unknown recipe 'labtop'"):  # it is the next command
        made(text, tmp_path / "one", [0], "training=labtop")
    made(text, tmp_path / "one", [0], f"training={other}")  # which needs no short training


@pytest.mark.parametrize("name", ["ess-laptop", "enas-ptb-laptop"])
def test_a_search_that_is_too_large_is_refused_before_its_folder(
    text: Path, tmp_path: Path, name: str
) -> None:
    large = load_search_recipe(name, ["search.nodes=2", "search.batch=8", "model.hidden=1000000"])
    with pytest.raises(NotEnoughMemoryError, match=r"or fewer search\.nodes"):
        SearchFolder.create(large, [0], data=str(text), path=tmp_path / "large")
    assert not (tmp_path / "large").exists()


def test_a_search_among_darts_cells_with_shared_weights_is_kept_and_drawn(
    text: Path, tmp_path: Path
) -> None:
    settings = ["search.nodes=2", "search.batch=8", "search.evaluation_batch=4", "task.bptt=9",
                "search.epochs=1", "search.candidates=3", "search.finalists=1",
                "model.hidden=5"]  # fmt: skip
    made = load_search_recipe("random-sharing-ptb", settings)
    folder = SearchFolder.create(made, [0], data=str(text), path=tmp_path / "shared")
    run_search(folder)
    assert Darts(nodes=2).contains(folder.found())
    seed = folder.seed_folder(0)
    [epoch] = epochs_of(seed)
    assert len(epoch["listing"]["nodes"]) == 2
    draw_search(seed)
    assert (seed.path / "evolution.svg").exists()


def test_what_is_found_is_trained_on_the_data_of_the_search(text: Path, tmp_path: Path) -> None:
    settings = [*SMALL, "task.data=ptb", f"task.folder={text}", "selection_epochs=2"]
    found = load_search_recipe("ess-laptop", settings).short_training()
    assert (found.task.data, found.task.folder) == ("ptb", str(text))
    assert found.training.epochs == 2
    laptop = load_recipe("laptop")
    assert (found.model, found.task.bptt) == (laptop.model, laptop.task.bptt)


@pytest.mark.parametrize("seeds", [[], [1, 1], [-1]])
def test_seeds_that_are_none(seeds: list[int]) -> None:
    with pytest.raises(RunError, match="seeds"):
        check_seeds(seeds)


def test_the_recipe_that_is_kept_is_the_recipe(text: Path, tmp_path: Path) -> None:
    folder = made(text, tmp_path / "kept", [0])
    again = load_search_recipe(folder.path / "recipe.toml")
    assert again == folder.info.recipe
    assert json.loads((folder.path / "search.json").read_text())["seeds"] == [0]


def test_a_checkpoint_that_is_gone_is_missed(text: Path, tmp_path: Path) -> None:
    folder = made(text, tmp_path / "lost", [0], "search.rounds=2")
    counted = Ends(-1, lambda: None)
    run_search(made(text, tmp_path / "whole", [0], "search.rounds=2"), counted)
    events = -1 - counted.left
    with pytest.raises(KeyboardInterrupt):
        run_search(folder, Ends(3 * events // 4, _interrupt), checkpoint_seconds=0.0)
    seed = folder.path / "seed-0"
    (seed / "last.safetensors").unlink()
    before = {path.name: path.read_bytes() for path in seed.iterdir()}
    again = f"'cellwright search --resume {folder.path}' then searches anew, to the same cell"
    with pytest.raises(RunError, match=f"last.safetensors is missing, .*: {again}"):
        run_search(SearchFolder.open(folder.path))
    assert {path.name: path.read_bytes() for path in seed.iterdir()} == before
    seed.rename(tmp_path / "away")
    run_search(SearchFolder.open(folder.path))
    whole = SearchFolder.open(tmp_path / "whole")
    assert outcome(SearchFolder.open(folder.path)) == outcome(whole)


def test_a_retraining_whose_checkpoint_is_gone_is_missed(text: Path, tmp_path: Path) -> None:
    settings = ("search.scope=intra", "selection_epochs=2")
    counted = Ends(-1, lambda: None)
    run_search(made(text, tmp_path / "whole", [0, 1], *settings), counted)
    folder = made(text, tmp_path / "lost", [0, 1], *settings)
    with pytest.raises(KeyboardInterrupt):  # one step before the end of the last retraining
        run_search(folder, Ends(-2 - counted.left, _interrupt), checkpoint_seconds=0.0)
    run = folder.path / "retrained-1"
    (run / "last.safetensors").unlink()
    with pytest.raises(RunError, match=f"put it back, or move {run} away: 'cellwright search"):
        run_search(SearchFolder.open(folder.path))
