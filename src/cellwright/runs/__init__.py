"""Runs: recipes, run folders, checkpoints that survive a kill, and the runner over them.

May import `training/` and what is below it.
"""
