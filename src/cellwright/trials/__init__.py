"""Trials: what a search asks for and is told, the evaluator that trains, and where both are kept
and run: `store/`, `executors/`, `study/`.

May import `runs/` and what is below it.
"""
