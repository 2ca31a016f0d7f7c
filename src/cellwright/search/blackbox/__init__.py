"""Black-box methods, one a file: they ask for trials and are told outcomes."""
