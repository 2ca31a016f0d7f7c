"""Comparing cells: each is trained by one recipe from the same seeds, and the figures are put side
by side with their spread.

May import `spaces/` and what `run/` may. A training is an ordinary run folder, so a comparison
that was stopped or killed goes on where it was.
"""
