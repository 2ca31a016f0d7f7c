"""Sentences with labels, and recipes for heads on frozen encoders, small enough for tests."""

from __future__ import annotations

from pathlib import Path

ROWS = [
    ("ann lives in rome .", "yes"), ("bob lives .", "no"), ("Ann lives .", "yes"),
    ("bob lives in Oslo .", "no"), ("ann", "yes"), ("bob", "no"),
]  # fmt: skip

RECIPE = """
extends = "frozen-rte-laptop"
[task]
data = "{data}"
metric = "accuracy"
[model]
projection = 4
feed_forward = 5
[training]
batch = 4
epochs = 3
"""

SUITE = """
[[tasks]]
label = "who"
recipe = "who.toml"
[[tasks]]
label = "pairs"
recipe = "pairs.toml"
figures = ["accuracy", "F1"]
"""


def tiny_suite(folder: Path) -> Path:
    """A suite of two tasks, `who` and `pairs`, with their data and recipes beside it."""
    _write(folder / "who", pairs=False)
    _write(folder / "pairs", pairs=True)
    (folder / "s.toml").write_text(SUITE)
    return folder / "s.toml"


def _write(folder: Path, pairs: bool) -> None:
    folder.mkdir()
    heading = ["sentence1", "sentence2", "label"] if pairs else ["sentence", "label"]
    for part in ("train", "valid", "test"):
        lines = ["\t".join(heading)]
        for number, (sentence, label) in enumerate(ROWS * 4):
            other = [ROWS[number // 6][0]] if pairs else []
            lines.append("\t".join([sentence, *other, label]))
        (folder / f"{part}.tsv").write_text("\n".join(lines) + "\n")
    folder.with_suffix(".toml").write_text(RECIPE.format(data=folder.name))
