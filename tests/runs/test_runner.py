"""The runner: stopped anywhere and resumed, a run ends as if nothing had happened."""

from __future__ import annotations

import math
import os
import shutil
import signal
import threading
from pathlib import Path

import pytest
import torch

import cellwright as cw
from cellwright.base.errors import FileError
from cellwright.runs.checkpoints import load_state
from cellwright.runs.errors import RunError, Stopped
from cellwright.runs.folder import RunFolder
from cellwright.runs.recipes import load_recipe
from cellwright.runs.run import fresh_run, reopen, resume
from cellwright.runs.runner import train
from cellwright.training.results import EpochDone, StepDone
from runs.support import largest_file, outcome, small_run, write_corpus

SCHEDULES = {
    "adam": (),
    "averaged": ("training.optimizer=sgd", "training.learning_rate=50", "training.average_after=1"),
}


class Cut(Exception):  # noqa: N818
    """Ends a run from inside, at a chosen event."""


def cut_after(number: int, error: type[BaseException] = Cut):
    left = iter(range(number, -1, -1))

    def watch(event: object) -> None:
        if next(left) == 1:
            raise error

    return watch


@pytest.fixture(params=list(SCHEDULES))
def settings(request) -> tuple[str, ...]:
    """The schedules that keep different things from step to step."""
    return SCHEDULES[request.param]


@pytest.fixture
def undisturbed(text_folder: Path, tmp_path: Path, settings):
    """What comes out if nothing happens."""
    run = small_run(text_folder, tmp_path / "undisturbed", *settings)
    train(run.folder, run.training, metrics_steps=2)
    return outcome(run.folder)


def test_a_whole_run(text_folder: Path, tmp_path: Path):
    run = small_run(text_folder, tmp_path / "run")
    events: list[object] = []
    result = train(run.folder, run.training, watch=events.append, metrics_steps=4)
    steps = [event for event in events if isinstance(event, StepDone)]
    epochs = [event for event in events if isinstance(event, EpochDone)]
    assert len(epochs) == 3
    assert len(steps) == sum(event.steps for event in steps if event.step == event.steps)
    records = run.folder.metrics()
    assert [r["epoch"] for r in records if r["kind"] == "epoch"] == [1, 2, 3]
    assert [r["valid"] for r in records if r["kind"] == "epoch"] == [r.valid for r in result.curve]
    assert len([r for r in records if r["kind"] == "step"]) == len(steps) // 4
    assert run.folder.info.status == "finished"
    assert not list(run.folder.path.glob(".*"))
    best = run.folder.best()
    assert best is not None
    assert best.state["epoch"] == result.best_epoch
    assert best.state["valid"] == result.valid


def test_paused_after_an_epoch_it_goes_on_to_the_same_end(
    text_folder: Path, tmp_path: Path, settings, undisturbed
):
    run = small_run(text_folder, tmp_path / "run", *settings)
    result = train(run.folder, run.training, metrics_steps=2, pause_after=2)
    assert (result.status, len(result.curve)) == ("running", 2)
    assert run.folder.state == "stopped"
    assert run.folder.result() is None
    again = reopen(run.folder.path)
    train(again.folder, again.training, metrics_steps=2, pause_after=3)  # its last epoch
    assert outcome(again.folder) == undisturbed


def test_ctrl_c_in_the_epoch_of_a_pause_is_not_lost(text_folder: Path, tmp_path: Path):
    run = small_run(text_folder, tmp_path / "run")
    last = []

    def watch(event: StepDone | EpochDone) -> None:
        if isinstance(event, StepDone) and event.step == event.steps and not last:
            last.append(event)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Stopped):
        train(run.folder, run.training, watch=watch, pause_after=1)
    assert reopen(run.folder.path).folder.state == "stopped"


def test_the_best_weights_are_those_that_were_measured(text_folder: Path, tmp_path: Path):
    run = small_run(text_folder, tmp_path / "run", *SCHEDULES["averaged"], "training.epochs=8")
    result = train(run.folder, run.training)
    assert any(record.averaged for record in result.curve)
    again = reopen_ended(run.folder)
    best = run.folder.best()
    assert best is not None
    again.model.load_state_dict(dict(best.tensors))
    task, size = again.task, again.settings.evaluation_batch
    assert task.measure(again.model, task.ordered("valid", size)).loss == result.valid


def reopen_ended(folder: RunFolder):
    """The training of a run that has ended."""
    from cellwright.tasks.registry import open_task
    from cellwright.training.training import Training

    recipe, seed = folder.info.recipe, folder.info.seed
    task = open_task(recipe.task)
    return Training(folder.cell(), task, recipe.model, recipe.training, seed)


def test_cut_at_every_event_and_resumed(text_folder: Path, tmp_path: Path, settings, undisturbed):
    events = 0
    while True:
        events += 3
        run = small_run(text_folder, tmp_path / f"cut{events}", *settings)
        try:
            train(
                run.folder, run.training, watch=cut_after(events), checkpoint_steps=3,
                metrics_steps=2,
            )  # fmt: skip
        except Cut:
            assert run.folder.info.status == "stopped"
            resume(run.folder.path, metrics_steps=2)
            assert outcome(RunFolder.open(run.folder.path)) == undisturbed
        else:
            break
    assert events > 20


def test_cut_again_and_again(text_folder: Path, tmp_path: Path, settings, undisturbed):
    path = small_run(text_folder, tmp_path / "run", *settings).folder.path
    for _ in range(100):
        try:
            resume(path, watch=cut_after(4), checkpoint_steps=2, metrics_steps=2)
            break
        except Cut:
            pass
    assert outcome(RunFolder.open(path)) == undisturbed


def test_every_moment_of_writing(
    text_folder: Path, tmp_path: Path, undisturbed, settings, monkeypatch
):
    """A kill leaves the folder as it is after some rename; so each of these has to be good."""
    run = small_run(text_folder, tmp_path / "run", *settings)
    moments = tmp_path / "moments"
    replace = os.replace

    def replace_and_keep(source, target) -> None:
        replace(source, target)
        shutil.copytree(run.folder.path, moments / f"{len(list(moments.glob('*')))}")

    moments.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace_and_keep)
        train(run.folder, run.training, checkpoint_steps=7, metrics_steps=2)
    kept = sorted(moments.iterdir(), key=lambda path: int(path.name))
    between = [path for path in kept if (path / "best.next.safetensors").exists()]
    assert between
    ahead = [path for path in between if (path / "last.safetensors").exists()]
    assert {load_state(p / "last.safetensors")["position"]["best_epoch"] for p in ahead} >= {1}
    for path in kept[:-1]:
        resume(path, metrics_steps=2)
        assert outcome(RunFolder.open(path)) == undisturbed
        assert not (path / "best.next.safetensors").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_stop(text_folder: Path, tmp_path: Path, number: int):
    whole = small_run(text_folder, tmp_path / "whole")
    train(whole.folder, whole.training)
    run = small_run(text_folder, tmp_path / "run")
    seen = []

    def watch(event: object) -> None:
        seen.append(event)
        if len(seen) == 10:
            os.kill(os.getpid(), number)

    before = signal.getsignal(number)
    with pytest.raises(Stopped, match=r"cellwright train --resume .*run' goes on") as caught:
        train(run.folder, run.training, watch=watch)
    assert signal.getsignal(number) is before
    assert caught.value.signal == number
    assert isinstance(caught.value, KeyboardInterrupt)
    folder = RunFolder.open(run.folder.path)
    assert folder.state == "stopped"
    # At most one step is done after the signal, and none of them is lost.
    assert load_state(folder.path / "last.safetensors")["position"]["steps"] == len(
        [event for event in seen if isinstance(event, StepDone)]
    )
    assert len(seen) <= 11
    resume(folder.path)
    assert outcome(RunFolder.open(folder.path)) == outcome(whole.folder)


def test_asked_to_stop_at_the_very_end_it_ends(text_folder: Path, tmp_path: Path):
    run = small_run(text_folder, tmp_path / "run", "training.epochs=1")

    def watch(event: object) -> None:
        if isinstance(event, EpochDone):
            os.kill(os.getpid(), signal.SIGTERM)

    assert train(run.folder, run.training, watch=watch).status == "ok"
    assert run.folder.info.status == "finished"


def test_a_second_interrupt_does_not_wait(text_folder: Path, tmp_path: Path):
    run = small_run(text_folder, tmp_path / "run")

    def watch(event: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as caught:
        train(run.folder, run.training, watch=watch)
    assert not isinstance(caught.value, Stopped)
    assert run.folder.info.status == "stopped"
    assert resume(run.folder.path).status == "ok"


def test_outside_the_main_thread(text_folder: Path, tmp_path: Path):
    run = small_run(text_folder, tmp_path / "run", "training.epochs=1")
    thread = threading.Thread(target=train, args=(run.folder, run.training))
    thread.start()
    thread.join()
    assert run.folder.info.status == "finished"


def test_a_full_disk(text_folder: Path, tmp_path: Path, settings, undisturbed):
    run = small_run(text_folder, tmp_path / "run", *settings)
    with pytest.raises(Cut):
        train(run.folder, run.training, watch=cut_after(14), checkpoint_steps=3, metrics_steps=2)
    before = load_state(run.folder.path / "last.safetensors")
    for size in (100, 3000):  # neither fits a checkpoint; the first not even a record
        with largest_file(size), pytest.raises(FileError, match="cannot write"):
            resume(run.folder.path, checkpoint_steps=1, metrics_steps=2)
        assert load_state(run.folder.path / "last.safetensors") == before
        assert not list(run.folder.path.glob(".*"))
    resume(run.folder.path, metrics_steps=2)
    assert outcome(RunFolder.open(run.folder.path)) == undisturbed


def test_a_run_that_has_ended(text_folder: Path, tmp_path: Path):
    run = small_run(text_folder, tmp_path / "run", "training.epochs=1")
    train(run.folder, run.training)
    before = {path: path.read_bytes() for path in run.folder.path.iterdir()}
    with pytest.raises(RunError, match=r"run has finished, and there is nothing to resume"):
        resume(run.folder.path)
    with pytest.raises(RunError, match="has finished"):
        train(run.folder, run.training)
    assert {p: p.read_bytes() for p in run.folder.path.iterdir() if p.name != "lock"} == {
        p: data for p, data in before.items() if p.name != "lock"
    }


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        (["training.explode_above=1.0"], "exploded"),
        (["training.explode_above=1e38", "training.learning_rate=1e6",
          "training.weight_decay=1e6"], "loss is nan"),
    ],
)  # fmt: skip
def test_a_run_that_diverges(text_folder: Path, tmp_path: Path, settings: list[str], status: str):
    run = small_run(
        text_folder, tmp_path / "run", "training.optimizer=sgd", "training.clip=none", *settings
    )
    result = train(run.folder, run.training, metrics_steps=1)
    assert result.status == status
    assert (result.valid, result.best_epoch) == (math.inf, None)
    assert run.folder.info.status == "diverged"
    assert repr(run.folder.result()) == repr(result)  # NaN equals nothing
    assert "NaN" not in (run.folder.path / "result.json").read_text().replace('"NaN"', "")
    with pytest.raises(RunError, match="has diverged, and there is nothing to resume"):
        resume(run.folder.path)


def test_text_that_has_changed(tmp_path: Path):
    corpus = write_corpus(tmp_path / "text")
    path = small_run(corpus, tmp_path / "run").folder.path
    with (corpus / "test.txt").open("a") as file:
        file.write("one more line\n")
    with pytest.raises(RunError, match=r"was trained on other data than .*text has now"):
        resume(path)
    shutil.rmtree(corpus)
    with pytest.raises(ValueError, match="no such folder"):
        resume(path)


def test_text_that_has_moved_under_its_name(tmp_path: Path, monkeypatch):
    """A named corpus may be anywhere, as long as it is the same."""
    write_corpus(tmp_path / "here" / "ptb")
    monkeypatch.setenv("CELLWRIGHT_DATA", str(tmp_path / "here"))
    path = small_run(Path("ptb"), tmp_path / "run").folder.path
    (tmp_path / "here").rename(tmp_path / "there")
    monkeypatch.setenv("CELLWRIGHT_DATA", str(tmp_path / "there"))
    assert resume(path).status == "ok"


@pytest.mark.parametrize("name", ["last.safetensors", "best.next.safetensors"])
def test_damaged_checkpoints(text_folder: Path, tmp_path: Path, name: str):
    run = small_run(text_folder, tmp_path / "run")
    with pytest.raises(Cut):
        train(run.folder, run.training, watch=cut_after(20))
    path = run.folder.path / name
    path.write_bytes((run.folder.path / "last.safetensors").read_bytes()[:-1])
    with pytest.raises(RunError, match=f"{name} is damaged"):
        resume(run.folder.path)


def test_a_checkpoint_of_another_run(text_folder: Path, tmp_path: Path):
    runs = [small_run(text_folder, tmp_path / name, seed=seed) for seed, name in enumerate("ab")]
    for run in runs:
        with pytest.raises(Cut):
            train(run.folder, run.training, watch=cut_after(20))
    last = "last.safetensors"
    shutil.copy(runs[0].folder.path / last, runs[1].folder.path / last)
    with pytest.raises(RunError, match=r"last\.safetensors belongs to another run"):
        resume(runs[1].folder.path)


def test_metrics_that_were_removed_do_not_keep_a_run_from_going_on(
    text_folder: Path, tmp_path: Path
):
    run = small_run(text_folder, tmp_path / "run")
    with pytest.raises(Cut):
        train(run.folder, run.training, watch=cut_after(20))
    (run.folder.path / "metrics.jsonl").unlink()
    assert resume(run.folder.path).status == "ok"
    epochs = [r["epoch"] for r in run.folder.metrics() if r["kind"] == "epoch"]
    assert epochs == list(range(epochs[0], 4))


def test_a_run_goes_on_with_its_own_number_of_threads(text_folder: Path, tmp_path: Path):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        path = small_run(text_folder, tmp_path / "run").folder.path
        torch.set_num_threads(2)
        seen = set()
        resume(path, watch=lambda event: seen.add(torch.get_num_threads()))
        assert seen == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_the_built_in_text(tmp_path: Path):
    """As a user starts: no data, the small recipe; here with fewer steps."""
    recipe = load_recipe("laptop", ["model.hidden=8", "training.batch=200", "training.epochs=1"])
    run = fresh_run(cw.zoo["lstm"], recipe, runs=tmp_path)
    result = train(run.folder, run.training)
    assert run.task.metric.value(result.valid) < 2421
    assert run.folder.path.name.startswith("lstm-builtin-laptop-")
    assert reopen_ended(run.folder).settings.batch == 200
    with pytest.raises(RunError, match="has finished"):
        reopen(run.folder.path)


def test_tensorboard(text_folder: Path, tmp_path: Path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = small_run(text_folder, tmp_path / "run")
    with pytest.raises(Cut):
        train(run.folder, run.training, watch=cut_after(20), metrics_steps=2, tensorboard=True)
    resume(run.folder.path, metrics_steps=2, tensorboard=True)
    events = EventAccumulator(str(run.folder.path / "tensorboard"))
    events.Reload()
    records = run.folder.metrics()
    steps = [e.value for e in events.Scalars("step/loss")]
    assert steps == pytest.approx([r["loss"] for r in records if r["kind"] == "step"])
    valid = [e.value for e in events.Scalars("epoch/valid")]
    assert valid == pytest.approx([r["valid"] for r in records if r["kind"] == "epoch"])


def test_tensorboard_that_is_not_installed(text_folder: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch.utils.tensorboard", None)
    run = small_run(text_folder, tmp_path / "run")
    with pytest.raises(RunError, match=r"pip install cellwright\[tensorboard\]"):
        train(run.folder, run.training, tensorboard=True)
