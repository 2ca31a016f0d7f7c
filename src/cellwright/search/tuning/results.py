"""What tuning has found: its trials with their settings, the best of them as a recipe, and which
settings mattered."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.base.optional import require
from cellwright.cell import Cell
from cellwright.runs.recipes import Recipe, with_settings
from cellwright.search.blackbox.tpe import distribution, new_study
from cellwright.spaces import Tuned
from cellwright.spaces.tuned import CELL, plain
from cellwright.trials.outcome import OK
from cellwright.trials.store import Store, Study, TrialRecord, list_trials
from cellwright.trials.trial import SEED

FEWEST = 4
"""Trials with a value that it takes to say which settings mattered."""


@dataclass(frozen=True)
class TunedTrial:
    """A trial that has ended.

    Args:
        record: what the store has of it.
        cell: that was trained, with the name that it has among those to choose from.
        settings: that were varied, as this trial had them.
    """

    record: TrialRecord
    cell: Cell
    settings: Mapping[str, Any]

    @property
    def loss(self) -> float:
        """On the validation data; NaN if the trial has no value."""
        value = self.record.value
        return value if value is not None and self.record.status == OK else math.nan

    @property
    def test(self) -> float:
        """On the test data, at the same epoch."""
        found = self.record.measures.get("test")
        return float(found) if found is not None and self.record.status == OK else math.nan

    @property
    def seed(self) -> int:
        """From which it was trained."""
        return int(self.settings.get(SEED, self.record.seed))

    def values(self) -> dict[str, Any]:
        """Its choices: the cell's name and the settings."""
        return {CELL: self.cell.name, **self.settings}


def read_tuned(store: Store, study: Study, space: Tuned) -> list[TunedTrial]:
    """The trials of a study that have ended, by number."""
    by_id = {cell.id: cell for cell in space.cells}
    return [
        TunedTrial(record, by_id[record.cell_id], dict(record.info.get("settings", {})))
        for record in list_trials(store, study)
        if record.ended_at is not None and record.status is not None
    ]


def ranked(trials: Sequence[TunedTrial]) -> list[TunedTrial]:
    """Those with a value: who was trained longest first, and of these the lowest loss."""
    fine = [trial for trial in trials if math.isfinite(trial.loss)]
    return sorted(fine, key=lambda one: (-one.record.fidelity, one.loss, one.record.number))


def best_recipe(recipe: Recipe, trial: TunedTrial, name: str) -> Recipe:
    """How to train as a trial was trained.

    Args:
        recipe: of all trials.
        trial: whose settings are taken.
        name: of the study.
    """
    own = {key: value for key, value in trial.settings.items() if key != SEED}
    tuned = with_settings(recipe, {**own, "training.epochs": trial.record.fidelity})
    about = f"The settings of trial {trial.record.number} of {name}"
    return tuned.model_copy(update={"name": f"{name}-best", "description": about})


def importance(space: Tuned, trials: Sequence[TunedTrial]) -> dict[str, float]:
    """How much of the differences between trials each choice explains; they add up to 1.

    By functional ANOVA over a random forest (Hutter et al. 2014), as optuna has it. Of trials of
    different lengths those of the longest count. Choices that only some trials have, because of a
    condition, are left out; with few trials there is nothing to say.
    """
    fine = ranked(trials)
    fine = [one for one in fine if one.record.fidelity == fine[0].record.fidelity]
    everywhere = {
        name: options
        for name, options in space.open_choices().items()
        if all(name in one.values() for one in fine)
    }
    if len(fine) < FEWEST or not everywhere or len({one.loss for one in fine}) == 1:
        return {}
    optuna = require("optuna", "the importance of settings")
    kinds = {
        name: distribution(optuna.distributions, options) for name, options in everywhere.items()
    }
    study = new_study(optuna)
    for one in fine:
        values = {name: plain(one.values()[name]) for name in kinds}
        study.add_trial(
            optuna.trial.create_trial(params=values, distributions=kinds, value=one.loss)
        )
    evaluator = optuna.importance.FanovaImportanceEvaluator(seed=0)
    found = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(share) for name, share in found.items()}
