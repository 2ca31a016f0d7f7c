"""Small settings that train in a blink."""

from cellwright.models import OneLayerSettings
from cellwright.training.settings import TrainingSettings

MODEL = OneLayerSettings(hidden=12, dropout_output=0.3, dropout_x=0.2, dropout_words=0.05)


def settings(**changes):
    """A short schedule."""
    values = {
        "learning_rate": 2.0,
        "epochs": 3,
        "batch": 4,
        "evaluation_batch": 2,
        "bptt": 12,
        "bptt_spread": 2.0,
        "bptt_shortest": 3,
        "average_after": None,
    }
    return TrainingSettings(**(values | changes))
