"""Flair's character language models, run by the engine: a vector for each word in its sentence.

Akbik, Blythe and Vollgraf, "Contextual String Embeddings for Sequence Labeling" (COLING 2018). A
sentence is read character by character, its words with one blank between them, a line feed before
and a blank behind. A word's vector is the state of the model that reads forwards after the word's
last character, once the blank behind it is read; of the one that reads backwards, that
after the word's first character and the blank before it. A character that the model does not know
has the number 0, Flair's `<unk>`.

Sentences are run in batches of like lengths, and long ones piece by piece with the state carried
on: neither changes a result.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cellwright.base.errors import shown
from cellwright.base.progress import Progress
from cellwright.embeddings.errors import EmbeddingError
from cellwright.embeddings.flair_files import ModelFile, find_model, read_model
from cellwright.embeddings.kept_arrays import kept, key_of
from cellwright.engine import Recurrent

END = " "
"""What stands behind a sentence, so that its last word has a blank behind it too."""

BATCH = 32
"""Sentences that are run together."""

STEPS = 64
"""Characters that are run at a time: the engine keeps all gates of all of them."""

Sentences = Sequence[Sequence[str]]


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
        texts = [_Text(words, self) for words in sentences]
        first = np.cumsum([0, *(len(text.places) for text in texts)])
        if out is None:
            out = torch.empty(int(first[-1]), self.size, dtype=torch.float32)
        order = sorted(range(len(texts)), key=lambda number: -len(texts[number].characters))
        total, done = sum(len(text.characters) for text in texts), 0
        with torch.no_grad():
            for at in range(0, len(order), BATCH):
                numbers = [number for number in order[at : at + BATCH] if len(texts[number].places)]
                batch = [texts[number] for number in numbers]
                rows = [first[number] + np.arange(len(texts[number].places)) for number in numbers]
                for found, targets in self._run(batch, rows):
                    out[targets] = found
                done += sum(len(texts[number].characters) for number in order[at : at + BATCH])
                if progress is not None:
                    progress(f"reading sentences {self._way}", done, total)
        return out

    @property
    def _way(self) -> str:
        return "forwards" if self.forwards else "backwards"

    def _run(
        self, batch: Sequence[_Text], rows: Sequence[NDArray[np.int64]]
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Run texts, the longest first; yields states that are wanted, and their rows in the
        result."""
        if not batch:
            return
        lengths = np.array([len(text.characters) for text in batch])
        places = np.concatenate([text.places for text in batch])
        owners = np.repeat(np.arange(len(batch)), [len(text.places) for text in batch])
        targets = np.concatenate(list(rows))
        state: Any = None
        for begin in range(0, int(lengths[0]), STEPS):
            steps = min(STEPS, int(lengths[0]) - begin)
            active = int((lengths > begin).sum())
            numbers = torch.zeros(steps, active, dtype=torch.int64)
            for row, text in enumerate(batch[:active]):
                piece = text.characters[begin : begin + steps]
                numbers[: len(piece), row] = torch.from_numpy(piece)
            if state is not None:
                state = _rows(state, active)
            left = np.minimum(lengths[:active] - begin, steps)
            result = self.rnn(self.encoder[numbers], state, torch.from_numpy(left))
            output, state = cast(Tensor, result[0]), result[1]
            here = np.flatnonzero((places >= begin) & (places < begin + steps))
            if len(here):
                wanted = output[places[here] - begin, owners[here]]
                if self.projection is not None:
                    wanted = nn.functional.linear(wanted, *self.projection)
                yield wanted, torch.from_numpy(targets[here])


class _Text:
    """A sentence as numbers of characters, and the place of each word's state among them."""

    def __init__(self, words: Sequence[str], model: CharacterModel) -> None:
        text = " ".join(words)
        lengths = np.array([len(word) for word in words], dtype=np.int64)
        ends = np.cumsum(lengths + 1) - 1  # behind the last character of each word
        starts = ends - lengths
        ways = ends if model.forwards else len(text) - starts
        self.places = len(model.start) + ways
        read = f"{model.start}{text if model.forwards else text[::-1]}{END}"
        find = model.characters.get
        self.characters = np.array([find(character, 0) for character in read], dtype=np.int64)


def kept_states(
    models: Sequence[CharacterModel], sentences: Sentences, progress: Progress | None = None
) -> NDArray[np.float32]:
    """The vectors of all words by several models side by side, (words, sum of their sizes):
    computed once, kept in the cache folder, and mapped from there.

    Raises:
        EmbeddingError: they cannot be kept.
    """
    check_sentences(sentences)
    size = sum(model.size for model in models)
    count = sum(map(len, sentences))

    def make(folder: Path) -> None:
        mapped = np.lib.format.open_memmap(
            folder / "states.npy", mode="w+", dtype=np.float32, shape=(count, size)
        )
        at = 0
        for model in models:
            out = torch.from_numpy(mapped[:, at : at + model.size])
            model.states(sentences, progress, out)
            at += model.size
        mapped.flush()

    prints = [model.fingerprint() for model in models]
    words = (part for sentence in sentences for part in (str(len(sentence)), *sentence))
    key = key_of(["character states 1", str(len(prints)), *prints, *words])
    return kept("flair", key, make, progress)["states"]


def check_sentences(sentences: Sentences) -> None:
    """Say so if something is no list of lists of words.

    Raises:
        EmbeddingError: it is not.
    """
    for sentence in [sentences] if isinstance(sentences, str) else sentences:
        if isinstance(sentence, str) or not all(isinstance(word, str) for word in sentence):
            raise EmbeddingError(f"a sentence has to be a list of words, not {shown(sentence)}")


def _rows(state: Any, count: int) -> Any:
    if isinstance(state, Tensor):
        return state[..., :count, :]
    return tuple(_rows(part, count) for part in state)


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
