"""Search with shared weights: ENAS, and random search with weight sharing.

May import the rest of `search/` and everything below; `search/one_shot` and `cli` may import this.
"""
