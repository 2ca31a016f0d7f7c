"""Grids: whole experiments, as stages that stand on each other.

What a grid is, and what its stages have given; `api/grids.py` runs it. May import `search/`,
`compare/` and what is below them.
"""
