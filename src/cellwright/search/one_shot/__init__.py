"""One-shot searches, which train one network for all cells, in folders; the choice at their end.

May import the searches themselves, `runs/` and everything below.
"""
