"""What every other part may use: errors, whole files, locks, signals, seeds, numbers for people.

Imports nothing of ours.
"""
