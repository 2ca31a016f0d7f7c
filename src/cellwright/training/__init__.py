"""Training: one resumable loop, and a training over it; schedules, averaging, results.

May import `tasks/` and what is below it. Nothing here writes files.
"""
