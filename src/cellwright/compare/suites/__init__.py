"""Cells on many tasks: a comparison for each task of a suite, and the average over all of them.

`suite.py` says what a suite is, `folder.py` what is kept of it, `figures.py` what came out.
"""
