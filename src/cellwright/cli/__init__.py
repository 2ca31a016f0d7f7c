"""The command line: commands, progress, pictures; no logic of its own. Nothing imports it.

Each group of commands is a module or folder with a typer app called `app`, added in `app.py`.
Importing it must stay fast: whatever needs torch is imported inside the command that uses it.
"""

from cellwright.cli.app import app, main

__all__ = ["app", "main"]
