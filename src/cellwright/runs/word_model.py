"""A run's language model as an embedding for other tasks, which name this function in a text:
tasks do not know runs."""

from __future__ import annotations

import hashlib
from typing import Any

import torch
from torch import Tensor

from cellwright.embeddings.word_lm import WordModel
from cellwright.models.language_model import LanguageModel
from cellwright.runs.errors import RunError
from cellwright.runs.trained import load_trained
from cellwright.tasks.language.task import LanguageTask


def word_model(path: str) -> WordModel:
    """The language model of a run with its best weights, frozen.

    Raises:
        RunError: it is no run, has no weights yet, or has learned something else.
    """
    with torch.random.fork_rng(devices=()):  # first weights, which are replaced at once
        trained = load_trained(path, alone=True)
    model, task = trained.model.eval().requires_grad_(False), trained.task
    if not isinstance(model, LanguageModel) or not isinstance(task, LanguageTask):
        kind = trained.folder.info.recipe.task.kind
        raise RunError(f"{path} has learned {kind}; words can become states of language models")

    def read(numbers: Tensor, state: Any, lengths: Tensor) -> tuple[Tensor, Any]:
        hidden = model(numbers, state)
        return hidden.raw, hidden.state

    words = task.corpus.vocabulary
    digest = hashlib.sha256(f"{trained.folder.cell().id} {model.settings!r}".encode())
    digest.update("\n".join(words.tokens).encode("utf-8", "surrogatepass"))
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)}".encode())
        digest.update(memoryview(tensor.contiguous().numpy()).cast("B"))
    return WordModel(read, words, model.embedding.embedding_dim, digest.hexdigest())
