"""One-shot searches, which train one network for all cells, in folders; the choice among what they propose.

May import the searches themselves, `runs/` and everything below.
"""
