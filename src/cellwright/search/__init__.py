"""Search: `blackbox/` asks for cells one by one, `gradient/` and `sharing/` train one network for
all; `one_shot/` runs these in folders, `studies/` those in a store.

May import `trials/` and what is below it, and nothing beside it. Nothing is imported in this file:
some methods need torch or an optional package, and the others should not wait for them.
"""
