"""The report of a grid: its tables and its page."""
