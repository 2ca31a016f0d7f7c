"""The report of cells on a suite of tasks."""
