"""The search spaces' cells as listings: a point of a space as plain data.

Each file has the listing of one family, `lower(listing, name) -> Cell`, and its inverse
`lift(cell) -> listing`, which recognises a cell by structure alone. Spaces and formats
import these; these import only the cell.
"""

from cellwright.cell.listings.darts import DartsListing
from cellwright.cell.listings.enas import EnasListing
from cellwright.cell.listings.ess import EssListing
from cellwright.cell.listings.fenas import FenasListing, FenasNode

__all__ = ["DartsListing", "EnasListing", "EssListing", "FenasListing", "FenasNode"]
