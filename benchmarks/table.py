"""What a benchmark row is, and how rows are printed and kept."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from contenders import Shape
from measure import PRODUCT_FLOPS, Timing
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """One cell at one shape, trained or run: timings by contender, and memory in bytes."""

    cell: str
    shape: Shape
    what: str
    flops: float
    timings: Mapping[str, Timing]
    peak: Mapping[str, int]

    @property
    def seconds(self) -> float:
        """Our best time."""
        return self.timings["ours"].best

    def speedup(self, over: str) -> float:
        """How many times as fast we are as another contender."""
        return self.timings[over].best / self.seconds

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


def _number(value: float) -> str:
    """As many digits as can be trusted."""
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def _cells(row: Row) -> list[str]:
    return [
        row.cell,
        str(row.shape),
        row.what,
        _number(1000 * row.seconds),
        *(_number(row.speedup(name)) for name in ("nn.LSTM", "plain", "torch")),
        _number(row.flops / row.seconds / 1e9),
        f"{100 * row.share_of_limit:.0f}",
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
DARTS_WANTED = {
    Shape(35, 64, 300): 2.0,
    Shape(35, 256, 300): 1.5,
    Shape(35, 20, 200): 4.0,
    Shape(70, 20, 600): 2.5,
    Shape(35, 16, 64): 6.0,
}
SUPERNET_WANTED = {Shape(35, 64, 300): 3.0, Shape(35, 16, 100): 10.0}
SUPERNET_MEMORY = 1 / 3


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """Training steps against what this engine was built to reach, a line for each."""
    trained = {(row.cell, row.shape): row for row in rows if row.what == "train"}
    lstm = [row for (cell, shape), row in trained.items() if cell == "lstm"]
    if lstm:
        ratios = [row.speedup("nn.LSTM") for row in lstm]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        least = min(lstm, key=lambda row: row.speedup("nn.LSTM"))
        plural = "s" if len(lstm) > 1 else ""
        yield (
            f"lstm against nn.LSTM, geometric mean over {len(lstm)} shape{plural}: "
            f"at least {LSTM_MEAN} wanted: {_number(mean)}"
        )
        yield (
            "lstm against nn.LSTM, at each shape: at least 1 wanted: "
            f"{_number(min(ratios))} at {least.shape}"
        )
    for name, wanted in (("darts-v1", DARTS_WANTED), ("darts-supernet", SUPERNET_WANTED)):
        for shape, ratio in wanted.items():
            if row := trained.get((name, shape)):
                yield (
                    f"{name} against the plain loop at {shape}: at least {ratio:g} wanted: "
                    f"{_number(row.speedup('plain'))}"
                )
                if name == "darts-supernet" and row.peak:
                    yield (
                        f"{name}'s memory over the plain loop's at {shape}: "
                        f"at most {SUPERNET_MEMORY:.2f} wanted: {row.memory_ratio:.2f}"
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
        )
        for entry in kept["rows"]
    ]
    return kept["machine"], rows
