"""Aging evolution that chooses parents by rank: the lower the temperature, the greedier.

docs/your-own-method.md goes from this file to a comparison and a study.
"""

from collections import deque

import numpy as np


class TemperedEvolution:
    """The last `population` cells are alive; the k-th best is a parent as often as exp(−k/T)."""

    def __init__(self, space, *, seed, population=20, temperature=3.0):
        self.space, self.temperature = space, temperature
        self.rng = np.random.default_rng(seed)
        self.alive = deque(maxlen=population)  # the oldest falls out, however good it is

    def ask(self):
        if len(self.alive) < self.alive.maxlen:
            return self.space.sample(self.rng)
        ranked = sorted(self.alive, key=lambda member: member[1])
        weights = np.exp(-np.arange(len(ranked)) / self.temperature)
        parent, _ = ranked[self.rng.choice(len(ranked), p=weights / weights.sum())]
        return self.space.mutate(parent, self.rng)

    def tell(self, cell, value):
        self.alive.append((cell, value))  # the value is infinity where a training diverged
