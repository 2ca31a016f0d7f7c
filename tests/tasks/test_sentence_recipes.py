"""The recipes of sentences have the papers' numbers, which are typed in here from their tables."""

from __future__ import annotations

import pytest

from cellwright.models.sentences.settings import BiRnnSettings, BlmSettings, EsimSettings
from cellwright.runs.recipes import Recipe, load_recipe
from cellwright.search.one_shot.recipes import load_search_recipe
from cellwright.search.sharing.settings import SharingSettings
from cellwright.search.studies.recipes import load_study_recipe
from cellwright.tasks.sentences.settings import SentencesSettings

# ENAS-pairs, Table 5, rows of LSTMs: model, embedding, data; batch, rate, loss, weight decay,
# gradient norm, hidden sizes, dropouts, variational dropouts.
TABLE_5 = """
BLM  BERT  SICK-R 32 0.0046 mse           0.0514 12.3656 512       0.3782,0.3474 0.4088
BLM  BERT  MRPC   64 0.0021 cross-entropy 0.0637 12.8279 384       0.6355,0.4388 0.6804
BLM  BERT  STS-B  32 0.0075 mse           0.0407 16.8742 512       0.2702,0.4525 0.6783
BLM  Glove SICK-R 64 0.0007 mse           0.0040 10.2636 300       0.3555,0.2937 0.2774
BLM  Glove MRPC   32 0.0017 cross-entropy 0.0301 8.1649  450       0.3346,0.3751 0.2986
BLM  Glove STS-B  32 0.0004 mse           0.0201 4.9461  200       0.2597,0.5924 0.4516
ESIM BERT  SICK-R 32 0.0011 mae           0.0299 12.9599 512,1152  0.3171,0.6050 0.6962,0.4123
ESIM BERT  MRPC   64 0.0048 cross-entropy 0.0448 16.0686 384,512   0.2806,0.4960 0.5453,0.3357
ESIM BERT  STS-B  64 0.0011 mae           0.0855 18.4787 1152,1152 0.4213,0.4769 0.5011,0.5806
ESIM Glove SICK-R 32 0.0018 mse           0.0804 12.3511 200,300   0.4369,0.5705 0.4491,0.3239
ESIM Glove MRPC   64 0.0006 cross-entropy 0.0415 16.6595 600,200   0.4089,0.7434 0.2795,0.4438
ESIM Glove STS-B  64 0.0027 mse           0.0741 12.3487 300,600   0.2822,0.4862 0.2867,0.5283
"""
ROWS = [line.split() for line in TABLE_5.strip().splitlines()]


def recipe_of(model: str, embedding: str, data: str) -> Recipe:
    behind = "-bert" if embedding == "BERT" else ""
    return load_recipe(f"{model}-{data}{behind}".lower())


def numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(row[:3]))
def test_enas_pairs_table_5(row: list[str]) -> None:
    model, embedding, data, batch, rate, loss, decay, norm, hidden, dropouts, variational = row
    recipe = recipe_of(model, embedding, data)
    training = recipe.training
    assert training.batch == int(batch)
    assert (training.learning_rate, training.weight_decay) == (float(rate), float(decay))
    assert training.clip == float(norm)
    assert (training.optimizer, training.epochs) == ("adam", 75)  # Table 3: 75, with early stopping
    assert training.patience is not None
    found = recipe.model
    if model == "BLM":
        assert isinstance(found, BlmSettings)
        assert [found.hidden] == numbers(hidden)
        assert [found.dropout_output, found.dropout_projection] == numbers(dropouts)
        assert [found.dropout_input] == numbers(variational)
        assert found.layers == 1
        assert not found.signed_difference
        assert not found.padding_is_zero
    else:
        assert isinstance(found, EsimSettings)
        assert [found.hidden, found.hidden_composition] == numbers(hidden)
        assert [found.dropout_enhancement, found.dropout_projection] == numbers(dropouts)
        assert [found.dropout_input, found.dropout_composition] == numbers(variational)
    if loss != "cross-entropy":  # of labels it always is
        assert found.loss == {"mse": "squared", "mae": "absolute"}[loss]


@pytest.mark.parametrize(
    ("data", "words", "pieces"), [("SICK-R", 30, 64), ("MRPC", 46, 128), ("STS-B", 39, 128)]
)
@pytest.mark.parametrize("model", ["BLM", "ESIM"])
def test_enas_pairs_appendix_a_6(model: str, data: str, words: int, pieces: int) -> None:
    """How the data is read."""
    task = recipe_of(model, "Glove", data).task
    assert isinstance(task, SentencesSettings)
    assert (task.data, task.longest, task.tokenizer) == (data.lower(), words, "spacy")
    assert [one.model_dump() for one in task.embeddings] == [
        {"kind": "vectors", "name": "glove-300d", "learn": False}
    ]
    assert task.valid == ("cut" if data == "SICK-R" else "file")  # a dev size of 0.1 of train
    bert = recipe_of(model, "BERT", data).task
    assert isinstance(bert, SentencesSettings)
    assert (bert.tokenizer, bert.longest) == ("pieces", 0)
    [encoder] = bert.embeddings
    said = encoder.model_dump()
    assert (said["model"], said["pairs"], said["longest"]) == (
        "bert-base-uncased", "together", pieces,
    )  # fmt: skip
    assert said["mix"]
    assert list(said["layers"]) == list(range(1, 13))


FENAS_WORDS = {
    "rte": 5_000, "sts-b": 5_000, "cola": 5_000, "qqp": 40_000, "mnli": 40_000, "qnli": 30_000,
    "mrpc": 10_000, "sst-2": 14_300, "wnli": 1_300,
}  # fmt: skip


@pytest.mark.parametrize("data", FENAS_WORDS)
def test_fenas_appendix_a(data: str) -> None:
    recipe = load_recipe(f"glue-{data}")
    task, model, training = recipe.task, recipe.model, recipe.training
    assert isinstance(task, SentencesSettings)
    assert isinstance(model, BiRnnSettings)
    assert (task.data, task.most_words, task.longest) == (data, FENAS_WORDS[data], 50)
    assert [one.model_dump() for one in task.embeddings] == [
        {"kind": "vectors", "name": "glove-300d", "learn": True}  # "initialized with glove"
    ]
    assert (model.hidden, model.layers, model.feed_forward) == (1500, 2, 256)
    assert (model.dropout_input, model.dropout_output) == (0.2, 0.2)
    assert (training.optimizer, training.learning_rate, training.batch) == ("adam", 1e-4, 64)


@pytest.mark.parametrize("data", ["SICK-R", "MRPC", "STS-B"])
def test_enas_pairs_section_3_3(data: str) -> None:
    """What was best for LSTMs in BiLSTM-Max with GloVe, but for rate and gradient norm."""
    recipe, tuned = load_search_recipe(f"enas-{data.lower()}"), recipe_of("BLM", "Glove", data)
    search = recipe.search
    assert isinstance(search, SharingSettings)
    assert (search.kind, search.nodes, search.epochs) == ("enas", 6, 150)
    assert (search.learning_rate, search.clip) == (1e-4, 0.25)
    assert (search.candidates, search.finalists) == (10, 10)  # section 3.4: 10 cells are drawn
    assert (search.batch, search.weight_decay) == (
        tuned.training.batch, tuned.training.weight_decay,
    )  # fmt: skip
    assert recipe.model == tuned.model
    assert recipe.task == tuned.task
    # Pham et al. 2018
    assert (search.controller_rate, search.controller_units) == (3.5e-4, 100)
    assert (search.temperature, search.tanh_constant, search.entropy_weight) == (5.0, 2.5, 1e-4)
    assert search.reward_scale is None  # the task's metric itself


@pytest.mark.parametrize("data", FENAS_WORDS)
def test_fenas_stage_1(data: str) -> None:
    recipe = load_study_recipe(f"fenas-{data}")
    task, large = recipe.task, data in ("qnli", "mnli", "qqp")
    assert isinstance(task, SentencesSettings)
    assert recipe.trials == 100 + 5000
    assert (recipe.method.kind, recipe.space.kind) == ("aging-evolution", "fenas")
    assert (recipe.method.settings["population"], recipe.method.settings["sample"]) == (100, 25)
    assert recipe.space.settings["nodes"] == 9
    assert recipe.child.model["hidden"] == (1000 if large else 300)
    assert recipe.child.model["layers"] == 1
    assert (recipe.text.train if recipe.text else None) == (2000 if large else None)
    assert task == load_recipe(f"glue-{data}").task
    assert recipe.training == f"glue-{data}"
