"""Perplexity: e to the mean loss of a word."""

from __future__ import annotations

from cellwright.tasks.metric import Metric

PERPLEXITY = Metric(name="perplexity", form="exponential", unit="nats a word", items="words")


def perplexity(nats: float) -> float:
    """e to the mean loss; infinite where that is too large for a number."""
    return PERPLEXITY.value(nats)
