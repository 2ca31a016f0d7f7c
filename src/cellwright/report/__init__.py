"""Reports: plots, tables and pages of what runs, searches, studies and comparisons have found.

May import everything but `api`, `cli/` and `studio/`. It reads results and computes nothing anew.
"""
