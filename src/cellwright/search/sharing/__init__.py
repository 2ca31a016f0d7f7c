"""Search with shared weights: ENAS, and random search with weight sharing.

May import `training/` and what is below it, and settings of `search/gradient`.
"""
