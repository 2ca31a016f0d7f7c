"""The documents' Python runs, from the top of each document to its end."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

DOCUMENTS = sorted((Path(__file__).parents[1] / "docs").glob("*.md"))
EXAMPLES = [
    Path(__file__).parents[1] / "examples" / name
    for name in ("bracket_task.py", "tempered_evolution.py")
]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_python(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for example in EXAMPLES:
        shutil.copy(example, tmp_path)
    blocks = BLOCK.findall(path.read_text(encoding="utf-8"))
    names: dict[str, object] = {}
    for code in blocks:
        exec(compile(code, path.name, "exec"), names)
    assert blocks or "```python" not in path.read_text(encoding="utf-8")
