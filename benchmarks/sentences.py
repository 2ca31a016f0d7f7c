"""Sentence pairs: a training epoch around an ENAS cell beside `nn.LSTM` and a plain loop.

    python benchmarks/sentences.py
    python benchmarks/sentences.py --models esim --cell sentpair-4 --threads 2
    python benchmarks/sentences.py --whole        # all batches of an epoch: long

BiLSTM-Max and ESIM on SICK's relatedness with GloVe, hidden size 300, batches of 64, on one thread:
our model around a cell of 6 nodes that ENAS-pairs found; the same model with `nn.LSTM` over packed
sequences in place of our layers; and with the cell as a plain PyTorch loop over time steps: over
the steps of a batch, whose sentences are of like lengths, and as the code that the paper adapts has
it, over 35 steps for all sentences, padding included, for each of the two sentences by itself. All
read the same batches, and a step has everything from the words' numbers to the new weights. Before
anything is timed the loops are given our weights, and have to give the same loss, and the same
gradients of all that stands around the cell.

The contenders take turns, one batch each; for each batch the best of all rounds counts, and an
epoch is their sum, extrapolated from the batches that were trained. It needs `CELLWRIGHT_DATA` with
SICK and GloVe's vectors. ENAS-pairs reports cells of ENAS that are 25 times as slow as LSTMs.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any

import torch
from plain import DartsLoop
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn import functional as F

from cellwright import Recurrent, zoo
from cellwright.base.seeds import seeded
from cellwright.cell.listings.published import SENTENCE_PAIRS
from cellwright.engine.ragged import Ragged
from cellwright.models.sentences.batch import SentenceBatch
from cellwright.models.sentences.sentence_model import SentenceModel
from cellwright.models.sentences.settings import BlmSettings, EsimSettings
from cellwright.tasks.registry import open_task
from cellwright.tasks.sentences.settings import SentencesSettings
from cellwright.tasks.sentences.task import SentencesTask
from cellwright.training.gradients import gradients_of
from cellwright.training.optimizers import descend, make_optimizer
from cellwright.training.settings import TrainingSettings

OURS, LSTM, LOOP, PADDED = "ours", "nn.LSTM", "plain loop", "padded loop"
LONGEST = 35  # words, to which the code that ENAS-pairs adapts pads all sentences
HIDDEN, BATCH, SEED = 300, 64, 1
CLOSE = 1e-4
SCHEDULE = TrainingSettings(
    optimizer="adam", learning_rate=7e-4, weight_decay=0.0, clip=10.0, batch=BATCH
)
MODELS: dict[str, BlmSettings | EsimSettings] = {
    "blm": BlmSettings(hidden=HIDDEN),
    "esim": EsimSettings(hidden=HIDDEN, hidden_composition=HIDDEN),
}


class LoopLayer(nn.Module):
    """A cell as a plain loop in both directions, over padded sentences.

    Args:
        rnn: our layer, whose weights it takes.
        number: of the cell among those of ENAS-pairs, from 1 on.
        padded: run all sentences over `LONGEST` steps, and those of a pair one after the other.
    """

    def __init__(self, rnn: Recurrent, number: int, *, padded: bool = False) -> None:
        super().__init__()
        self._padded = padded
        listing = SENTENCE_PAIRS[number - 1]
        nodes = [(op, source) for source, op in listing.later]
        self.loops = nn.ModuleList()
        for direction in ("layer0", "layer0_reverse"):
            one = copy.copy(rnn)
            one._modules = {"layer0": rnn._modules[direction]}
            self.loops.append(DartsLoop(one, listing.first, nodes, listing.loose_ends))

    def forward(self, x: Tensor, ragged: Ragged) -> Tensor:
        """What the layer says at each word, of what it reads there."""
        said = []
        for backwards, loop in enumerate(self.loops):
            steps = ragged.enter(x, bool(backwards))
            found = _over_padding(loop, steps) if self._padded else loop(steps)
            said.append(ragged.leave(found, bool(backwards)))
        return torch.cat(said, -1)


def _over_padding(loop: nn.Module, x: Tensor) -> Tensor:
    """As a loop that knows no lengths runs, over half of the rows and then the other half."""
    more = max(0, LONGEST - len(x))
    whole = F.pad(x, (0, 0, 0, 0, 0, more))
    return torch.cat([loop(half) for half in whole.chunk(2, 1)], 1)[: len(x)]


class TorchLayer(nn.Module):
    """`nn.LSTM` over packed sequences."""

    def __init__(self, rnn: Recurrent) -> None:
        super().__init__()
        self.lstm = nn.LSTM(rnn.input_size, rnn.hidden_size, bidirectional=True)

    def forward(self, x: Tensor, ragged: Ragged) -> Tensor:
        """What the layer says at each word, of what it reads there."""
        said: Tensor = self.lstm(ragged.packed(x))[0].data
        return said


def with_layers(model: SentenceModel, make: Callable[[Recurrent], nn.Module]) -> SentenceModel:
    """The same model with other layers; what stands around them is copied."""
    other = copy.deepcopy(model)
    layers = [make(layer) for layer in other.recurrent]
    other.recurrent = nn.ModuleList(layers)

    def recur(self: SentenceModel, number: int, x: Tensor, ragged: Ragged, theta: Any) -> Tensor:
        said: Tensor = self.recurrent[number](x, ragged)
        return said

    other.recur = MethodType(recur, other)  # type: ignore[method-assign]
    return other


class Contender:
    """A model in the middle of its training."""

    def __init__(self, model: SentenceModel) -> None:
        self.model = model.train()
        self._weights = list(model.parameters())
        self._optimizer = make_optimizer(self._weights, SCHEDULE)

    def step(self, batches: Sequence[SentenceBatch], number: int) -> float:
        """The seconds of the processor that a step takes, as `Training` takes it."""
        start = time.process_time()
        with seeded(SEED, "dropout", 0, number):
            loss = self.model.loss(batches[number], ())
        gradients = gradients_of(loss.mean + loss.penalty, self._weights)
        rate = SCHEDULE.learning_rate
        descend(self._optimizer, self._weights, gradients, rate=rate, clip=SCHEDULE.clip)
        return time.process_time() - start


def same(ours: SentenceModel, loop: SentenceModel, batch: SentenceBatch) -> None:
    """Refuse a loop that computes something else.

    Raises:
        SystemExit: it does.
    """
    found = []
    for model in (ours.eval(), loop.eval()):
        weights = [p for name, p in model.named_parameters() if not name.startswith("recurrent")]
        loss = model.loss(batch, ()).mean
        found.append([loss.detach(), *torch.autograd.grad(loss, weights)])
    for first, second in zip(*found, strict=True):
        if (first - second).abs().max() > CLOSE * first.abs().max() + 1e-7:
            raise SystemExit("the plain loop computes something else than our model")


def measured(
    task: SentencesTask, settings: Any, cell: str, rounds: int, many: int | None
) -> tuple[dict[str, float], int]:
    """Seconds of an epoch for each contender, and how many batches an epoch has."""
    with seeded(SEED, "weights"):
        model = task.model(zoo[cell], settings)
    number = int(cell.rpartition("-")[2])
    batches = task.batches("train", BATCH, SEED, 0)
    loop = with_layers(model, lambda rnn: LoopLayer(rnn, number))
    padded = with_layers(model, lambda rnn: LoopLayer(rnn, number, padded=True))
    for other in (loop, padded):
        same(copy.deepcopy(model), other, batches[0])
    contenders = {
        OURS: Contender(model),
        LSTM: Contender(with_layers(model, TorchLayer)),
        LOOP: Contender(loop),
        PADDED: Contender(padded),
    }
    chosen = range(0, len(batches), 1 if many is None else max(1, len(batches) // many))
    best = {name: dict.fromkeys(chosen, float("inf")) for name in contenders}
    for one in contenders.values():
        one.step(batches, 0)
    for _ in range(rounds):
        for at in chosen:
            for name, one in contenders.items():
                best[name][at] = min(best[name][at], one.step(batches, at))
    share = len(batches) / len(chosen)
    return {name: share * sum(times.values()) for name, times in best.items()}, len(batches)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    pairs = [f"sentpair-{number}" for number in range(1, len(SENTENCE_PAIRS) + 1)]
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--cell", choices=pairs, default="sentpair-18", metavar="sentpair-N")
    parser.add_argument("--vectors", nargs="+", default=["glove-100d", "glove-50d"])
    parser.add_argument("--rounds", type=int, default=3, help="turns; the best counts")
    parser.add_argument("--batches", type=int, default=12, help="of an epoch that are trained")
    parser.add_argument("--whole", action="store_true", help="train all of them")
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a table."""
    options = parse(arguments)
    torch.set_num_threads(options.threads)
    settings = {"data": "sick-r", "embeddings": options.vectors}
    task = open_task(SentencesSettings.model_validate(settings))
    assert isinstance(task, SentencesTask)
    others = (LSTM, LOOP, PADDED)
    table = Table("model", "epoch", *others, *(f"× {name}" for name in others))
    for name in options.models:
        many = None if options.whole else options.batches
        found, batches = measured(task, MODELS[name], options.cell, options.rounds, many)
        seconds = [f"{found[one]:.1f}" for one in (OURS, *others)]
        table.add_row(name, *seconds, *(f"{found[OURS] / found[one]:.2f}" for one in others))
    console = Console()
    console.print(table)
    console.print(
        f"Seconds of the processor for an epoch around {options.cell}, {batches} batches of "
        f"{BATCH} pairs; threads: {options.threads}. ×: our time over theirs."
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
