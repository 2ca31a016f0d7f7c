"""Searches by gradient in a supernet: DARTS, I-DARTS, ESS."""
