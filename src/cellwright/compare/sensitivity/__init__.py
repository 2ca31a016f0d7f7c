"""How good the cells are that a search finds in smaller and larger spaces (ESS, Figure 5).

`grid.py` has the searches, `folder.py` what is kept of them, `contenders.py` the cells that are
trained as a comparison, `figures.py` what came out.
"""
