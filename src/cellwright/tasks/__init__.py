"""Tasks: a task is data, a model around a cell, and a metric.

May import `models/`, `data/`, `spaces/`, `engine/` and `cell/`. Nothing here writes files.
"""
