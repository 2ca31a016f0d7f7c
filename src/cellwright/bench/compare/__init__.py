"""Comparing search methods on a table in simulated time (NAS-Bench-NLP, section 5).

`entries` says which methods with which settings, `running` is one search, `scheduling` runs methods
times seeds in processes and keeps what is finished, `statistics` says what came out;
`report/methods` shows it.
"""
