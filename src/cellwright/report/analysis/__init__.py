"""Analyses of a benchmark as files: tables, and the figures of NAS-Bench-NLP's section 4.1."""
