"""What words become: pretrained vectors, character language models, characters.

May import `data/`, `spaces/`, `engine/`, `cell/` and `base/`. What is frozen is computed once, kept
in the cache folder and mapped into memory from there.
"""
