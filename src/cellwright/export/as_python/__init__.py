"""Cells and models as Python files of their own: source text, weights, and a check of both."""
