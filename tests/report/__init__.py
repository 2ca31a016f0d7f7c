"""A package, so that its helpers do not meet those of others."""
