"""What a benchmark row is, and how rows are printed and kept."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from contenders import LOAD_CONTENDERS, Shape
from measure import PRODUCT_FLOPS, Timing
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """One cell at one shape, trained or run: timings by contender, and memory in bytes.

    The kind is `alone`; `load`, measured beside busy processes; or `sentences`, in both directions
    over rows of different lengths.
    """

    cell: str
    shape: Shape
    what: str
    flops: float
    timings: Mapping[str, Timing]
    peak: Mapping[str, int]
    kind: str = "alone"

    def time(self, name: str) -> float:
        """The seconds that count: the best, or under load the median."""
        timing = self.timings[name]
        return timing.median if self.kind == "load" else timing.best

    @property
    def seconds(self) -> float:
        """Ours."""
        return self.time("ours")

    def speedup(self, over: str) -> float:
        """How many times as fast we are as another contender."""
        return self.time(over) / self.seconds

    @property
    def share_of_limit(self) -> float:
        """Our rate of multiply-adds over that of the large matrix product."""
        limit = PRODUCT_FLOPS / self.timings["matrix product"].best
        return self.flops / self.seconds / limit

    @property
    def memory_ratio(self) -> float:
        """Our peak memory over the plain loop's."""
        return self.peak["ours"] / self.peak["plain"]


# -- printing ------------------------------------------------------------------------------

COLUMNS = (
    "cell", "T,B,H", "step", "ms", "× nn.LSTM", "× plain", "× torch", "GFLOP/s", "% of limit",
    "MB", "MB plain",
)  # fmt: skip

EXPLANATION = (
    "ms: our best time. ×: how many times as fast we are as nn.LSTM of the same sizes, as the "
    "same cell in a plain loop, and on the torch backend. Limit: the same multiply-adds at the "
    "rate of a 2048-cubed matrix product. MB: peak memory of training steps, ours and the plain "
    "loop's."
)
UNDER_LOAD = (
    "Measured beside four busy processes, two of them at the lowest priority: medians count in "
    "place of best times, since what happens most of the time is the question."
)
SENTENCES = (
    "Both directions over rows of different lengths: lstm beside nn.LSTM(bidirectional=True) with "
    "the same weights on the same PackedSequence, other cells beside a plain loop in each "
    "direction."
)


def explanation(rows: Sequence[Row]) -> str:
    """What the columns mean."""
    kinds = {row.kind for row in rows}
    parts = [EXPLANATION]
    if "load" in kinds:
        parts[0] = parts[0].replace("our best time", "our median time")
        parts.append(UNDER_LOAD)
    if "sentences" in kinds:
        parts.append(SENTENCES)
    return " ".join(parts)


def _number(value: float) -> str:
    """As many digits as can be trusted."""
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def _cells(row: Row) -> list[str]:
    return [
        row.cell,
        str(row.shape),
        row.what,
        _number(1000 * row.seconds),
        *(
            _number(row.speedup(name)) if name in row.timings else "–"
            for name in ("nn.LSTM", "plain", "torch")
        ),
        _number(row.flops / row.seconds / 1e9),
        f"{100 * row.share_of_limit:.0f}" if "matrix product" in row.timings else "–",
        *(f"{row.peak[name] / 1e6:.0f}" if name in row.peak else "–" for name in ("ours", "plain")),
    ]


def markdown(rows: Sequence[Row]) -> str:
    """The table for a README."""
    lines = [COLUMNS, ("---", "---", "---", *["---:"] * (len(COLUMNS) - 3))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [*lines, *map(_cells, rows)])


def print_table(rows: Sequence[Row]) -> None:
    """The table for a terminal."""
    table = Table(header_style="bold", box=None, pad_edge=False)
    for number, column in enumerate(COLUMNS):
        table.add_column(column, justify="left" if number < 3 else "right", no_wrap=True)
    previous = ""
    for row in rows:
        if previous not in ("", row.cell):
            table.add_row()
        previous = row.cell
        table.add_row(*_cells(row))
    console = Console()
    if not console.is_terminal:  # a file or a pipe has no width to keep to
        console = Console(width=150)
    console.print(table)


# -- what was wanted -----------------------------------------------------------------------

LSTM_MEAN = 1.15
LSTM_EACH = 1.1
DARTS_WANTED = {
    Shape(35, 64, 300): 2.0,
    Shape(35, 256, 300): 1.5,
    Shape(35, 20, 200): 4.0,
    Shape(70, 20, 600): 2.5,
    Shape(35, 16, 64): 6.0,
}
SUPERNET_WANTED = {Shape(35, 64, 300): 3.0, Shape(35, 16, 100): 10.0}
SUPERNET_MEMORY = 1 / 3
DARTS_SHARE, DARTS_SHARE_WIDTH = 0.75, 200
SUPERNET_SHARES = {"darts-supernet": 0.8, "ess-supernet": 0.65}
SUPERNET_SHARE_SHAPES = (Shape(35, 64, 300), Shape(35, 256, 300))
LOAD_WANTED = 1.0
SENTENCES_TRAINED = {"lstm": ("nn.LSTM", 1.3), "darts-v1": ("plain", 5.0)}
ONE_SENTENCE = 1.5
NAMES = {"nn.LSTM": "nn.LSTM", "plain": "the plain loop"}


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """What was measured against what this engine was built to reach, a line for each."""
    trained = [row for row in rows if row.what == "train"]
    yield from _alone([row for row in trained if row.kind == "alone"])
    yield from _under_load([row for row in trained if row.kind == "load"])
    yield from _of_sentences([row for row in rows if row.kind == "sentences"])


def _alone(trained: Sequence[Row]) -> Iterator[str]:
    lstm = [row for row in trained if row.cell == "lstm"]
    if lstm:
        ratios = [row.speedup("nn.LSTM") for row in lstm]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        plural = "s" if len(lstm) > 1 else ""
        yield (
            f"lstm against nn.LSTM, geometric mean over {len(lstm)} shape{plural}: "
            f"at least {LSTM_MEAN} wanted: {_number(mean)}"
        )
        yield _least("lstm", lstm, "nn.LSTM", LSTM_EACH)
    known = {(row.cell, row.shape): row for row in trained}
    for name, wanted in (("darts-v1", DARTS_WANTED), ("darts-supernet", SUPERNET_WANTED)):
        for shape, ratio in wanted.items():
            if row := known.get((name, shape)):
                yield (
                    f"{name} against the plain loop at {shape}: at least {ratio:g} wanted: "
                    f"{_number(row.speedup('plain'))}"
                )
                if name == "darts-supernet" and row.peak:
                    yield (
                        f"{name}'s memory over the plain loop's at {shape}: "
                        f"at most {SUPERNET_MEMORY:.2f} wanted: {row.memory_ratio:.2f}"
                    )
    for row in trained:
        if row.cell == "darts-v1" and row.shape.hidden >= DARTS_SHARE_WIDTH:
            yield _share(row, DARTS_SHARE)
        elif row.cell in SUPERNET_SHARES and row.shape in SUPERNET_SHARE_SHAPES:
            yield _share(row, SUPERNET_SHARES[row.cell])


def _under_load(trained: Sequence[Row]) -> Iterator[str]:
    for cell, against in LOAD_CONTENDERS.items():
        if of_cell := [row for row in trained if row.cell == cell]:
            yield _least(f"under load: {cell}", of_cell, against, LOAD_WANTED)


def _of_sentences(rows: Sequence[Row]) -> Iterator[str]:
    for cell, (against, wanted) in SENTENCES_TRAINED.items():
        if trained := [row for row in rows if (row.cell, row.what) == (cell, "train")]:
            yield _least(f"training on sentences: {cell}", trained, against, wanted)
    if single := [row for row in rows if row.shape.batch == 1]:
        yield _least("one sentence at a time: lstm", single, "nn.LSTM", ONE_SENTENCE)


def _least(about: str, rows: Sequence[Row], against: str, wanted: float) -> str:
    least = min(rows, key=lambda row: row.speedup(against))
    return (
        f"{about} against {NAMES[against]}, at each shape: at least {wanted:g} wanted: "
        f"{_number(least.speedup(against))} at {least.shape}"
    )


def _share(row: Row, wanted: float) -> str:
    return (
        f"{row.cell}'s share of the limit at {row.shape}: at least {100 * wanted:.0f} % wanted: "
        f"{100 * row.share_of_limit:.0f} %"
    )


# -- keeping -------------------------------------------------------------------------------


def save(path: Path, machine: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Write all numbers as JSON."""
    entries = [{**asdict(row), "shape": list(row.shape)} for row in rows]
    text = json.dumps({"machine": machine, "rows": entries}, indent=1, ensure_ascii=False)
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(text + "\n", encoding="utf-8")
    os.replace(temporary, path)


def load(path: Path) -> tuple[dict[str, Any], list[Row]]:
    """What `save` wrote."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    rows = [
        Row(
            entry["cell"],
            Shape(*entry["shape"]),
            entry["what"],
            entry["flops"],
            {name: Timing(**timing) for name, timing in entry["timings"].items()},
            entry["peak"],
            entry.get("kind", "alone"),
        )
        for entry in kept["rows"]
    ]
    return kept["machine"], rows
