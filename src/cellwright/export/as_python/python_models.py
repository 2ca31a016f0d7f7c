"""Trained models as Python files, whatever they have learned."""

from __future__ import annotations

from collections.abc import Mapping

from torch import nn

from cellwright.engine import Recurrent
from cellwright.export.as_python.language_source import language_file
from cellwright.export.as_python.python_file import PythonFile, recurrent_file
from cellwright.export.as_python.sentences_source import sentences_file
from cellwright.export.as_python.tagger_source import tagger_file
from cellwright.export.refusal import ExportError
from cellwright.models.language_model import LanguageModel
from cellwright.models.sentences.sentence_model import SentenceModel
from cellwright.models.tagger import Tagger


def model_file(model: nn.Module, about: Mapping[str, str], module: str) -> PythonFile:
    """A network, or a whole model, with its weights.

    Args:
        model: the network or the model.
        about: what the file says of where it comes from.
        module: the name of the file, without ending.

    Raises:
        ExportError: it is of a kind that has no such form.
    """
    if isinstance(model, Recurrent):
        return recurrent_file(model, about, module)
    if isinstance(model, LanguageModel):
        return language_file(model, about, module)
    if isinstance(model, Tagger):
        return tagger_file(model, about, module)
    if isinstance(model, SentenceModel):
        return sentences_file(model, about, module)
    raise ExportError(f"a {type(model).__name__} has no form as a Python file")
