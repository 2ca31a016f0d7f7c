"""Where the gradient of a search's weights lies in its first steps: what clipping leaves to whom.

    python benchmarks/gradient_norms.py                                  # darts-ptb, batches of 64
    python benchmarks/gradient_norms.py --recipe i-darts-ptb --set search.batch=256

For each step the norm of the whole gradient before it is clipped, and those of its parts after
that: the decoder's bias, the embeddings, and all matrices of the supernet together.
"""

from __future__ import annotations

import argparse
from itertools import islice
from typing import Any
from unittest import mock

from torch import Tensor, linalg

from cellwright.search.gradient import search as module
from cellwright.search.one_shot.kinds import make_search
from cellwright.search.one_shot.recipes import load_search_recipe
from cellwright.tasks.registry import open_task
from cellwright.training.gradients import Gradients
from cellwright.training.results import StepDone


def part_of(weight: Tensor, words: int) -> str:
    """What a weight belongs to, by its shape."""
    if weight.shape[0] != words:
        return "matrices"
    return "bias" if weight.dim() == 1 else "embeddings"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--recipe", default="darts-ptb")
    parser.add_argument("--data", default="ptb")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--set", action="append", default=None, help="default: search.batch=64")
    given = parser.parse_args()
    recipe = load_search_recipe(given.recipe, given.set or ["search.batch=64"]).on(given.data)
    task: Any = open_task(recipe.task)
    search = make_search(recipe, task, 0)
    seen: list[tuple[list[Tensor], Gradients]] = []
    descend = module.descend

    def watched(optimizer: Any, weights: list[Tensor], gradients: Gradients, **rest: Any) -> None:
        if "clip" in rest:  # steps of the architecture are not clipped
            seen.append((weights, gradients))
        descend(optimizer, weights, gradients, **rest)

    print("step   whole    bias  embeddings  matrices")
    with mock.patch.object(module, "descend", watched):
        events = (event for event in search.run() if isinstance(event, StepDone))
        for number, _ in enumerate(islice(events, given.steps), 1):
            weights, gradients = seen.pop()
            squares = dict.fromkeys(("bias", "embeddings", "matrices"), 0.0)
            for weight, value in zip(weights, gradients.values, strict=True):
                if value is not None:
                    part = part_of(weight, len(task.corpus.vocabulary))
                    squares[part] += float(linalg.vector_norm(value)) ** 2
            bias, embeddings, matrices = (square**0.5 for square in squares.values())
            print(
                f"{number:4}  {gradients.norm:6.2f}  {bias:6.3f}  {embeddings:10.2f}"
                f"  {matrices:8.2f}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
