"""One-shot searches, which train one network for all cells, in folders: seeds, choice, pictures.

May import the searches themselves, `run/` and everything below. `cli` may import from here.
"""
