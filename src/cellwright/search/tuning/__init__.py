"""Tuning: studies whose trials differ in settings of the training, or in those and in the cell.

May import `search/studies/`, `search/blackbox/` and what is below them.
"""
