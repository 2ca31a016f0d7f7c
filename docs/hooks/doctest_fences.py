"""Examples in docstrings become blocks of code on the site: in Markdown `>>>` is a quotation."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^([ \t]*)>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


def fenced(text: str) -> str:
    """A docstring with its examples in fences."""
    return _EXAMPLE.sub(lambda found: f"{found[1]}```pycon\n{found[0]}\n{found[1]}```", text)


class DoctestFences(griffe.Extension):
    """Called by griffe for everything that it has read."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Change the docstring, if there is one."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
