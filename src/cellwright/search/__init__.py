"""Search methods, one file each, and what they share.

`cli` and `bench` may import from here. Nothing is imported in this file: some methods need torch or
an optional package, and the others should not wait for them.
"""
