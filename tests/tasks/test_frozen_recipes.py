"""The recipes for frozen encoders have jiant's numbers, which are typed in here."""

from __future__ import annotations

import math

import pytest

from cellwright.embeddings.settings import RunSettings
from cellwright.models.sentences.settings import FrozenSettings
from cellwright.runs.recipes import load_recipe
from cellwright.tasks.sentences.settings import SentencesSettings

# jiant 1.3, jiant/config/defaults.conf and its commented templates: training examples of the task,
# width of MLP and projection, dropout of the MLP, rate, batches between validations.
JIANT = """
cola  8551   256 0.2 1e-4 500
sst-2 67349  256 0.2 1e-4 500
mrpc  3668   256 0.2 1e-4 500
rte   2490   128 0.4 3e-4 100
wnli  635    128 0.4 3e-4 100
sts-b 5749   512 0.2 1e-4 1000
qnli  104743 512 0.2 1e-4 1000
mnli  392702 512 0.2 1e-4 1000
qqp   363849 512 0.2 1e-4 1000
"""
ROWS = [line.split() for line in JIANT.strip().splitlines()]

ATTENTIVE = ("sts-b", "qnli", "mnli", "qqp")
"""Tasks whose templates have attention across the pair, with an LSTM of 512 (d_hid_attn)."""

BATCH, LR_PATIENCE, PATIENCE = 32, 1, 5


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_jiants_defaults(row: list[str]) -> None:
    name, examples, width, dropout, rate, interval = row
    recipe = load_recipe(f"frozen-{name}")
    task, model, training = recipe.task, recipe.model, recipe.training
    assert isinstance(task, SentencesSettings)
    assert isinstance(model, FrozenSettings)
    assert (task.data, task.longest, task.lower) == (name, 40, False)
    [run] = task.embeddings
    assert isinstance(run, RunSettings)
    assert run.with_input  # skip_embs = 1
    assert (model.projection, model.feed_forward, model.pooling) == (int(width), int(width), "max")
    assert (model.dropout_input, model.dropout_projection) == (0.2, float(dropout))
    assert model.attention == (512 if name in ATTENTIVE else 0)
    assert (training.optimizer, training.learning_rate) == ("adam", float(rate))
    assert (training.batch, training.clip, training.weight_decay) == (BATCH, 5.0, 0.0)
    assert (training.anneal, training.rate_least, training.decay) == (0.5, 1e-6, 1.0)
    assert training.average_after is None
    # Here a model is measured after each epoch: as many of them as jiant's validations take.
    epochs = max(1, round(int(interval) / math.ceil(int(examples) / BATCH)))
    assert training.anneal_after == (LR_PATIENCE + 1) * epochs
    assert training.patience == PATIENCE * epochs


@pytest.mark.parametrize("name", ["mrpc", "qqp"])
def test_what_jiant_chooses_by(name: str) -> None:
    assert load_recipe(f"frozen-{name}").task.metric == "accuracy-f1"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_laptops_have_a_shorter_training_of_the_same(row: list[str]) -> None:
    whole, short = load_recipe(f"frozen-{row[0]}"), load_recipe(f"frozen-{row[0]}-laptop")
    assert short.task == whole.task
    assert short.training.epochs <= 20
    assert short.model.projection <= whole.model.projection
