"""Language modelling: each next word of running text, measured by perplexity."""
