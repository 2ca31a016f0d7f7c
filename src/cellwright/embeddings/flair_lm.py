"""Flair's character language models, run by the engine: a vector for each word in its sentence.

Akbik, Blythe and Vollgraf, "Contextual String Embeddings for Sequence Labeling" (COLING 2018). A
sentence is read character by character, its words with one blank between them, a line feed before
and a blank behind. A word's vector is the state of the model that reads forwards after the word's
last character, once the blank behind it is read; of the one that reads backwards, that
after the word's first character and the blank before it. A character that the model does not know
has the number 0, Flair's `<unk>`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cellwright.base.progress import Progress
from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.flair_files import ModelFile, find_model, read_model
from cellwright.embeddings.kept_features import Features, Sentences, check_sentences
from cellwright.embeddings.text_states import Text, states_at
from cellwright.engine import Recurrent
from cellwright.engine.linear import linear

END = " "
"""What stands behind a sentence, so that its last word has a blank behind it too."""


class CharacterModel:
    """A character language model of Flair's, frozen.

    Args:
        name: a name of `KNOWN_MODELS`, such as `news-forward-fast`, or a file.
        forwards: the direction, where the file does not say it.
        backend: of the engine.

    Attributes:
        size: numbers of each word's vector.
        forwards: whether it reads forwards.
    """

    def __init__(
        self,
        name: str | os.PathLike[str],
        forwards: bool | None = None,
        backend: str = "auto",
    ) -> None:
        file = read_model(find_model(name), forwards)
        self.path, self.forwards, self.start = file.path, file.forwards, file.start
        self.characters = file.characters
        self.encoder = _weight(file, "encoder.weight", 2)
        if not file.characters or max(file.characters.values()) >= len(self.encoder):
            raise _unfit(file, "it has other characters than vectors for them")
        self.rnn = _recurrent(file, backend)
        self.projection: tuple[Tensor, Tensor] | None = None
        self.size = self.rnn.hidden_size
        if "proj.weight" in file.tensors:
            weight, bias = _weight(file, "proj.weight", 2), _weight(file, "proj.bias", 1)
            if weight.shape != (len(bias), self.size):
                raise _unfit(file, "the shapes of its projection do not fit")
            self.projection = weight, bias
            self.size = len(bias)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that the vectors depend on."""
        digest = hashlib.sha256(repr((self.forwards, self.start)).encode())
        digest.update(repr(sorted(self.characters.items())).encode("utf-8", "surrogatepass"))
        weights = [self.encoder, *self.rnn.state_dict().values(), *(self.projection or ())]
        for tensor in weights:
            digest.update(repr(tuple(tensor.shape)).encode())
            digest.update(memoryview(tensor.contiguous().numpy()).cast("B"))
        return digest.hexdigest()

    def states(
        self, sentences: Sentences, progress: Progress | None = None, out: Tensor | None = None
    ) -> Tensor:
        """The vectors of all words of all sentences, in their order: (words, size).

        Args:
            sentences: each a list of words.
            progress: called with how many characters are done.
            out: where to write them, if not into a new tensor.
        """
        check_sentences(sentences)
        texts = [self._text(words) for words in sentences]
        if out is None:
            count = sum(len(text.places) for text in texts)
            out = torch.empty(count, self.size, dtype=torch.float32)
        way = "forwards" if self.forwards else "backwards"
        states_at(self._read, texts, out, f"reading sentences {way}", progress)
        return out

    def _text(self, words: Sequence[str]) -> Text:
        """A sentence as numbers of characters, and the place of each word's state among them."""
        text = " ".join(words)
        lengths = np.array([len(word) for word in words], dtype=np.int64)
        ends = np.cumsum(lengths + 1) - 1  # behind the last character of each word
        starts = ends - lengths
        ways = ends if self.forwards else len(text) - starts
        read = f"{self.start}{text if self.forwards else text[::-1]}{END}"
        numbers = [self.characters.get(character, 0) for character in read]
        return Text(np.array(numbers, dtype=np.int64), len(self.start) + ways)

    def _read(self, numbers: Tensor, state: Any, lengths: Tensor) -> tuple[Tensor, Any]:
        output, state = self.rnn(self.encoder[numbers], state, lengths)
        if self.projection is not None:
            output = linear(output, *self.projection)
        return output, state


def character_features(
    models: Sequence[CharacterModel], sentences: Sentences, half: bool = False
) -> Features:
    """What several models side by side have for all words, (words, sum of their sizes)."""

    def compute(out: Tensor, progress: Progress | None) -> None:
        at = 0
        for model in models:
            model.states(sentences, progress, out[:, at : at + model.size])
            at += model.size

    prints = [model.fingerprint for model in models]
    about = ["character states 1", str(len(prints)), *prints]
    size = sum(model.size for model in models)
    return Features("flair", about, sentences, size, compute, half)


def kept_states(
    models: Sequence[CharacterModel],
    sentences: Sentences,
    progress: Progress | None = None,
    half: bool = False,
) -> NDArray[Any]:
    """The vectors of all words by several models side by side, (words, sum of their sizes):
    computed once, kept in the cache folder, and mapped from there.

    Args:
        models: the models.
        sentences: each a list of words.
        progress: called with how many characters are done.
        half: keep them in half precision.

    Raises:
        EmbeddingError: they cannot be kept.
    """
    return character_features(models, sentences, half).get(progress)


def _recurrent(file: ModelFile, backend: str) -> Recurrent:
    weights = {
        name.removeprefix("rnn."): _weight(file, name, None)
        for name in file.tensors
        if name.startswith("rnn.")
    }
    layers = sum(name.startswith("weight_ih") for name in weights)
    inputs = _weight(file, "rnn.weight_ih_l0", 2)
    hidden = _weight(file, "rnn.weight_hh_l0", 2)
    gates, rest = divmod(len(hidden), max(hidden.shape[1], 1))
    kinds: dict[int, type[nn.LSTM] | type[nn.GRU]] = {4: nn.LSTM, 3: nn.GRU}
    if gates not in kinds or rest:
        raise _unfit(file, "its layers are neither of an LSTM nor of a GRU")
    with torch.device("meta"):
        module = kinds[gates](inputs.shape[1], hidden.shape[1], layers)
    try:
        module.load_state_dict(weights, assign=True)
        if inputs.shape[1] != file.tensors["encoder.weight"].shape[1]:
            raise _unfit(file, "its layers take other vectors than it has")
        with torch.random.fork_rng(devices=()):  # made weights, which are replaced at once
            rnn = Recurrent.from_torch(module, backend=backend)
    except RuntimeError as error:
        raise _unfit(file, str(error).split("\n")[-1].strip()) from None
    return rnn.requires_grad_(False).eval()


def _weight(file: ModelFile, name: str, dimensions: int | None) -> Tensor:
    tensor = file.tensors.get(name)
    if tensor is None:
        raise _unfit(file, f"it has no {name}")
    if dimensions is not None and tensor.dim() != dimensions:
        raise _unfit(file, f"its {name} has {tensor.dim()} dimensions, not {dimensions}")
    if not tensor.is_floating_point() or not bool(torch.isfinite(tensor).all()):
        raise _unfit(file, f"its {name} has numbers that are not finite")
    return tensor.to(torch.float32).contiguous()


def _unfit(file: ModelFile, why: str) -> EmbeddingError:
    return EmbeddingError(f"{file.path}: is no character language model of Flair's: {why}")
