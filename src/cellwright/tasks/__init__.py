"""Tasks: a task is data, a model around a cell, and a metric.

May import `models/`, `data/` and what is below them. Nothing here writes files.
"""
