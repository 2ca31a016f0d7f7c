"""A training step with recurrent matrices frozen, as NAS-Bench-NLP's released code has them.

    python benchmarks/frozen_recurrence.py       # at the paper's size, on PTB if it is here

Steps of the recipe `nas-bench-nlp-ptb`, with the matrices learned and frozen, take turns. A step is
all that training does: forward with every dropout, loss, backward, clipping, Adam. The last columns
have the recurrent layers alone, without embeddings and output layer, forward and backward.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import torch
from contenders import Shape
from measure import interleaved, timed
from torch import nn
from training_step import Text, running_text

import cellwright as cw
from cellwright.models import build_language_model
from cellwright.models.cell_model import detached
from cellwright.runs.recipes import load_recipe
from engine import machine

CELLS = ("nbnlp-rnn", "nbnlp-lstm", "nbnlp-gru", "darts-v1")
SETTINGS = ("trained", "frozen")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", nargs="+", default=CELLS, metavar="CELL")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each cell and column")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    recipe = load_recipe("nas-bench-nlp-ptb", options.changes)
    shape = Shape(recipe.task.bptt, recipe.training.batch, recipe.model.hidden)
    text = running_text(shape, None)
    print(f"{text.name}; {shape.steps} steps, batch {shape.batch}, times in ms")
    print(", ".join(f"{name} {value}" for name, value in machine().items()), end="\n\n")
    print(
        "| cell | step, trained ms | frozen ms | times | layers, trained ms | frozen ms | times |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    for cell in options.cells:
        columns = []
        for work in (whole_step, layers_alone):
            contenders = {one: timed(work(recipe, cell, one, shape, text)) for one in SETTINGS}
            found = interleaved(contenders, options.seconds)
            slow, fast = (1000 * found[one].best for one in SETTINGS)
            columns += [f"{slow:.0f}", f"{fast:.0f}", f"{slow / fast:.2f}"]
        print(f"| {cell} | {' | '.join(columns)} |", flush=True)


def model_of(recipe: Any, cell: str, recurrent: str, words: int) -> Any:
    """The recipe's model with its recurrent matrices learned or frozen."""
    torch.manual_seed(0)
    settings = recipe.model.model_copy(update={"recurrent": recurrent})
    return build_language_model(settings, cw.zoo[cell], words).train()


def whole_step(
    recipe: Any, cell: str, recurrent: str, shape: Shape, text: Text
) -> Callable[[], None]:
    """A training step."""
    model = model_of(recipe, cell, recurrent, text.words)
    learned = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.Adam(learned, recipe.training.learning_rate)
    segments, state = text.segments(shape.steps), None

    def step() -> None:
        nonlocal state
        tokens, targets = next(segments)
        optimizer.zero_grad(set_to_none=True)
        mean, penalty, carried = model.text_loss(tokens, targets, state)
        state = detached(carried)
        (mean + penalty).backward()
        nn.utils.clip_grad_norm_(learned, recipe.training.clip)
        optimizer.step()

    return step


def layers_alone(
    recipe: Any, cell: str, recurrent: str, shape: Shape, text: Text
) -> Callable[[], None]:
    """Embeddings to the last layer's output, and back."""
    model = model_of(recipe, cell, recurrent, text.words)
    tokens, _ = next(text.segments(shape.steps))

    def step() -> None:
        model.zero_grad(set_to_none=True)
        model(tokens)[0].sum().backward()

    return step


if __name__ == "__main__":
    main()
