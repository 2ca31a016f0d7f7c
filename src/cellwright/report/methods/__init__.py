"""Reports of search methods that were compared on a benchmark."""
