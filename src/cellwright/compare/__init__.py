"""Comparing cells: each is trained by one recipe from the same seeds, and the figures are put side
by side with their spread.

May import `trials/` and what is below it. A training is an ordinary run folder, so a comparison
that was stopped or killed goes on where it was.
"""
