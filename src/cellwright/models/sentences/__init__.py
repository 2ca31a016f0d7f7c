"""Models that read whole sentences, or pairs of them, around any cell; and their settings.

May import what `models/` may. Settings need no torch, so that recipes are read without.
"""
