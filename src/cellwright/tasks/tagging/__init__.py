"""Sequence tagging: named entities, chunks and labels of words, measured by the F1 of spans."""
