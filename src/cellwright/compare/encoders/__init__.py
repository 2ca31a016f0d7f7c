"""What frozen language models are worth as encoders of sentences (NAS-Bench-NLP, section 4.2).

A suite (`compare/suites`) whose entrants are runs: on each task a head learns on each one's states.
"""
