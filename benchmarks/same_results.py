"""Does another version of cellwright compute the same, bit for bit?

    python benchmarks/same_results.py --cellwright old/bin/cellwright --work w1 -o old.json
    python benchmarks/same_results.py --cellwright new/bin/cellwright --work w2 -o new.json
    python benchmarks/same_results.py --compare old.json new.json

Small trainings, searches, studies, a comparison and a benchmark are run by the command alone, with
fixed seeds, on the text that comes with Python; some of them are killed on the way and resumed. Of
what is in their files afterwards, hashes are kept: of weights, figures and cells, without times,
memory, ids, dates, paths and versions. It takes about three minutes on two cores.

Each item has two hashes. The first is of everything. The second leaves names out: of tensors it is
that of types, shapes and bytes in any order, of figures that of the numbers in any order, of cells
that of the graph with numbered nodes. Where only the first differs, something was renamed.

Hashes of two machines, or of two versions of torch, Python or numpy, may differ for that alone.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

# -- what is run ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """One command; `kind` says what it leaves behind. `{name}` in it stands for the name.

    A job that is `killed` dies of SIGKILL in the middle of an epoch after the first, and goes on
    by the command of its kind in `RESUME`.
    """

    kind: str
    name: str
    command: str
    killed: bool = False


JOBS = (
    Job(
        "training",
        "one-layer",
        "train lstm --recipe laptop --seed 3 --threads 1 --name {name} --set model.hidden=24 "
        "--set model.dropout_hidden=0.1 --set model.dropout_words=0.05 --set model.tar=0.001 "
        "--set training.optimizer=sgd --set training.learning_rate=100 --set training.batch=32 "
        "--set training.epochs=5 --set training.average_after=1 --set training.decay=1.0",
    ),
    Job(
        "training",
        "awd",
        "train gru --recipe bench-laptop --seed 4 --threads 1 --name {name} --set model.hidden=24 "
        "--set model.embedding=16 --set model.layers=2 --set model.weight_dropout=0.1 "
        "--set model.ar=1.0 --set model.tar=0.5 --set training.batch=32 --set training.epochs=4 "
        "--checkpoint-every 0.1",
        killed=True,
    ),
    Job(
        "search",
        "ess",
        "search laptop --search joint --seed 1 --threads 1 --name {name} --set search.nodes=3 "
        "--set search.m=2 --set search.rounds=2 --set search.model.hidden=16 "
        "--set search.batch=64 --checkpoint-every 0.1",
        killed=True,
    ),
    Job(
        "search",
        "i-darts",
        "search i-darts-ptb-laptop --data builtin --seed 1 --seeds 2 --threads 1 --name {name} "
        "--set search.nodes=3 --set search.epochs=3 --set search.model.hidden=16 "
        "--set training=short.toml --set selection_epochs=1",
    ),
    Job(
        "search",
        "darts-second-order",
        "search darts-ptb-laptop --data builtin --seed 2 --threads 1 --name {name} "
        "--set search.nodes=2 --set search.epochs=2 --set search.model.hidden=16 "
        "--set search.second_order=true --set search.optimizer=sgd --set search.learning_rate=10 "
        "--set search.architecture_text=halves",
    ),
    Job(
        "search",
        "enas",
        "search enas-ptb-laptop --data builtin --seed 1 --threads 1 --name {name} "
        "--set search.nodes=4 --set search.epochs=2 --set search.controller_steps=20 "
        "--set search.candidates=5 --set search.finalists=3 --set search.batch=64 "
        "--set search.model.hidden=16",
    ),
    Job(
        "study",
        "random",
        "search studies-laptop --seed 5 --workers 2 --threads 1 --trials 12 --name {name} "
        "--store studies.sqlite --set method.kind=random --set method.epochs=2",
    ),
    Job(
        "study",
        "aging-evolution",
        "search studies-laptop --seed 6 --workers 2 --threads 1 --trials 12 --name {name} "
        "--store studies.sqlite",
    ),
    Job(
        "study",
        "hyperband",
        "search hyperband-laptop --seed 7 --workers 2 --threads 1 --name {name} "
        "--store studies.sqlite",
    ),
    Job(
        "comparison",
        "compared",
        "compare gru --random ess:1,nodes=2,m=1 --recipe short.toml --seeds 2 --workers 2 "
        "-o {name}",
    ),
    Job(
        "bench",
        "built",
        "bench build --cells 6 --seeds 1 --epochs 2 --seed 8 --workers 2 --threads 1 "
        "--set model.hidden=16 --set model.embedding=16 --set training.batch=64 -o {name}.bench",
    ),
)
"""Methods of studies are those whose trials do not depend on which worker ends first."""

RESUME = {
    "training": "train --resume runs/{name} --checkpoint-every 0.1",
    "search": "search --resume searches/{name} --checkpoint-every 0.1",
}

EVALUATE = "evaluate runs/{name} --part test --json {name}.evaluation.json"
EXPORT_STUDY = "studies export {name} --table {table} -o {name}.{table}.csv --store studies.sqlite"
EXPORT_BENCH = "bench export {name}.bench {table} -o {name}.{table}"

RECIPES = {
    "short.toml": """\
description = "A training of some seconds"
extends = "laptop"

[model]
hidden = 16

[training]
batch = 64
epochs = 2
"""
}
"""Recipes that commands name, written into the work folder."""

METRICS, RESULT, LAST, BEST = "metrics.jsonl", "result.json", "last.safetensors", "best.safetensors"

RENAMED: dict[str, dict[str, str]] = {
    "old": {},
    "new": {"search laptop": "ess-laptop", "search.model.hidden": "model.hidden"},
}
"""For `--names`: what stands above under its old name, and its new one. Looked up are the words of
commands, alone or behind the command's first word, of `KEY=VALUE` the key, each part of a path, and
`extends` of a recipe."""

DROPPED = {
    *("seconds", "retraining_seconds", "tokens_per_second", "peak_memory", "cost", "begun_at"),
    *("asked_at", "started_at", "ended_at", "created", "versions", "format", "path", "folder"),
    *("id", "run", "cell_id", "graph", "source", "notes", "data", "recipe"),
    *("told", "attempt", "failures", "losses", "error", "threads"),
}
"""Keys of figures that are no results: times, memory, ids, dates, paths, versions, and the order in
which workers ended. What cells are is an item of its own, and so are their ids."""


# -- items ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Item:
    """Something that was computed: its hash with names and without, and a line to read."""

    hash: str
    without_names: str
    summary: str


def digest(value: Any) -> str:
    """The SHA-256 of JSON values, whatever the order of keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def of_tensors(tensors: Mapping[str, tuple[str, list[int], bytes]]) -> Item:
    """Tensors by name, each with type, shape and bytes."""
    hashes = {
        name: digest([dtype, shape, hashlib.sha256(content).hexdigest()])
        for name, (dtype, shape, content) in tensors.items()
    }
    count = sum(prod(shape) for _, shape, _ in tensors.values())
    squares = sum(
        float(np.square(np.frombuffer(content, "<f4").astype(np.float64)).sum())
        for dtype, _, content in tensors.values()
        if dtype == "F32"
    )
    summary = f"{len(tensors)} tensors, {count:,} numbers, norm {squares**0.5:.10g}"
    return Item(digest(hashes), digest(sorted(hashes.values())), summary)


def of_figures(value: Any, summary: str) -> Item:
    """JSON values, but for what is no result."""
    kept = cleaned(value)
    return Item(digest(kept), digest(sorted(numbers(kept))), summary)


def of_cells(cells: Sequence[Mapping[str, Any]]) -> Item:
    """Cells in order; what they are called and where they come from is left out."""
    graphs = [graph_of(cell) for cell in cells]
    operations = "; ".join(" ".join(node["op"] for node in graph["nodes"]) for graph in graphs)
    return Item(digest(graphs), digest([numbered(graph) for graph in graphs]), operations[:300])


def graph_of(cell: Mapping[str, Any]) -> dict[str, Any]:
    """What decides what a cell computes."""
    return {key: cell[key] for key in ("inputs", "nodes", "states", "output")}


def of_ids(ids: Any) -> Item:
    """Ids of cells, which are hashes of their graphs."""
    return Item(digest(ids), digest(ids), json.dumps(ids)[:300])


def cleaned(value: Any) -> Any:
    """Without the keys that are no results."""
    if isinstance(value, dict):
        return {key: cleaned(inner) for key, inner in value.items() if key not in DROPPED}
    return [cleaned(inner) for inner in value] if isinstance(value, list) else value


def numbers(value: Any) -> Iterator[str]:
    """All numbers in JSON values, as text with all digits."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield repr(float(value))


def numbered(graph: Mapping[str, Any]) -> Any:
    """A cell's graph in which nodes have their numbers for names."""
    names = {node["name"]: str(number) for number, node in enumerate(graph["nodes"])}

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: renamed(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [renamed(inner) for inner in value]
        return names.get(value, value) if isinstance(value, str) else value

    return renamed(graph)


# -- reading files -------------------------------------------------------------------------------


def read_tensors(path: Path) -> dict[str, tuple[str, list[int], bytes]]:
    """A safetensors file: the length of a JSON header, the header, and all bytes."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    return {
        name: (entry["dtype"], entry["shape"], content[start + first : start + end])
        for name, entry in header.items()
        for first, end in [entry["data_offsets"]]
    }


def read_table(path: Path) -> list[dict[str, Any]]:
    """A CSV file, with numbers and JSON in its fields as values."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return [{key: field(key, text) for key, text in row.items()} for row in rows]


def field(key: str, text: str) -> Any:
    """The value of a field of CSV."""
    if key in ("cell_id", "graph"):  # which may be all digits
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def read_json(path: Path) -> Any:
    """A JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def read_epochs(path: Path) -> list[dict[str, Any]]:
    """The records of epochs in a file of metrics, of which the last line may be cut off."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = text[: text.rfind("\n") + 1].splitlines()
    return [record for line in lines if (record := json.loads(line))["kind"] == "epoch"]


# -- running commands ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """The command, the folder in which it works, and what has another name there."""

    cellwright: str
    work: Path
    renamed: Mapping[str, str]

    def path(self, *parts: str) -> Path:
        """A file or folder of the work folder."""
        return self.work.joinpath(*(self.word(part) for part in parts))

    def word(self, word: str, command: str = "") -> str:
        """A word of a command under its name here."""
        for known in (f"{command} {word}", word):
            if known in self.renamed:
                return self.renamed[known]
        key, equals, value = word.partition("=")
        return "/".join(self.renamed.get(part, part) for part in key.split("/")) + equals + value

    def start(self, command: str, **values: str) -> subprocess.Popen[str]:
        """Start a command in a process group of its own; what it prints goes into `log.txt`."""
        words = shlex.split(command.format(**values))
        words = [self.word(word, words[0]) for word in words]
        environment = {**os.environ, "CELLWRIGHT_CACHE": str(self.work / "cache")}
        with (self.work / "log.txt").open("a") as log:
            log.write(f"\n$ cellwright {shlex.join(words)}\n")
            log.flush()
            return subprocess.Popen(
                [self.cellwright, *words],
                cwd=self.work,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                text=True,
            )

    def run(self, command: str, **values: str) -> None:
        """Run a command to its end."""
        if self.start(command, **values).wait() != 0:
            raise SystemExit(f"a command failed; {self.work / 'log.txt'} ends with what it said")

    def kill_midway(self, job: Job, folder: Path) -> None:
        """Start a job and kill it in a later epoch, after a checkpoint within that epoch."""
        process = self.start(job.command, name=job.name)
        try:
            wait_for(process, lambda: bool(read_epochs(folder / METRICS)))
            for _ in range(3):  # of these checkpoints, the first may be that of the epoch's end
                wait_for_writing(process, folder / LAST)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if (folder / RESULT).exists():
            raise SystemExit(f"{job.name} ended before it could be killed")


def written(path: Path) -> int:
    """When a file was written last; 0 if it is not there."""
    return path.stat().st_mtime_ns if path.exists() else 0


def wait_for_writing(process: subprocess.Popen[str], path: Path) -> None:
    """Wait until a file is written while a process runs."""
    before = written(path)
    wait_for(process, lambda: written(path) != before)


def wait_for(process: subprocess.Popen[str], happened: Callable[[], bool]) -> None:
    """Wait until something has happened while a process runs."""
    while not happened():
        if process.poll() is not None:
            raise SystemExit(f"a command ended with code {process.returncode} before its kill")
        time.sleep(0.01)


def folder_of(place: Place, job: Job) -> Path:
    """The folder with metrics and checkpoints of a training or a search."""
    if job.kind == "training":
        return place.path("runs", job.name)
    seed = shlex.split(job.command)[shlex.split(job.command).index("--seed") + 1]
    return place.path("searches", job.name, f"seed-{seed}")


# -- what comes out of each kind of job ----------------------------------------------------------

Items = Iterator[tuple[str, Item]]


def of_work(folder: Path, prefix: str = "") -> Items:
    """What trainings and searches have in their folders."""
    epochs, result = read_epochs(folder / METRICS), read_json(folder / RESULT)
    losses = [f"{record['train']:.6f}/{record['valid']:.6f}" for record in epochs]
    yield f"{prefix}epochs", of_figures(epochs, f"train/valid {' '.join(losses)}")
    listing = json.dumps(result["listing"]) if "listing" in result else ""
    summary = f"{result['status']}, valid {result['valid']!r} {listing}"
    yield f"{prefix}result", of_figures(result, summary[:300])
    tensors = read_tensors(folder / LAST)
    yield f"{prefix}last, all", of_tensors(tensors)
    groups = sorted({name.partition(".")[0] for name in tensors})
    for group in groups:
        inner = {n: t for n, t in tensors.items() if n.partition(".")[0] == group}
        yield f"{prefix}last, {group}", of_tensors(inner)
    if (folder / BEST).exists():
        yield f"{prefix}best weights", of_tensors(read_tensors(folder / BEST))
    yield f"{prefix}cell", of_cells([read_json(folder / "cell.json")])


def of_training(place: Place, name: str) -> Items:
    """The run, and what the command for evaluations says of it."""
    yield from of_work(place.path("runs", name))
    place.run(EVALUATE, name=name)
    figures = read_json(place.path(f"{name}.evaluation.json"))
    figures["whole"] = figures.pop("run")  # elsewhere that key is an id
    yield "evaluation", of_figures(figures, f"test {figures['whole']['loss']!r}")


def of_search(place: Place, name: str) -> Items:
    """Each seed, each retraining, and the choice."""
    folder = place.path("searches", name)
    inner = sorted(path for kind in ("seed", "retrained") for path in folder.glob(f"{kind}-*"))
    for path in inner:
        yield from of_work(path, f"{path.name}, ")
    yield "found cell", of_cells([read_json(folder / "found.json")])
    selection = read_json(folder / "selection.json")
    yield "selection", of_figures(selection, f"seed {selection['chosen']}")
    yield "cell ids", of_ids([each["cell_id"] for each in selection["candidates"]])


def of_study(place: Place, name: str) -> Items:
    """Trials by number, what each cell is worth, curves, and the best cell."""
    rows = {}
    for table in ("trials", "curves", "cells"):
        place.run(EXPORT_STUDY, name=name, table=table)
        rows[table] = read_table(place.path(f"{name}.{table}.csv"))
    trials = sorted(rows["trials"], key=lambda row: row["number"])
    cells = {row["cell_id"]: row["json"] for row in rows["cells"]}
    losses = " ".join(str(row["value"] or row["status"]) for row in trials)
    worth = []
    for row in trials:
        graph = digest(numbered(graph_of(cells[row["cell_id"]])))
        worth.append([graph, row["seed"], row["fidelity"], row["status"], row["value"]])
    yield "values of cells", of_figures(sorted(worth, key=json.dumps), f"{len(worth)} trials")
    yield "trials", of_figures(trials, losses[:300])
    kept = [row for row in rows["curves"] if row["name"] not in DROPPED]
    curves = sorted(kept, key=lambda row: (row["number"], row["name"], row["epoch"]))
    yield "curves", of_figures(curves, f"{len(curves)} values")
    yield "cells", of_cells([cells[identity] for identity in sorted(cells)])
    yield "cell ids", of_ids([row["cell_id"] for row in trials])
    yield "best cell", of_cells([read_json(place.path("studies", name, "best.json"))])


def of_comparison(place: Place, name: str) -> Items:
    """The figures, and the weights of each training."""
    results = read_json(place.path(name, "results.json"))
    valid = "valid" if "metric" in results else "valid_perplexity"
    means = [f"{cell['label']} {cell[valid]['mean']!r}" for cell in results["cells"]]
    yield "figures", of_figures(results, ", ".join(means))
    yield "cell ids", of_ids({cell["label"]: cell["id"] for cell in results["cells"]})
    cells = sorted(place.path(name, "cells").glob("*.json"))
    yield "cells", of_cells([read_json(path) for path in cells])
    for run in sorted(place.path(name, "runs").iterdir()):
        yield f"{run.name}, best weights", of_tensors(read_tensors(run / BEST))


def of_bench(place: Place, name: str) -> Items:
    """The tables, without times."""
    rows = {}
    for table in ("architectures", "runs", "curves", "cells"):
        place.run(EXPORT_BENCH, name=name, table=table)
    for table in ("architectures", "runs", "curves"):
        rows[table] = read_table(place.path(f"{name}.{table}"))
    losses = " ".join(f"{row['name']} {row['valid']}" for row in rows["architectures"])
    for table, found in rows.items():
        yield (
            table,
            of_figures(found, losses[:300] if table == "architectures" else f"{len(found)} rows"),
        )
    yield "cells", of_cells(read_json(place.path(f"{name}.cells")))
    yield "cell ids", of_ids({str(row["name"]): row["graph"] for row in rows["architectures"]})


READERS = {
    "training": of_training,
    "search": of_search,
    "study": of_study,
    "comparison": of_comparison,
    "bench": of_bench,
}


# -- all together --------------------------------------------------------------------------------


def compute(place: Place, jobs: Sequence[Job]) -> dict[str, Item]:
    """Run all jobs and hash what they leave behind."""
    for name, text in RECIPES.items():
        for old, new in place.renamed.items():
            text = text.replace(f'"{old}"', f'"{new}"')
        (place.work / name).write_text(text)
    items: dict[str, Item] = {}
    for job in jobs:
        begun = time.perf_counter()
        if job.killed:
            folder = folder_of(place, job)
            place.kill_midway(job, folder)
            at = f", killed after {len(read_epochs(folder / METRICS))} epochs and resumed"
            place.run(RESUME[job.kind], name=job.name)
        else:
            at = ""
            place.run(job.command, name=job.name)
        found = {
            f"{job.kind} {job.name}: {what}": i for what, i in READERS[job.kind](place, job.name)
        }
        items |= found
        taken = time.perf_counter() - begun
        print(f"{job.kind} {job.name}: {len(found)} items, {taken:.0f} s{at}", flush=True)
    return items


def compare(old: Path, new: Path, renamed_is_equal: bool) -> int:
    """Print a line for each item; 1 if there is a difference, else 0."""
    before, after = (read_json(path)["items"] for path in (old, new))
    left = {name: item for name, item in after.items() if name not in before}
    counts = dict.fromkeys(("equal", "renamed", "different", "missing", "new"), 0)
    for name, a in before.items():
        other = name if name in after else counterpart(name, a, left)
        b = after.get(other)
        left.pop(other, None)
        if b is None:
            verdict = "missing"
        elif a["hash"] == b["hash"] and other == name:
            verdict = "equal"
        else:
            verdict = "renamed" if a["without_names"] == b["without_names"] else "different"
        counts[verdict] += 1
        print(f"{verdict:10} {name}" + (f" -> {other}" if other not in (name, "") else ""))
        if verdict == "different":
            print(f"           {old}: {a['summary']}\n           {new}: {b['summary']}")
    for name in left:
        counts["new"] += 1
        print(f"{'new':10} {name}")
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count))
    fine = counts["equal"] + renamed_is_equal * counts["renamed"]
    return int(fine != sum(counts.values()))


def counterpart(name: str, item: Mapping[str, str], left: Mapping[str, Mapping[str, str]]) -> str:
    """The item of the same job that has another name and the same contents; "" if there is none."""
    job = name.partition(":")[0]
    for other, candidate in left.items():
        same = candidate["without_names"] == item["without_names"]
        if same and other.partition(":")[0] == job:
            return other
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute hashes, or compare two files of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cellwright", metavar="COMMAND", help="the command to run")
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="a new folder to work in")
    parser.add_argument("-o", "--output", type=Path, default=Path("hashes.json"), metavar="FILE")
    parser.add_argument("--names", choices=RENAMED, default="old", help="which names it knows")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these jobs alone")
    parser.add_argument("--compare", nargs=2, type=Path, metavar="FILE", help="two such files")
    parser.add_argument(
        "--renamed-is-equal", action="store_true", help="with --compare: names alone may differ"
    )
    options = parser.parse_args(arguments)
    if options.compare:
        old, new = options.compare
        return compare(old, new, options.renamed_is_equal)
    if not options.cellwright or not options.work:
        parser.error("either --cellwright and --work, or --compare")
    if options.work.exists() and any(options.work.iterdir()):
        parser.error(f"{options.work} is not empty: work that is there would not be done again")
    if unknown := set(options.only or ()) - {job.name for job in JOBS}:
        parser.error(f"there is no job {', '.join(sorted(unknown))}")
    options.work.mkdir(parents=True, exist_ok=True)
    command = (
        os.path.abspath(options.cellwright) if os.sep in options.cellwright else options.cellwright
    )
    place = Place(command, options.work.resolve(), RENAMED[options.names])
    begun = time.perf_counter()
    items = compute(place, [job for job in JOBS if not options.only or job.name in options.only])
    found = {"cellwright": command, "items": {name: asdict(item) for name, item in items.items()}}
    options.output.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{options.output}: {len(items)} items, {time.perf_counter() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
