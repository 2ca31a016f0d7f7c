"""Do the recipes of the papers learn, at the sizes of the papers? Their first steps, on PTB.

    python benchmarks/search_curves.py --work w                 # 150 steps of four recipes: hours
    python benchmarks/search_curves.py --work w --report        # table and picture of what is there

Each recipe runs as it is shipped, from its first step with seed 0, and the loss of every batch that
the weights learn from goes into `w/RECIPE.csv`. The line that a model has to pass is the unigram
loss: that of somebody who knows how frequent words are, and nothing else. A recipe whose file is
whole is not run again.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from cellwright.data import load
from cellwright.report import drawing, paper
from cellwright.search.one_shot.kinds import make_search
from cellwright.search.one_shot.recipes import load_search_recipe
from cellwright.tasks.registry import open_task
from cellwright.training.results import StepDone

RECIPES = ("darts-ptb", "i-darts-ptb", "ess-ptb", "enas-ptb")
SMOOTH = 10
"""Over how many steps a mean is taken in table and picture."""


def unigram_loss(data: str) -> float:
    """Of the training text, in nats: the entropy of its words."""
    corpus = load(data)
    counts = np.bincount(corpus.train, minlength=len(corpus.vocabulary))
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def losses_of(recipe: str, data: str, settings: Sequence[str]) -> Iterator[tuple[float, float]]:
    """The loss of each batch in turn, and the seconds since the search began."""
    found = load_search_recipe(recipe, settings).on(data)
    search = make_search(found, open_task(found.task), 0)
    for event in search.run():
        if isinstance(event, StepDone):
            yield event.loss, event.seconds


def run(path: Path, recipe: str, given: argparse.Namespace) -> None:
    """Take the steps of a recipe, and write them down as they come."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["step", "loss", "seconds"])
        steps = islice(losses_of(recipe, given.data, given.set), given.steps)
        for number, (loss, seconds) in enumerate(steps, 1):
            writer.writerow([number, f"{loss:.6f}", f"{seconds:.2f}"])
            file.flush()
            if number % SMOOTH == 0:
                print(f"{recipe}: step {number}, {loss:.3f} nats, {seconds:.0f} s", flush=True)


def read(path: Path) -> list[tuple[float, float]]:
    """The losses that are there, with their seconds."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [(float(row["loss"]), float(row["seconds"])) for row in csv.DictReader(file)]


def smoothed(losses: Sequence[float]) -> list[float]:
    """The mean of each loss and those before it."""
    return [
        statistics.fmean(losses[max(0, end - SMOOTH) : end]) for end in range(1, len(losses) + 1)
    ]


def table(curves: Mapping[str, Sequence[tuple[float, float]]], unigram: float) -> str:
    """In Markdown: where each recipe begins, where it ends, and when it passes the line."""
    lines = [
        f"Unigram loss: {unigram:.2f} nats. Means over {SMOOTH} steps.",
        "",
        "| recipe | steps | first | lowest | last | below the unigram loss | seconds a step |",
        "|---|---:|---:|---:|---:|---|---:|",
    ]
    for recipe, curve in curves.items():
        means = smoothed([loss for loss, _ in curve])
        passed = next((step for step, mean in enumerate(means, 1) if mean < unigram), None)
        when = "no" if passed is None else f"from step {passed} on"
        values = (means[min(SMOOTH, len(means)) - 1], min(means), means[-1])
        figures = " | ".join(f"{value:.2f}" for value in values)
        each = curve[-1][1] / len(curve)
        lines.append(f"| `{recipe}` | {len(curve)} | {figures} | {when} | {each:.1f} |")
    return "\n".join(lines)


def picture(curves: Mapping[str, Sequence[tuple[float, float]]], unigram: float) -> bytes:
    """The losses against the steps."""

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for (recipe, curve), look in zip(curves.items(), drawing.looks(len(curves)), strict=True):
            losses = [loss for loss, _ in curve]
            steps = range(1, len(losses) + 1)
            axes.plot(steps, losses, color=look["color"], linewidth=0.6, alpha=0.4)
            axes.plot(steps, smoothed(losses), color=look["color"], linewidth=1.8, label=recipe)
        axes.axhline(unigram, color=drawing.GREY, linestyle="--", label="unigram loss")
        axes.set_xlabel("step of the search")
        axes.set_ylabel("training loss, nats")
        paper.legend_inside(figure, axes, loc="best")

    return drawing.picture(draw, "svg", paper.Shape(7.6, 4.4))


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="where everything is kept")
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES))
    parser.add_argument("--data", default="ptb")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--set", action="append", default=[], help="a setting of the recipes")
    parser.add_argument("--report", action="store_true", help="run nothing")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    paths = {recipe: given.work / f"{recipe}.csv" for recipe in given.recipes}
    for recipe, path in paths.items():
        if not given.report and len(read(path)) < given.steps:
            run(path, recipe, given)
    curves = {recipe: read(path) for recipe, path in paths.items() if read(path)}
    unigram = unigram_loss(given.data)
    print(table(curves, unigram))
    (given.work / "curves.svg").write_bytes(picture(curves, unigram))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
