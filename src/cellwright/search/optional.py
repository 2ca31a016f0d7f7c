"""Importing the packages of the `search` extra, which not every method needs."""

from cellwright.cell.optional import MissingPackageError, require

__all__ = ["MissingPackageError", "require"]
