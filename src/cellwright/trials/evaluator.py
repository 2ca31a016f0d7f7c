"""The evaluator that really trains: a language model around a trial's cell.

`train_trial` is what `run_study` hands to an executor, by its name:

    Call("cellwright.trials.evaluator:train_trial", {"recipe": "laptop", "threads": 1})

How long a trial trains is its fidelity and nothing else: the `epochs` of the recipe are not
looked at. The learning rate of an epoch follows from the epoch's number (`decay`, `decay_after`),
averaging and patience from the losses so far, and segments and dropout masks from the seed and
the epoch. So the first three epochs of nine are the same as all epochs of three, bit for bit,
and a trial that goes on from another's checkpoint ends where one from the beginning does.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from cellwright.base.errors import shown
from cellwright.cell import Cell
from cellwright.data import PARTS, Corpus, load
from cellwright.data.fingerprint import fingerprint
from cellwright.runs.errors import RunError
from cellwright.runs.recipes import Recipe, load_recipe
from cellwright.training.results import EpochDone, EpochRecord, best_of
from cellwright.training.training import Training
from cellwright.trials.checkpoints import Begin, Keeper

VALUES = ("best", "last")
"""What a trial's value can be: the loss of the epoch that validated best, or of the last."""

_FOREVER = 10**9


def train_trial(
    trial: Mapping[str, Any],
    *,
    recipe: str | Mapping[str, Any],
    overrides: Sequence[str] = (),
    value: str = "best",
    text: Mapping[str, int] | None = None,
    text_fingerprint: str | None = None,
    threads: int | None = None,
    backend: str = "auto",
    checkpoints: str | None = None,
    longest: int | None = None,
) -> dict[str, Any]:
    """Train a trial's cell for its fidelity's number of epochs, with its seed.

    Args:
        trial: as `Trial.to_json` writes it. `info["continues"]` may name an earlier trial of the
            same cell and seed; its checkpoint is used if it is there and intact.
        recipe: the training recipe, by its name or file, or as its JSON values. Its data is read
            once in each process.
        overrides: settings that go before those of a recipe by name, such as "model.hidden=64".
        value: "best" or "last", see `VALUES`.
        text: the most tokens of "train", "valid" and "test" that are used, from the beginning of
            each; what is not named is used whole. The vocabulary is always that of the whole.
        text_fingerprint: of the corpus that the study was begun with. Another text, on another
            machine perhaps, is an error then.
        threads: how many to compute with, since sums may depend on it; as many as the process has
            unless said.
        backend: of the engine.
        checkpoints: a folder of this study, made if it is not there, in which trainings are kept:
            long ones from time to time, so that an attempt that is cut short is not begun anew,
            and with `longest` those that ended, for trials that go on with them. Nothing but time
            is lost if the folder is.
        longest: how many epochs the method's longest trials have; shorter ones may be gone on
            with. Without it nobody ever goes on with a trial.

    Returns:
        an outcome as JSON values, with the curves "train", "test" and "seconds" (of each epoch)
        beside the validation losses, `parameters` and `peak_memory`. Losses are nats per word.
        The status is "ok", or "exploded" or "loss is nan" where the training diverged. `test` is
        of the epoch that the value is of. `epochs` and `cost`, in seconds, are what this trial
        trained itself; `begun_at` is the number of epochs that it took over from another.

    Raises:
        RunError: an argument is wrong, or the text is another one.
    """
    if value not in VALUES:
        raise RunError(f"a trial's value is one of {', '.join(VALUES)}, not {shown(value)}")
    how = recipe_of(recipe, overrides)
    corpus, known = _corpus(how.data)
    if text_fingerprint is not None and known != text_fingerprint:
        raise RunError(
            f"the text of {how.data} at {corpus.where} is not the one that the study was begun with"
        )
    cell, epochs = Cell.from_json(trial["cell"]), int(trial["fidelity"])
    settings = how.training.model_copy(update={"epochs": _FOREVER})
    part = shortened(corpus, text)

    def make() -> Training:
        return Training(cell, part, how.model, settings, int(trial["seed"]), backend)

    with _threads(threads):
        if checkpoints is None:
            training, begin = make(), Begin()
            _train(training, epochs, None)
        else:
            same = [how.model.model_dump(), how.training.model_dump(), known, text, backend]
            keeper = Keeper(Path(checkpoints), trial, [*same, threads], longest)
            training, begin = keeper.restored(make), keeper.begin
            _train(training, epochs, keeper)
            keeper.close(training)
    return _outcome(training, value, begin)


def recipe_of(recipe: str | Mapping[str, Any], overrides: Sequence[str] = ()) -> Recipe:
    """A training recipe by name or from JSON values.

    Raises:
        RecipeError: there is none of that name, or a setting is wrong.
        RunError: the JSON values are no recipe.
    """
    if isinstance(recipe, str):
        return load_recipe(recipe, overrides)
    if overrides:
        raise RunError("settings can go before those of a recipe by name, not of JSON values")
    try:
        return Recipe.model_validate(dict(recipe))
    except ValueError as error:
        raise RunError(f"these are not the values of a training recipe: {error}") from None


def shortened(corpus: Corpus, most: Mapping[str, int] | None) -> Corpus:
    """The corpus with no more tokens in its parts than are wanted; the same vocabulary.

    Raises:
        RunError: there is no such part, or a number is none.
    """
    changes = {}
    for part, tokens in (most or {}).items():
        if part not in PARTS:
            raise RunError(f"a corpus has the parts {', '.join(PARTS)}, not {shown(part)}")
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 1:
            raise RunError(f"the tokens of {part} must be a whole number, not {shown(tokens)}")
        changes[part] = getattr(corpus, part)[:tokens]
    return dataclasses.replace(corpus, **changes)


@functools.lru_cache(maxsize=4)
def _corpus(data: str) -> tuple[Corpus, str]:
    """A corpus and what tells it from others, once for all trials of this process."""
    corpus = load(data)
    return corpus, fingerprint(corpus)


def _train(training: Training, epochs: int, keeper: Keeper | None) -> None:
    """Go on until so many epochs are over, or the training ends itself."""
    if len(training.result().curve) >= epochs:
        return
    for event in training.run():
        if isinstance(event, EpochDone):
            if event.record.epoch >= epochs:
                return
            if keeper is not None:
                keeper.save_if_due(training)


def _outcome(training: Training, value: str, begin: Begin) -> dict[str, Any]:
    result = training.result()
    curve = result.curve
    status = "ok" if result.status == "running" else result.status
    # A training that diverges while it learns has begun an epoch that has no point of the curve.
    begun = len(curve) + (status != "ok" and (not curve or math.isfinite(curve[-1].valid)))
    chosen = curve[-1] if value == "last" and curve else best_of(curve)
    return {
        "value": None if chosen is None else _number(chosen.valid),
        "status": status,
        "cost": max(0.0, result.seconds - begin.seconds),
        "curve": [_number(record.valid) for record in curve],
        "curves": {
            "train": [_number(record.train) for record in curve],
            "test": [_number(record.test) for record in curve],
            "seconds": _differences(curve),
        },
        "parameters": result.parameters,
        "peak_memory": result.peak_memory,
        "test": None if chosen is None else _number(chosen.test),
        "epochs": begun - begin.epochs,
        "begun_at": begin.epochs,
    }


def _differences(curve: Sequence[EpochRecord]) -> list[float]:
    """How long each epoch took."""
    ends = [0.0, *(record.seconds for record in curve)]
    return [after - before for before, after in itertools.pairwise(ends)]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


@contextlib.contextmanager
def _threads(number: int | None) -> Iterator[None]:
    """Compute with so many threads."""
    before = torch.get_num_threads()
    if number is not None and number != before:
        torch.set_num_threads(number)
    try:
        yield
    finally:
        if torch.get_num_threads() != before:
            torch.set_num_threads(before)
