"""`Retries`: how often something may come to nothing before it has failed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Retries:
    """How often a trial, or a training, may come to nothing before it has failed.

    Args:
        failures: crashes, errors, and limits that were passed: it is likely its own fault.
        losses: drivers or machines that vanished with it: likely not, but what takes its machine
            down with it must end as well.
    """

    failures: int = 2
    losses: int = 10

    def used_up(self, failures: int, losses: int) -> bool:
        """Whether so many are too many."""
        return failures > self.failures or losses > self.losses
