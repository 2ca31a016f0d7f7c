"""The recipes that tune as ENAS-pairs does: every number typed in from the paper."""

from __future__ import annotations

import pytest

from cellwright.search.tuning.recipes import load_tune_recipe
from cellwright.spaces import Interval

DATA, MODELS = ("sick-r", "mrpc", "sts-b"), ("blm", "esim")

# Table 3
BATCHES = (16, 32, 64)
RATES = (0.0001, 0.01)
DECAYS = (0.001, 0.1)
NORMS = (0.25, 20.0)
DROPOUTS = (0.25, 0.75)
SEEDS = (0, 1, 2, 3, 4, 5)
WIDTHS = {"": (150, 200, 300, 450, 600), "-bert": (384, 512, 768, 1152, 1536)}
EPOCHS = 75
# Appendix A.2.1: cells of ENAS with BERT, and these in both layers of ESIM
ENAS_WIDTHS, ENAS_BATCHES = (384, 512, 768), (16, 32)
# Sections 3.2 and 3.4
TRIALS, ENAS_TRIALS = 500, 200

PLACES = {  # of dropouts: Table 5's caption
    "blm": ("input", "output", "projection"),
    "esim": ("input", "composition", "enhancement", "projection"),
}


def ends(options: object) -> tuple[float, float]:
    assert isinstance(options, Interval)
    return options.low, options.high


@pytest.mark.parametrize("embedding", WIDTHS)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("model", MODELS)
def test_for_lstms(model: str, data: str, embedding: str):
    recipe = load_tune_recipe(f"tune-{model}-{data}{embedding}")
    found = recipe.tune.space().choices()
    assert (recipe.trials, recipe.epochs, recipe.method.kind) == (TRIALS, EPOCHS, "tpe")
    assert (recipe.task.data, recipe.training) == (data, f"{model}-{data}{embedding}")
    assert found.pop("cell") == ("lstm",)
    assert found.pop("seed") == SEEDS
    assert found.pop("training.batch") == BATCHES
    assert ends(found.pop("training.learning_rate")) == RATES
    assert ends(found.pop("training.weight_decay")) == DECAYS
    assert ends(found.pop("training.clip")) == NORMS
    losses = ("squared",) if data == "mrpc" else ("absolute", "squared")
    assert found.pop("model.loss") == losses
    for width in ("hidden",) if model == "blm" else ("hidden", "hidden_composition"):
        assert found.pop(f"model.{width}") == WIDTHS[embedding]
    for place in PLACES[model]:
        assert ends(found.pop(f"model.dropout_{place}")) == DROPOUTS
    assert found == {}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("model", MODELS)
def test_for_cells_of_enas_with_bert(model: str, data: str):
    recipe = load_tune_recipe(f"tune-{model}-{data}-bert-enas")
    found = recipe.tune.space().choices()
    assert recipe.trials == ENAS_TRIALS
    assert found["model.hidden"] == ENAS_WIDTHS
    assert found["training.batch"] == (ENAS_BATCHES if model == "esim" else BATCHES)
    if model == "esim":
        assert found["model.hidden_composition"] == ENAS_WIDTHS


def test_tpe_starts_as_hyperopts():
    recipe = load_tune_recipe("tune-blm-sick-r")
    assert recipe.method.settings == {"startup": 20, "candidates": 24, "epochs": 75}
