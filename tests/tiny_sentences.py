"""Small sets of sentences and pairs, and trainings on them that take a moment."""

from __future__ import annotations

import random
from pathlib import Path

import cellwright as cw
from cellwright.api.results import TrainedRun

GOOD, BAD = ("good", "great", "fine"), ("bad", "dull", "poor")
OTHERS = ("the", "film", "is", "a", "plot", "of", "acting")

RECIPE = """
[task]
kind = "sentences"
data = "{data}"
embeddings = [{{kind = "table", width = 8, least = 1}}]
[model]
kind = "blm"
hidden = 8
feed_forward = 8
dropout_input = 0.0
dropout_output = 0.0
dropout_projection = 0.0
[training]
optimizer = "adam"
learning_rate = 0.02
weight_decay = 0.0
batch = {batch}
evaluation_batch = 7
epochs = {epochs}
average_after = "none"
"""


def film(draw: random.Random) -> tuple[str, str]:
    """What is said of a film, and whether it is good."""
    label = draw.choice(("no", "yes"))
    words = draw.choices(OTHERS, k=draw.randint(1, 14))
    words.insert(draw.randrange(len(words)), draw.choice(GOOD if label == "yes" else BAD))
    return " ".join(words), label


def films(folder: Path) -> Path:
    """Sentences with labels that one word decides."""
    folder.mkdir()
    draw = random.Random(0)
    for part, many in (("train", 160), ("valid", 30), ("test", 30)):
        rows = ["sentence\tlabel", *("\t".join(film(draw)) for _ in range(many))]
        (folder / f"{part}.tsv").write_text("\n".join(rows) + "\n")
    return folder


def pairs(folder: Path) -> Path:
    """Pairs with scores from 1 to 5, with names of columns of their own."""
    folder.mkdir()
    draw = random.Random(0)
    for part, many in (("train", 64), ("valid", 20), ("test", 20)):
        rows = ["one,other,label"]
        for _ in range(many):
            (first, alike), (second, too) = film(draw), film(draw)
            rows.append(f"{first},{second},{4.5 if alike == too else 1.25:g}")
        (folder / f"{part}.csv").write_text("\n".join([*rows, "a,a,5", "a,the,1", ""]))
    return folder


def train_on(
    data: Path | str,
    runs: Path,
    name: str,
    *,
    cell: str = "gru",
    epochs: int = 1,
    batch: int = 16,
    **settings: str | int,
) -> TrainedRun:
    """A run of a small model; further settings are the task's."""
    recipe = runs.parent / f"{name}.toml"
    recipe.write_text(RECIPE.format(data=data, epochs=epochs, batch=batch))
    given = {f"task.{key}": value for key, value in settings.items()}
    return cw.train(
        cell, recipe=recipe, settings=given, name=name, out=runs, threads=1, progress=False
    )


def all_runs(root: Path) -> Path:
    """A folder with runs: `films` and `weak` on sentences, `pairs` and `other` on pairs."""
    runs = root / "runs"
    data = films(root / "data")
    train_on(data, runs, "films", epochs=8)
    train_on(data, runs, "weak", cell="rnn")
    two = pairs(root / "two")
    for name, cell in (("pairs", "gru"), ("other", "rnn")):
        train_on(two, runs, name, cell=cell, first="one", second="other")
    return runs
