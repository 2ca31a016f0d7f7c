"""Small settings that train in a blink."""

from typing import Any

from cellwright.data import Corpus
from cellwright.models import OneLayerSettings
from cellwright.tasks.language.settings import LanguageSettings
from cellwright.tasks.language.task import LanguageTask
from cellwright.training.settings import TrainingSettings

MODEL = OneLayerSettings(hidden=12, dropout_output=0.3, dropout_x=0.2, dropout_words=0.05)


def language_task(corpus: Corpus, **changes: Any) -> LanguageTask:
    """A text in short segments."""
    values = {"bptt": 12, "bptt_spread": 2.0, "bptt_shortest": 3}
    return LanguageTask(corpus, LanguageSettings(**(values | changes)))


def settings(**changes: Any) -> TrainingSettings:
    """A short schedule."""
    values = {
        "learning_rate": 2.0,
        "epochs": 3,
        "batch": 4,
        "evaluation_batch": 2,
        "average_after": None,
    }
    return TrainingSettings(**(values | changes))
