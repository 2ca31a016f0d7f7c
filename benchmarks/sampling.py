"""What a step of a search by gradient costs that runs one sampled cell, beside the whole supernet.

    python benchmarks/sampling.py

CPU time on one thread, the median of some steps, the best of two runs that take turns, on the text
that comes with Python.
"""

from __future__ import annotations

import statistics
import time

import torch

from cellwright.search.one_shot.kinds import make_search
from cellwright.search.one_shot.recipes import load_search_recipe
from cellwright.tasks.registry import open_task

SIZES = (
    ("darts-ptb-laptop", ()),
    ("darts-ptb-laptop", ("search.nodes=4", "model.hidden=64")),
    ("ess-laptop", ()),
)
WAYS = ("full", "gdas", "uniform")
STEPS, FIRST = 10, 2


def step_seconds(recipe: str, settings: tuple[str, ...]) -> float:
    """The median of some steps, without the first ones."""
    found = load_search_recipe(recipe, ["search.warmup_epochs=0", *settings]).on("builtin")
    search = make_search(found, open_task(found.task), 0)
    events = search.run()
    times = []
    for _ in range(STEPS):
        begun = time.process_time()
        next(events)
        times.append(time.process_time() - begun)
    return statistics.median(times[FIRST:])


def main() -> None:
    """Measure all, and print a table."""
    torch.set_num_threads(1)
    print("| recipe | " + " | ".join(WAYS) + " |\n|---|" + "---:|" * len(WAYS))
    for recipe, size in SIZES:
        best = dict.fromkeys(WAYS, float("inf"))
        for _ in range(2):
            for way in WAYS:
                seconds = step_seconds(recipe, (*size, f"search.sampling={way}"))
                best[way] = min(best[way], seconds)
        cells = [f"{1e3 * s:.0f} ms ({s / best['full']:.2f})" for s in best.values()]
        print(f"| {' '.join((recipe, *size))} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
