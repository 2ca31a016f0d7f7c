"""Text formats for cells."""
