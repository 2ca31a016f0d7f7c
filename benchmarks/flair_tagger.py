"""Flair's tagger, for `tagging.py`: trains and predicts when told to; run by the Python with flair.

    FLAIR_PYTHON benchmarks/flair_tagger.py FOLDER

FOLDER has job.json (words, types of spans, batches and sentences, sizes) and vectors.npy, one row
for each word. Each line that is read is a command, and each is answered by a line of JSON:
`train 3` takes a training step with the fourth batch, `predict` tags all sentences; the answer is
the seconds and processor seconds that it took. `check` writes check.npz: the weights, and the loss
of the first batch and the tags of the first sentences without dropout.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

CHECKED = 64
"""Sentences whose tags are compared."""


def sentence_of(words: list[str], spans: list[tuple[str, int, int]]):
    """Flair's object for a sentence."""
    from flair.data import Sentence

    sentence = Sentence(words)
    for kind, start, end in spans:
        sentence[start:end].add_label("ner", kind)
    return sentence


def tagger_of(job: dict[str, Any], vectors: np.ndarray):
    """Flair's model with the same sizes as ours."""
    from flair.data import Dictionary
    from flair.embeddings import WordEmbeddings
    from flair.models import SequenceTagger

    numbers = {word: number for number, word in enumerate(job["words"])}
    width = vectors.shape[1]
    embeddings = WordEmbeddings(None, vocab=numbers, embedding_length=width, name="vectors")
    with torch.no_grad():
        embeddings.embedding.weight[:-1] = torch.from_numpy(vectors)
    types = Dictionary(add_unk=False)
    for kind in job["types"]:
        types.add_item(kind)
    types.span_labels = True
    return SequenceTagger(embeddings, types, "ner", hidden_size=job["hidden"])


class Work:
    """The model, its optimizer and its data."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
        torch.manual_seed(0)
        self._model = tagger_of(job, np.load(folder / "vectors.npy"))
        self._batches = [[sentence_of(*each) for each in batch] for batch in job["batches"]]
        self._sentences = [sentence_of(*each) for each in job["sentences"]]
        self._size, self._clip = job["batch"], job["clip"]
        learned = [p for p in self._model.parameters() if p.requires_grad]
        self._optimizer = torch.optim.SGD(learned, lr=job["rate"])

    def train(self, number: int) -> None:
        """One step, as Flair's trainer takes it, without what it logs."""
        from flair.training_utils import store_embeddings

        batch, model = self._batches[number], self._model
        model.train()
        self._optimizer.zero_grad()
        loss, _ = model.forward_loss(batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), self._clip)
        self._optimizer.step()
        float(loss.detach())
        store_embeddings(batch, "none")

    def predict(self) -> None:
        """Tag all sentences."""
        self._model.eval()
        self._model.predict(self._sentences, mini_batch_size=self._size, label_name="guess")

    @torch.no_grad()
    def check(self) -> None:
        """Write what ours is compared with."""
        model = self._model.eval()
        loss, _ = model.forward_loss(self._batches[0])
        some = self._sentences[:CHECKED]
        model.predict(some, self._size, label_name="guess", force_token_predictions=True)
        guessed = [token.get_label("guess").value for each in some for token in each]
        weights = {name: value.numpy() for name, value in model.state_dict().items()}
        names = model.label_dictionary.get_items()
        np.savez(
            self._folder / "check.npz", loss=float(loss), guessed=guessed, tags=names, **weights
        )


def timed(work: Callable[..., object], *arguments: int) -> tuple[float, float]:
    """Seconds, and seconds of the processor."""
    start, start_cpu = time.perf_counter(), time.process_time()
    work(*arguments)
    return time.perf_counter() - start, time.process_time() - start_cpu


def main() -> None:
    """Do as told, line after line."""
    answers, sys.stdout = sys.stdout, sys.stderr  # flair logs to standard output
    import flair

    torch.set_num_threads(1)
    flair.device = torch.device("cpu")
    work = Work(Path(sys.argv[1]))
    print(json.dumps(flair.__version__), file=answers, flush=True)
    for line in sys.stdin:
        what, *numbers = line.split()
        took = timed(getattr(work, what), *map(int, numbers))
        print(json.dumps(took), file=answers, flush=True)


if __name__ == "__main__":
    main()
