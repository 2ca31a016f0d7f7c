"""The packaged recipes of taggers: what words become, and which one is for whom."""

from __future__ import annotations

import pytest

from cellwright.embeddings.settings import (
    CharactersSettings,
    FlairSettings,
    TableSettings,
    VectorsSettings,
)
from cellwright.runs.recipes import load_recipe
from cellwright.search.one_shot.recipes import load_search_recipe

LAMPLE = CharactersSettings(by="lstm", size=25, width=25, dropout=0.5)
MA_AND_HOVY = CharactersSettings(by="cnn", size=30, width=30, dropout=0.5)
POOLED = FlairSettings(models=("news-forward", "news-backward"), pooling="min")
FAST = FlairSettings(models=("news-forward-fast", "news-backward-fast"))
SMALL_GLOVE = ("glove-100d", "glove-50d")

WORDS = {
    "ner-conll2003": ("glove-100d", POOLED),
    "ner-conll2003-words": ("glove-100d", LAMPLE),
    "ner-wnut17": ("fasttext-crawl", "glove-twitter-100d", POOLED),
    "ner-wnut17-words": ("fasttext-crawl", "glove-twitter-100d", LAMPLE),
    "chunks-conll2000": ("komninos", POOLED),
    "chunks-conll2000-words": ("komninos", LAMPLE),
    "i-darts-conll2003-training": ("glove-100d", POOLED),
    "i-darts-conll2003-training-words": ("glove-100d", LAMPLE),
    "tagging-laptop": (TableSettings(width=100), MA_AND_HOVY),
    "ner-conll2003-laptop": (*SMALL_GLOVE, MA_AND_HOVY),
    "ner-wnut17-laptop": (*SMALL_GLOVE, MA_AND_HOVY),
    "chunks-conll2000-laptop": (*SMALL_GLOVE, TableSettings(width=100), MA_AND_HOVY),
    "ner-conll2003-flair-laptop": (*SMALL_GLOVE, FAST),
    "ner-wnut17-flair-laptop": (*SMALL_GLOVE, FAST),
    "chunks-conll2000-flair-laptop": (*SMALL_GLOVE, FAST),
}


@pytest.mark.parametrize("name", WORDS)
def test_what_words_become(name: str):
    wanted = tuple(
        VectorsSettings(name=one) if isinstance(one, str) else one for one in WORDS[name]
    )
    assert load_recipe(name).task.embeddings == wanted


@pytest.mark.parametrize("name", ["i-darts-conll2003", "darts-conll2003"])
def test_a_search_has_the_words_of_its_evaluation(name: str):
    recipe = load_search_recipe(name)
    evaluation = load_recipe(recipe.training)
    assert recipe.task.embeddings == evaluation.task.embeddings
    assert evaluation.task.validate_on == "valid"  # the paper's habit is off
