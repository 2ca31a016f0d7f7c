"""Search methods as users write them, right and wrong."""

from __future__ import annotations

import os
import sys
import time

import numpy as np

from cellwright import zoo
from cellwright.search.blackbox.random_search import RandomSearch
from cellwright.trials.trial import Trial


class Climb:
    """Mutations of the best so far; a new start after `patience` misses."""

    def __init__(self, space, *, seed, patience=3):
        self.space, self.patience = space, patience
        self.rng = np.random.default_rng(seed)
        self.best, self.loss, self.misses = None, float("inf"), 0

    def ask(self):
        if self.best is None or self.misses >= self.patience:
            self.best, self.loss, self.misses = None, float("inf"), 0
            return self.space.sample(self.rng)
        return self.space.mutate(self.best, self.rng)

    def tell(self, cell, value):
        if value < self.loss:
            self.best, self.loss, self.misses = cell, value, 0
        else:
            self.misses += 1


class Halving:
    """Successive halving with pairs of a cell and epochs; waits with None; a generation of nine."""

    def __init__(self, space, seed, epochs=9):
        self.space, self.epochs = space, epochs
        self.rng = np.random.default_rng(seed)
        self.rung, self.open, self.ended, self.nones = [], 0, [], 0

    def ask(self):
        if not self.rung and self.open:
            self.nones += 1
            self.rng.random()  # what it does here is done again after a restart
            return None
        if not self.rung:
            good = [trial for trial, outcome in sorted(self.ended, key=lambda pair: pair[1].loss)]
            good = [trial for trial in good[: len(good) // 3] if trial.fidelity * 3 <= self.epochs]
            self.rung = [(trial.cell, trial.fidelity * 3) for trial in good]
            self.ended = []
        if not self.rung:
            self.rung = [(self.space.sample(self.rng), 1) for _ in range(9)]
        self.open += 1
        return self.rung.pop(0)

    def tell(self, trial, outcome):
        self.open -= 1
        self.ended.append((trial, outcome))


class Trials(Climb):
    """Gives whole trials, with seeds and notes of its own."""

    def ask(self):
        cell = super().ask()
        return Trial(-1, cell, 2, int(self.rng.integers(2**31)), {"note": "mine"})


class Own(RandomSearch):
    """A subclass of a method that comes with cellwright."""


class Broken(Own):
    def _propose(self, number):
        return [][number]


class Few:
    """Three cells, and then no more."""

    def __init__(self, space, *, seed):
        rng = np.random.default_rng(seed)
        self.cells = [space.sample(rng) for _ in range(3)]

    @property
    def finished(self):
        return not self.cells

    def ask(self):
        return self.cells.pop()

    def tell(self, cell, outcome):
        assert outcome.status


# -- wrong ones ----------------------------------------------------------------------------------


class Raises(Climb):
    def ask(self):
        return {}["no such"]


class TellRaises(Climb):
    def tell(self, trial, outcome):
        return outcome.losss


class Nones(Climb):
    def ask(self):
        return None


class NoCell(Climb):
    def ask(self):
        return "lstm"


class Outside(Climb):
    def ask(self):
        return zoo["darts-v1"]


class TooLong(Climb):
    def ask(self):
        return super().ask(), 51


class Hangs(Climb):
    answer_seconds = 0.05

    def ask(self):
        while True:
            time.sleep(0.001)


class Leaves(Climb):
    def ask(self):
        sys.exit("bye")


class Dies(Climb):
    def ask(self):
        os._exit(3)


class Chance(Climb):
    """Draws from elsewhere than its seed."""

    def __init__(self, space, *, seed, patience=3):
        super().__init__(space, seed=int.from_bytes(os.urandom(4), "little"), patience=patience)


class Prints(Climb):
    def ask(self):
        print("asked")
        return super().ask()


class Unmade(Climb):
    def __init__(self, space, *, seed):
        raise RuntimeError("not today")


class NoSeed:
    def __init__(self, space):
        pass

    def ask(self):
        pass

    def tell(self, cell, value):
        pass


class NoSpace(NoSeed):
    def __init__(self, *, seed):
        pass


class Needs(Climb):
    def __init__(self, space, *, seed, temperature):
        pass


class NoTell:
    def __init__(self, space, *, seed):
        pass

    def ask(self):
        pass


class OddTell(Climb):
    def tell(self, cell):
        pass


not_a_class = 3
