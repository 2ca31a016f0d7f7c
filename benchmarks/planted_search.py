"""A task with one operation that is far better than the others: does each method find it?

    python benchmarks/planted_search.py              # 10 seeds of DARTS, I-DARTS and ESS
    python benchmarks/planted_search.py --alone      # and each operation on its own, for comparison

The text walks round a circle of 30 words; the model has 8 numbers for a word. To be sure of the
next word it needs long vectors in all directions. Of the operations only the identity has them:
tanh and sigmoid are bounded, and relu has one side. After as many steps as the search has, cells
with one operation alone have perplexities of about 6 (identity), 8 (tanh), 9 (relu), 30 (sigmoid).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from cellwright.cell.listings import EssListing
from cellwright.cell.listings.supernets import Listing
from cellwright.data import Corpus, Vocabulary
from cellwright.models import OneLayerSettings
from cellwright.search.gradient.search import DifferentiableSearch
from cellwright.search.gradient.settings import DifferentiableSettings
from cellwright.tasks.language.settings import LanguageSettings
from cellwright.tasks.language.task import LanguageTask

PLANTED = "identity"
OTHERS = ("tanh", "relu", "sigmoid")
METHODS: dict[str, dict[str, Any]] = {
    "darts": {"kind": "darts", "edges": "plain", "norm": "none", "epochs": 3},
    "i-darts": {"kind": "i-darts", "edges": "plain", "norm": "none", "epochs": 3},
    "ess": {"kind": "ess", "norm": "none", "m": 1, "rounds": 3},
}
"""Not the edges and norms of the recipes, with which no operation is far better than the others
here: an edge of DARTS' own cell carries its source past every operation, and has a gate that makes
products of any of them; and a norm makes values as long as any others."""

SHARED: dict[str, Any] = {
    "nodes": 2,
    "batch": 16,
    "evaluation_batch": 16,
    "optimizer": "adam",
    "learning_rate": 3e-3,
    "weight_decay": 0.0,
    "clip": 1.0,
    "architecture_rate_intra": 2e-2,
    "architecture_rate_inter": 2e-2,
}
MODEL = OneLayerSettings(
    hidden=8,
    dropout_output=0.0,
    dropout_x=0.0,
    dropout_hidden=0.0,
    dropout_embedding=0.0,
    dropout_words=0.0,
    tar=0.0,
    init_range=0.3,
)
SEGMENTS = LanguageSettings(bptt=12, bptt_spread=0.0, bptt_halve=0.0)


@dataclass(frozen=True)
class Outcome:
    """How a search ended: the cell, the deviation after each epoch, the validation loss."""

    listing: Listing
    deviations: tuple[float, ...]
    valid: float
    seconds: float

    @property
    def found(self) -> bool:
        """Whether all nodes inside the cell have the planted operation."""
        intra = self.listing.intra if isinstance(self.listing, EssListing) else self.listing
        return {op for edges in intra.nodes for op, _ in edges} == {PLANTED}

    @property
    def rises(self) -> bool:
        """Whether the mean absolute deviation inside the cell rose from epoch to epoch."""
        return all(a <= b for a, b in zip(self.deviations, self.deviations[1:], strict=False))


def circle(words: int = 30, length: int = 9_600) -> Corpus:
    """Round and round, in an order that the words' numbers do not tell."""
    order = np.random.default_rng(0).permutation(words).astype(np.int32)
    train, valid = order[np.arange(length) % words], order[np.arange(length // 4) % words]
    vocabulary = Vocabulary([f"w{n}" for n in range(words)], np.bincount(train))
    return Corpus("circle", "memory", train, valid, valid, vocabulary, {}, {})


def searched(method: str, seed: int, **changes: Any) -> Outcome:
    """One search to its end."""
    started = time.perf_counter()
    settings = DifferentiableSettings.model_validate({**SHARED, **METHODS[method], **changes})
    search = DifferentiableSearch(LanguageTask(circle(), SEGMENTS), MODEL, settings, seed)
    for _ in search.run():
        pass
    result = search.result()
    deviations = tuple(record.watched["intra_mad"] for record in result.records)
    seconds = time.perf_counter() - started
    return Outcome(result.listing, deviations, result.records[-1].valid, seconds)


def alone(operation: str, seed: int) -> float:
    """The validation loss of a cell in which every edge has this operation, after as many steps."""
    return searched("darts", seed, operations=[operation]).valid


def main(arguments: Sequence[str] | None = None) -> int:
    """Search and count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=10, help="how many; 10 unless said")
    parser.add_argument("--alone", action="store_true", help="train each operation alone first")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if options.alone:
        for operation in (PLANTED, *OTHERS):
            losses = [alone(operation, seed) for seed in range(options.seeds)]
            mean = np.mean(losses)
            print(f"{operation} alone: {mean:.2f} nats, perplexity {np.exp(mean):.1f}", flush=True)
    for method in options.methods:
        outcomes = [searched(method, seed) for seed in range(options.seeds)]
        found, rises = (sum(getattr(o, what) for o in outcomes) for what in ("found", "rises"))
        seconds = sum(outcome.seconds for outcome in outcomes)
        print(
            f"{method}: {PLANTED} found with {found} of {options.seeds} seeds; deviation rises in "
            f"{rises}, to {np.mean([o.deviations[-1] for o in outcomes]):.2f}; {seconds:.0f} s",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
