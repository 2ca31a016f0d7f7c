"""`cellwright search`: find cells, by one-shot searches or by studies, which have a file each."""

from cellwright.cli.search.command import EXAMPLES, run

__all__ = ["EXAMPLES", "run"]
