"""Taggers of CoNLL-2003: a training epoch and a prediction pass, beside Flair's SequenceTagger.

    python -m venv flair-env && flair-env/bin/pip install -c constraints.txt flair==0.15.1
    python benchmarks/tagging.py --flair flair-env/bin/python
    python benchmarks/tagging.py --flair flair-env/bin/python --whole   # all batches: long
    python benchmarks/tagging.py --cells gru                            # ours alone

flair pins older versions of transformers, so it lives in an environment of its own (1.5 GB), and
`flair_tagger.py` is what runs there. It needs `CELLWRIGHT_DATA` with CoNLL-2003 and GloVe's vectors
of 50 numbers.

Both have a cell of 256 in each direction, frozen vectors, a linear layer on them, dropout of words
and the locked one, a CRF, SGD at 0.1, gradients clipped at 5; both have the same batches of 32
sentences, drawn by our seed, and one thread. A step has everything from the sentences' words to the
new weights. Ours predicts and counts the spans that are right; Flair's puts them into its
sentences. Before anything is timed, ours around `lstm` gets Flair's weights, and has to give the
same loss and the same tags.

The contenders take turns, a few batches each; for each batch the best of all rounds counts, and an
epoch is their sum, extrapolated from the batches that were trained. Seconds of the processor vary
less where others use the machine as well; those of the clock are beside them.

The limit is what would be left if there were nothing but the matrix products of the model, of the
words alone, at the rate of a 2048-cubed one in the same run (three times as many for a step).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from flair_tagger import CHECKED, timed
from measure import PRODUCT_FLOPS, matrix_product
from rich.console import Console
from rich.table import Table
from torch import nn

from cellwright.base.seeds import seeded
from cellwright.cell.zoo import zoo
from cellwright.data.tagged.schemes import spans_of
from cellwright.embeddings.vectors import word_vectors
from cellwright.engine import from_torch
from cellwright.models.settings import TaggerSettings
from cellwright.models.tagger import TaggedBatch, Tagger
from cellwright.tasks.registry import open_task
from cellwright.tasks.tagging.settings import TaggingSettings
from cellwright.tasks.tagging.task import TaggingTask
from cellwright.training.gradients import gradients_of
from cellwright.training.optimizers import descend, make_optimizer
from cellwright.training.settings import TrainingSettings

FLAIR, PRODUCT = "Flair's lstm", "matrix product"
SEED = 1
TURN, PASSES = 10, 3  # batches to train, and predictions, at each of a contender's turns
CLOSE = 1e-4
SCHEDULE = TrainingSettings(
    learning_rate=0.1, weight_decay=0.0, clip=5.0, batch=32, evaluation_batch=32
)

Times = list[tuple[float, float]]
"""Seconds and seconds of the processor, for each thing that was done."""

Found = dict[str, tuple[float, float]]
"""The best of them, by work."""


class Ours:
    """Our tagger around a cell, in the middle of its training."""

    def __init__(self, cell: str, task: TaggingTask, settings: TaggerSettings) -> None:
        self._task = task
        with seeded(SEED, "weights"):
            self.model = task.model(zoo[cell], settings)
        self._weights = list(self.model.parameters())
        self._optimizer = make_optimizer(self._weights, SCHEDULE)
        self._batches = task.batches("train", SCHEDULE.batch, SEED, 0)

    def train(self, number: int) -> tuple[float, float]:
        """What a step takes, as `Training` takes it."""
        return timed(self._step, number)

    def _step(self, number: int) -> None:
        batch = self._batches[number]
        if not self.model.training:
            self.model.train()
        with seeded(SEED, "dropout", 0, number):
            loss = self.model.loss(batch, ())
        gradients = gradients_of(loss.mean + loss.penalty, self._weights)
        rate = SCHEDULE.learning_rate
        descend(self._optimizer, self._weights, gradients, rate=rate, clip=SCHEDULE.clip)

    def multiply_adds(self) -> int:
        """Those of a word, forward."""
        parts = (self.model.recurrent, self.model.relearn, self.model.decision)
        matrices = (p for part in parts for p in part.parameters() if p.dim() == 2)
        return sum(matrix.numel() for matrix in matrices)

    def predict(self) -> tuple[float, float]:
        """What a pass over the validation part takes."""
        batches = self._task.ordered("valid", SCHEDULE.evaluation_batch)
        return timed(lambda: self._task.measure(self.model, batches))


class Flair:
    """Flair's tagger, in a process of its own."""

    def __init__(self, python: str, folder: Path) -> None:
        script = Path(__file__).with_name("flair_tagger.py")
        quiet = {**os.environ, "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [python, os.fspath(script), os.fspath(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=quiet,
        )  # fmt: skip
        self.version = self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit("flair_tagger.py ended early; what it said is above")
        return json.loads(line)

    def _ask(self, command: str) -> tuple[float, float]:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        wall, cpu = self._answer()
        return wall, cpu

    def train(self, number: int) -> tuple[float, float]:
        """What a step takes."""
        return self._ask(f"train {number}")

    def predict(self) -> tuple[float, float]:
        """What a pass over the same sentences takes."""
        return self._ask("predict")

    def check(self) -> None:
        """Write what ours is compared with."""
        self._ask("check")

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


# -- the same for both ---------------------------------------------------------------------


def as_texts(task: TaggingTask, batch: TaggedBatch) -> Iterator[tuple[list[str], list[Any]]]:
    """Words and spans of each sentence of a batch."""
    data = task.data
    for column, length in enumerate(batch.lengths.tolist()):
        words = data.vocabulary.decode(batch.words[:length, column].tolist())
        tags = data.tags.decode(batch.tags[:length, column].tolist())
        yield words, spans_of(tags, data.tags.scheme)


def write_job(folder: Path, task: TaggingTask, batches: int, settings: TaggerSettings) -> None:
    """What Flair's side reads."""
    training = task.batches("train", SCHEDULE.batch, SEED, 0)
    valid = task.ordered("valid", SCHEDULE.evaluation_batch)
    job = {
        "words": task.data.vocabulary.tokens,
        "types": task.data.tags.types,
        "batches": [list(as_texts(task, training[number])) for number in range(batches)],
        "sentences": [each for batch in valid for each in as_texts(task, batch)],
        "hidden": settings.hidden,
        "batch": SCHEDULE.batch,
        "rate": SCHEDULE.learning_rate,
        "clip": SCHEDULE.clip,
    }
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    [vectors] = task.settings.embeddings
    matrix = word_vectors(vectors.name, task.data.vocabulary.tokens).matrix
    np.save(folder / "vectors.npy", np.asarray(matrix, np.float32))


def take_weights(model: Tagger, theirs: Any, names: Sequence[str]) -> None:
    """Give our tagger around `lstm` the weights of Flair's."""
    weights = {name: torch.from_numpy(theirs[name]) for name in theirs.files if "." in name}
    order = list(theirs["tags"])
    at = [order.index(name) for name in names]
    start, stop = order.index("<START>"), order.index("<STOP>")
    lstm = nn.LSTM(model.recurrent.input_size, model.settings.hidden, bidirectional=True)
    lstm.load_state_dict(_below(weights, "rnn."))
    model.recurrent.load_state_dict(from_torch.parameters(lstm))
    model.relearn.load_state_dict(_below(weights, "embedding2nn."))
    into = weights["crf.transitions"]  # [to, from]
    with torch.no_grad():
        model.decision.weight.copy_(weights["linear.weight"][at])
        model.decision.bias.copy_(weights["linear.bias"][at])
        model.transitions.copy_(into[at][:, at].T)
        model.start.copy_(into[at, start])
        model.end.copy_(into[stop, at])


def _below(weights: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {k.removeprefix(prefix): v for k, v in weights.items() if k.startswith(prefix)}


@torch.no_grad()
def check_equal(flair: Flair, folder: Path, task: TaggingTask, settings: TaggerSettings) -> None:
    """Stop if Flair's tagger computes something else than ours with its weights."""
    flair.check()
    theirs = np.load(folder / "check.npz")
    model = task.model(zoo["lstm"], settings)
    take_weights(model, theirs, task.data.tags.names)
    model.eval()
    loss = float(model.loss(task.batches("train", SCHEDULE.batch, SEED, 0)[0], ()).mean)
    if not abs(loss - float(theirs["loss"])) <= CLOSE * abs(loss):
        sys.exit(f"Flair's loss of the first batch is {theirs['loss']}, ours {loss}")
    [batch] = task.limited({"valid": CHECKED}).ordered("valid", CHECKED)
    ours = [name for tags in model.tag(batch) for name in task.data.tags.decode(tags)]
    if ours != theirs["guessed"].tolist():
        sys.exit("Flair finds other tags than ours with the same weights")


# -- measuring -----------------------------------------------------------------------------


def best_of(rounds: list[Times]) -> tuple[float, float]:
    """The sums over all things of their best times, in seconds and seconds of the processor."""
    found = np.array(rounds).min(0).sum(0)
    return float(found[0]), float(found[1])


def measure(contenders: dict[str, Any], batches: int, rounds: int) -> dict[str, Found]:
    """Training of `batches` batches and a prediction pass, of all contenders; and the product."""
    product, products = matrix_product(), []
    training: dict[str, list[Times]] = {name: [] for name in contenders}
    predicting: dict[str, list[Times]] = {name: [] for name in contenders}
    for contender in contenders.values():  # the first ones pay for caches and memory
        contender.train(0)
    for _ in range(rounds):
        for name in contenders:
            training[name].append([])
        for first in range(0, batches, TURN):
            for name, contender in contenders.items():
                turn = range(first, min(first + TURN, batches))
                training[name][-1] += [contender.train(number) for number in turn]
        for name, contender in contenders.items():
            predicting[name] += [[contender.predict()] for _ in range(PASSES)]
        products.append([timed(product)])
    found = {
        name: {"training": best_of(training[name]), "prediction": best_of(predicting[name])}
        for name in contenders
    }
    return {**found, PRODUCT: {"product": best_of(products)}}


def limits(ours: Ours, words: dict[str, int], product: float) -> dict[str, float]:
    """Seconds that the matrix products of training and prediction would take."""
    each = 2 * ours.multiply_adds() * product / PRODUCT_FLOPS
    return {"training": 3 * each * words["training"], "prediction": each * words["prediction"]}


def shown(found: dict[str, Found], least: dict[str, dict[str, float]], scale: float) -> Table:
    """The table; `scale` is epochs for what was trained."""
    table = Table(title="one thread; s: of the processor; ×: how many times as fast as Flair")
    for heading in ("work", "who", "s", "×", "× at the limit", "s by the clock", "×"):
        table.add_column(heading, justify="left" if heading in ("work", "who") else "right")
    for work in ("training", "prediction"):
        factor = scale if work == "training" else 1.0
        for name in (name for name in found if name != PRODUCT):
            wall, cpu = found[name][work]
            flair_wall, flair_cpu = found[FLAIR][work] if FLAIR in found else (math.nan, math.nan)
            limit = f"{flair_cpu / least[name][work]:.2f}" if name in least else "–"
            table.add_row(
                work, name, f"{factor * cpu:.2f}", f"{flair_cpu / cpu:.2f}", limit,
                f"{factor * wall:.2f}", f"{flair_wall / wall:.2f}",
            )  # fmt: skip
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare, measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--flair", metavar="PYTHON", help="the Python that has flair")
    parser.add_argument("--cells", nargs="+", default=["lstm", "darts-v1"])
    parser.add_argument("--batches", type=int, default=60, help="of an epoch that are trained")
    parser.add_argument("--whole", action="store_true", help="train the whole epoch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", default="conll2003")
    parser.add_argument("--vectors", default="glove-50d")
    parser.add_argument("--hidden", type=int, default=256)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    console = Console(width=100)
    given = TaggingSettings.model_validate({"data": options.data, "embeddings": [options.vectors]})
    task = open_task(given)
    assert isinstance(task, TaggingTask)
    settings = TaggerSettings(hidden=options.hidden, loss="sum")
    whole = len(task.batches("train", SCHEDULE.batch, SEED, 0))
    batches = whole if options.whole else min(options.batches, whole)
    contenders: dict[str, Any] = {cell: Ours(cell, task, settings) for cell in options.cells}
    with tempfile.TemporaryDirectory() as scratch:
        if options.flair:
            write_job(Path(scratch), task, batches, settings)
            contenders[FLAIR] = Flair(options.flair, Path(scratch))
            check_equal(contenders[FLAIR], Path(scratch), task, settings)
            console.print(f"flair {contenders[FLAIR].version}: same loss and tags as ours")
        else:
            console.print("without --flair there is nothing to compare with")
        found = measure(contenders, batches, options.rounds)
        if options.flair:
            contenders[FLAIR].close()
    console.print(
        f"{batches} of {whole} batches of {SCHEDULE.batch} sentences, best of {options.rounds} "
        f"rounds" + ("" if batches == whole else ", extrapolated to the epoch")
    )
    training = task.batches("train", SCHEDULE.batch, SEED, 0)[:batches]
    words = {
        "training": sum(int(batch.lengths.sum()) for batch in training),
        "prediction": int(task.data.valid.lengths.sum()),
    }
    product = found[PRODUCT]["product"][1]
    least = {cell: limits(contenders[cell], words, product) for cell in options.cells}
    console.print(shown(found, least, whole / batches))


if __name__ == "__main__":
    main()
