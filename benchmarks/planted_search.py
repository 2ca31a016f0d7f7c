"""Texts for which one choice is far better than all others: does each search find it?

    python benchmarks/planted_search.py                       # all methods, 10 seeds each
    python benchmarks/planted_search.py --alone               # and what each choice is worth alone
    python benchmarks/planted_search.py --methods ess enas --seeds 2

Searches start from the recipes that come with cellwright. Of these the norm, the kind of edges, the
softmax, the starts of weights and variables, the operations and how a cell is derived stay as they
are. Other are: the text; sizes (width, nodes, batch, bptt, epochs or rounds, steps and candidates);
no dropout; Adam, and its rates. `SMALL` and `METHODS` have every change, `darts` and `i-darts` more
than these, see there.

*ess*: each word has a follower that comes next 19 times in 20. What a cell reads of a word is
x(t) ⊙ mean_i o_i(W_i·h(t−i)). Without biases all operations but the sigmoid are 0 where h is, so
that nothing comes in, and change their signs with h. Found is a sigmoid in all three nodes of that
gate: one cell in 125 has it.

*enas*, *random-sharing*: round a circle of 121 words with 8 numbers for a word. (Batches are cut so
that 60 words would make all rows alike, and norms over a batch would leave nothing.) To be sure of
the next word takes values that are large in all directions: tanh and sigmoid are bounded, relu has
one side. Found is a cell of one node with the identity, which one cell in 4 has; ENAS' controller
must also draw it 9 times in 10.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from cellwright.cell.listings import DartsListing, EnasListing, EssListing
from cellwright.cell.listings.supernets import Listing
from cellwright.data import Corpus, Vocabulary
from cellwright.search.gradient.search import DifferentiableSearch
from cellwright.search.one_shot.kinds import make_search
from cellwright.search.one_shot.recipes import load_search_recipe
from cellwright.search.sharing.enas import SharingSearch
from cellwright.tasks.language.task import LanguageTask

SMALL = (
    "task.bptt=12",
    "search.batch=16",
    "search.evaluation_batch=16",
    "search.optimizer=adam",
    "model.hidden=8",
    "model.dropout_output=0",
    "model.dropout_x=0",
    "model.dropout_hidden=0",
    "model.dropout_embedding=0",
    "model.dropout_words=0",
)
"""What all searches here have other than their recipes."""


def text(train: np.ndarray, valid: np.ndarray, words: int) -> Corpus:
    """A corpus in memory."""
    vocabulary = Vocabulary([f"w{n}" for n in range(words)], np.bincount(train, minlength=words))
    return Corpus("planted", "memory", train, valid, valid, vocabulary, {}, {})


def circle(words: int, length: int = 9_600) -> Corpus:
    """Round and round, in an order that the words' numbers do not tell."""
    order = np.random.default_rng(0).permutation(words).astype(np.int32)
    walks = [order[np.arange(many) % words] for many in (length, 2_400)]
    return text(*walks, words)


def followers(words: int = 16, length: int = 4_800) -> Corpus:
    """Each word has a follower; one time in 20 any word comes."""
    follower = np.random.default_rng(0).permutation(words)

    def walk(seed: int, many: int) -> np.ndarray:
        rng, found = np.random.default_rng(seed), [0]
        while len(found) < many:
            strays = rng.random() < 0.05
            found.append(int(rng.integers(words) if strays else follower[found[-1]]))
        return np.array(found, np.int32)

    return text(walk(1, length), walk(2, length // 4), words)


@dataclass(frozen=True)
class Planted:
    """A method, and what is planted for it.

    Args:
        recipe: where its settings come from.
        corpus: the text.
        operation: what is planted.
        changes: to the recipe, beside `SMALL`.
    """

    recipe: str
    corpus: Callable[[], Corpus]
    operation: str
    changes: tuple[str, ...]


def _ess(recipe: str) -> Planted:
    rates = ("learning_rate=2e-2", "architecture_rate_intra=4e-2", "architecture_rate_inter=4e-2")
    changes = ("nodes=2", "rounds=2", *rates)
    return Planted(recipe, followers, "sigmoid", tuple(f"search.{change}" for change in changes))


def _sharing(recipe: str, *changes: str) -> Planted:
    whole = ("nodes=1", "epochs=5", "learning_rate=0.1", *changes)
    changes = tuple(f"search.{change}" for change in whole)
    return Planted(recipe, lambda: circle(121), "identity", changes)


def _special(recipe: str) -> Planted:
    changes = ("search.edges=plain", "search.norm=none", "model.init_range=0.3")
    sizes = ("search.nodes=2", "search.epochs=3", "search.learning_rate=3e-3")
    more = ("model.init_range_embedding=0.1", "search.clip=1.0", "search.weight_decay=0")
    rates = ("search.architecture_rate_intra=2e-2",)
    return Planted(recipe, lambda: circle(30), "identity", (*changes, *sizes, *more, *rates))


METHODS: dict[str, Planted] = {
    "ess": _ess("ess-ptb"),
    "ess-laptop": _ess("ess-ptb-laptop"),
    "enas": _sharing("enas-ptb", "controller_steps=60", "controller_rate=1.5e-3"),
    "enas-laptop": _sharing("enas-ptb-laptop", "controller_steps=40", "controller_rate=2e-3"),
    "random-sharing-laptop": _sharing("random-sharing-ptb-laptop"),
    "darts": _special("darts-ptb"),
    "i-darts": _special("i-darts-ptb"),
}
"""`darts` and `i-darts` have special settings: plain edges, no norm and longer first weights. With
the edges and the norm of the recipes no operation is far better than the others, on any text tried
(docs/search.md says which): it may be that node 0, the same whatever is chosen, does all it needs,
and an edge of DARTS' own cell carries its source past every operation. `SHIPPED` has these two with
the recipes' settings and a circle of 31 words, to show what each operation is worth there."""

SHIPPED: dict[str, Planted] = {
    f"{kind}-shipped": Planted(
        f"{kind}-ptb",
        lambda: circle(31),
        "identity",
        (
            "search.nodes=1",
            "search.epochs=3",
            "search.learning_rate=5e-2",
            "search.architecture_rate_intra=2e-2",
        ),
    )
    for kind in ("darts", "i-darts")
}
OPERATIONS = ("identity", "tanh", "relu", "sigmoid")


@dataclass(frozen=True)
class Outcome:
    """How a search ended: the cell, how sure it is, the validation loss (inf if it diverged).

    `likely` is how likely ENAS' controller is to draw the planted operation; 1 without one.
    `deviations` are those inside the cell after each epoch, of searches by gradient.
    """

    listing: Listing | EnasListing
    likely: float
    deviations: tuple[float, ...]
    valid: float
    seconds: float

    def found(self, operation: str) -> bool:
        """Whether it has what was planted."""
        return planted_places(self.listing) == {operation} and self.likely >= 0.9


def planted_places(listing: Listing | EnasListing) -> set[str]:
    """The operations where one was planted: ESS' gate of x(t), or all nodes of the cell."""
    match listing:
        case EssListing():
            return set(listing.g_gate or ())
        case DartsListing():
            return {op for edges in listing.nodes for op, _ in edges}
        case EnasListing():
            return {listing.first, *(op for _, op in listing.later)}


def searched(planted: Planted, seed: int, only: str | None = None) -> Outcome:
    """One search to its end; with `only`, that operation is all there is where one is planted."""
    started = time.perf_counter()
    is_ess = planted.recipe.startswith("ess")
    changes = [*SMALL, *planted.changes]
    if only is not None and not is_ess:
        # Weights that are shared learn with each operation in a fourth of the steps: three epochs
        # with one alone are more than that, and after five all of them know the circle.
        changes += [f"search.operations=['{only}']", "search.epochs=3"]
    recipe = load_search_recipe(planted.recipe, changes)
    search = make_search(recipe, LanguageTask(planted.corpus(), recipe.task), seed)
    if only is not None and isinstance(search, DifferentiableSearch) and is_ess:
        _fix_gate(search, only)
    for _ in search.run():
        pass
    result = search.result()
    likely, deviations = 1.0, ()
    if isinstance(search, DifferentiableSearch):
        deviations = tuple(record.watched["intra_mad"] for record in search.result().records)
    if only is None and isinstance(search, SharingSearch) and search.controller is not None:
        likely = search.controller.probability(EnasListing(planted.operation))
    seconds = time.perf_counter() - started
    return Outcome(result.listing, likely, deviations, result.valid, seconds)


def _fix_gate(search: DifferentiableSearch, operation: str) -> None:
    """The gate of x(t) has this operation alone; all else is searched as ever."""
    column = search.settings.operations.index(operation)
    with torch.no_grad():
        for name, variables in search.variables.inter.items():
            if name.startswith("g_"):
                variables.fill_(-100.0)  # a softmax has no gradient there
                variables[:, column] = 100.0


def alone(planted: Planted, seeds: Sequence[int]) -> dict[str, list[float]]:
    """The validation losses with each operation alone where one is planted."""
    operations = (*OPERATIONS, "none") if planted.recipe.startswith("ess") else OPERATIONS
    return {op: [searched(planted, seed, op).valid for seed in seeds] for op in operations}


def main(arguments: Sequence[str] | None = None) -> int:
    """Search and count."""
    everything = {**METHODS, **SHIPPED}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", nargs="+", choices=everything, default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=10, help="how many; 10 unless said")
    parser.add_argument("--first", type=int, default=0, help="the first seed; 0 unless said")
    parser.add_argument("--alone", action="store_true", help="also train each choice alone")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    seeds = range(options.first, options.first + options.seeds)
    for method in options.methods:
        planted = everything[method]
        if options.alone:
            for operation, losses in alone(planted, seeds).items():
                shown = ", ".join(f"{loss:.2f}" for loss in losses)
                print(f"{method}: {operation} alone: {shown} nats", flush=True)
        outcomes = [searched(planted, seed) for seed in seeds]
        found = sum(outcome.found(planted.operation) for outcome in outcomes)
        seconds = sum(outcome.seconds for outcome in outcomes)
        print(
            f"{method}: {planted.operation} found with {found} of {len(seeds)} seeds; "
            f"{seconds:.0f} s",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
