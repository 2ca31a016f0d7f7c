"""A run's language model, or its text, as an embedding for other tasks, which name these functions
in a text: tasks do not know runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cellwright.base.progress import Progress
from cellwright.data import Corpus
from cellwright.embeddings.kept_arrays import kept, key_of
from cellwright.embeddings.settings import SgnsSettings
from cellwright.embeddings.word_lm import WordModel, known_as
from cellwright.models.language_model import LanguageModel
from cellwright.runs.errors import RunError
from cellwright.runs.trained import Trained, load_trained
from cellwright.tasks.language.skip_gram import SkipGramSettings, skip_gram
from cellwright.tasks.language.task import LanguageTask

Rows = NDArray[np.float32]


def word_model(path: str) -> WordModel:
    """The language model of a run with its best weights, frozen.

    Raises:
        RunError: it is no run, has no weights yet, or has learned something else.
    """
    trained, model, task = _language_run(path, alone=True)
    model.eval().requires_grad_(False)

    def read(numbers: Tensor, state: Any, lengths: Tensor) -> tuple[Tensor, Any]:
        hidden = model(numbers, state)
        return hidden.raw, hidden.state

    words = task.corpus.vocabulary
    digest = hashlib.sha256(f"{trained.folder.cell().id} {model.settings!r}".encode())
    digest.update("\n".join(words.tokens).encode("utf-8", "surrogatepass"))
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)}".encode())
        digest.update(memoryview(tensor.contiguous().numpy()).cast("B"))
    vectors = model.embedding.weight.numpy()
    return WordModel(read, words, vectors.shape[1], digest.hexdigest(), vectors)


def text_vectors(
    settings: SgnsSettings, progress: Progress | None = None
) -> Callable[[Sequence[str]], Rows]:
    """What gives words their vectors by SGNS, trained on the text of a run.

    The text has to be at hand where they are trained for the first time; then they are kept. A word
    that the text does not have is looked up in lower case, and else has the vector of `<unk>`; that
    is zeros if the text has none.

    Raises:
        RunError: it is no run of a language model, or its text is not at hand.
        MissingPackageError: gensim is not installed.
    """
    trained, model, task = _language_run(settings.run)
    words, width = task.corpus.vocabulary, settings.width or model.embedding.embedding_dim
    about = [trained.folder.info.data.fingerprint, width, settings.epochs, settings.seed]

    def make(folder: Path) -> None:
        trained.check_data()
        np.save(folder / "vectors.npy", _sgns(task.corpus, width, settings, progress))

    vectors = kept("sgns", key_of(["sgns 1", *map(str, about)]), make, progress)["vectors"]
    return lambda wanted: vectors[known_as(wanted, words)]


def _sgns(
    corpus: Corpus, width: int, settings: SgnsSettings, progress: Progress | None
) -> NDArray[np.float32]:
    """Vectors of all words of a corpus in their order; zeros for one that has none."""
    label = f"training SGNS on {corpus.name}"
    found = skip_gram(
        corpus,
        width,
        SkipGramSettings(epochs=settings.epochs, seed=settings.seed),
        None if progress is None else lambda done, total: progress(label, done, total),
    )
    vectors = np.zeros((len(corpus.vocabulary), width), np.float32)
    vectors[[corpus.vocabulary[word] for word in found.words]] = found.vectors
    return vectors


def _language_run(path: str, alone: bool = False) -> tuple[Trained, LanguageModel, LanguageTask]:
    with torch.random.fork_rng(devices=()):  # first weights, which are replaced at once
        trained = load_trained(path, alone=alone)
    if not isinstance(trained.model, LanguageModel) or not isinstance(trained.task, LanguageTask):
        kind = trained.folder.info.recipe.task.kind
        raise RunError(f"{path} has learned {kind}; words can become states of language models")
    return trained, trained.model, trained.task
