"""Studies from recipes: which space, which method, how children are trained, and the ledger.

May import the methods, `trials/` and what is below. Training itself happens in the executors'
processes, so that nothing here needs torch.
"""
