"""Reports of cells that were trained side by side."""
