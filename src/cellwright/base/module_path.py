"""Where modules are looked for: what is installed goes before what lies in the working directory.

A folder with data may have a file `json.py`, and working in it must not run that.
"""

# `cellwright/__init__.py` needs this before anything else is imported, so this file imports only
# what Python has loaded when it starts: not even `__future__`, which is a file like any other.
import os


def working_folder_last(path: list[str]) -> list[str]:
    """A path for modules on which nothing in the working directory can hide anything else.

    What is relative, which an empty entry is as well, becomes absolute. It goes behind everything
    else, and so does the working directory itself: a notebook and `python -m` have it first.
    """
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it was removed
        return [place for place in path if os.path.isabs(place)]
    standard = os.path.realpath(os.path.dirname(os.__file__))
    first: list[str] = []
    last: list[str] = []
    for place in path:
        whole = os.path.abspath(place)
        is_here = os.path.realpath(whole) == here != standard
        (last if is_here or not os.path.isabs(place) else first).append(whole)
    return [*first, *last]
