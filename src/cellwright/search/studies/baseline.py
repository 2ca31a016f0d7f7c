"""Random search at the same cost: what every study has to beat (ENAS-pairs)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from cellwright.search.blackbox.methods import method
from cellwright.search.studies.recipes import MethodSettings
from cellwright.search.studies.start import Prepared, run_prepared
from cellwright.trials.executors import Executor
from cellwright.trials.store import Ledger, Store, find_study, has_study, read_ledger
from cellwright.trials.study.driver import Watch

SUFFIX = "-random"
"""Behind the name of a study, the name of its random search."""

Unit = Literal["epochs", "seconds"]


def baseline_of(prepared: Prepared) -> Prepared:
    """The random search beside a study: the same space or pool, the same training.

    Its cells are trained for as long as the study's longest trials. It has its own seed, which
    follows from the study's, so that its cells are not those with which the method began.
    """
    recipe, epochs = prepared.recipe, prepared.recipe.epochs
    seed = _seed(prepared.seed)
    chosen = method("random", prepared.method.space, seed=seed, epochs=epochs)
    settings = MethodSettings.model_validate({"kind": "random", "epochs": epochs})
    arguments = dict(prepared.evaluate.arguments)
    arguments |= {"checkpoints": f"{arguments['checkpoints']}{SUFFIX}", "longest": None}
    return Prepared(
        recipe.model_copy(update={"method": settings, "window": None}),
        f"{prepared.name}{SUFFIX}",
        seed,
        chosen,
        replace(prepared.evaluate, arguments=arguments),
        prepared.task,
    )


def run_baseline(
    prepared: Prepared,
    store: Store,
    executor: Executor,
    cost: Ledger,
    *,
    unit: Unit = "epochs",
    watch: Callable[[Prepared, int], Watch | None] | None = None,
) -> Ledger:
    """Search at random until as much is spent as a study has cost.

    Epochs are counted as they are trained: a cell that diverges in its first has cost one. They
    come out the same every time; seconds do not, and so with them neither does the number of
    trials.

    Args:
        prepared: the study, not its random search.
        store: where both are kept.
        executor: where its trials run.
        cost: of the study.
        unit: what to spend as much of.
        watch: gives for the random search and its next number of trials what is called for every
            event.

    Returns:
        what the random search has cost and found; less than the study if all of its trials fail,
        or if the space has no more cells.
    """
    random = baseline_of(prepared)
    epochs = random.recipe.epochs
    wanted = float(cost.epochs if unit == "epochs" else cost.seconds)
    ledger = _spent(store, random)
    done = 0 if ledger is None else ledger.trials
    while True:
        spent = _amount(ledger, unit)
        if ledger is not None and spent >= wanted:
            return ledger
        # As many as fit if none diverges; those that do leave room for the next turn.
        each = float(epochs)
        if unit == "seconds":
            each = spent / done if done and spent else cost.seconds / max(1, cost.trials)
        target = done + max(1, math.ceil((wanted - spent) / max(each, 1e-9)))
        run_prepared(
            random,
            store,
            executor,
            trials=target,
            watch=None if watch is None else watch(random, target),
        )
        ledger = _spent(store, random)
        assert ledger is not None
        if ledger.trials < target:  # the space has no more cells
            return ledger
        if ledger.failed == ledger.trials:  # failures cost no epochs, so it would never end
            return ledger
        done = ledger.trials


def read_baseline(store: Store, name: str) -> Ledger | None:
    """The ledger of the random search beside a study, if there is one."""
    if name.endswith(SUFFIX) or not has_study(store, name + SUFFIX):
        return None
    return read_ledger(store, find_study(store, name + SUFFIX))


@dataclass(frozen=True)
class Verdict:
    """Which of two searches found the better cell, by validation loss.

    Args:
        winner: "method", "random", or "nobody" where they are equal or one has no value.
        difference: random's value less the method's: positive where the method won.
        test_difference: the same of the tests of these two trials.
    """

    winner: Literal["method", "random", "nobody"]
    difference: float | None
    test_difference: float | None


def compare(study: Ledger, random: Ledger) -> Verdict:
    """Who won, and by how much."""
    if study.value is None or random.value is None:
        only = "method" if study.value is not None else "random"
        return Verdict("nobody" if study.value == random.value else only, None, None)  # type: ignore[arg-type]
    difference = random.value - study.value
    tests = None
    if study.test is not None and random.test is not None:
        tests = random.test - study.test
    if difference == 0:
        return Verdict("nobody", 0.0, tests)
    return Verdict("method" if difference > 0 else "random", difference, tests)


def _spent(store: Store, prepared: Prepared) -> Ledger | None:
    if not has_study(store, prepared.name):
        return None
    return read_ledger(store, find_study(store, prepared.name))


def _amount(ledger: Ledger | None, unit: Unit) -> float:
    if ledger is None:
        return 0.0
    return float(ledger.epochs if unit == "epochs" else ledger.seconds)


def _seed(seed: int) -> int:
    digest = hashlib.blake2b(f"random search beside {seed}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "little")
