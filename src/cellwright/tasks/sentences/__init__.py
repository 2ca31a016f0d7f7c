"""Sentences and pairs of sentences that have a label or a score."""
