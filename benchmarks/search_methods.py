"""Which search finds the better cell at the same cost? The table of docs/results.md.

    python benchmarks/search_methods.py --work w                      # everything, some hours
    python benchmarks/search_methods.py --work w --texts builtin --methods auto random --seeds 2
    python benchmarks/search_methods.py --work w --report             # from what is there

Studies have the same number of epochs of training, about three minutes of two cores, and so the
table is the same on any machine, loaded or not; one-shot searches take about as long. Each ends
with one cell. All cells that were found on a text are then trained by one recipe from fresh seeds,
beside LSTM, GRU and random cells, and measured on the test text. What has ended is kept in the
folder: the same command again goes on. The first seed of all methods comes first.

The methods beside `auto` are asynchronous successive halving over random cells, plain random search
and aging evolution, all over the same space of all cells; the variants of `auto` leave one of its
parts out. One-shot searches have the recipes for laptops, with a model, batches and epochs that fit
texts as short as these; they choose among what they propose by the trainings that studies have.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cellwright as cw
from cellwright.base.errors import UserError
from cellwright.base.statistics import Spread, difference
from cellwright.compare.contenders import Contender
from cellwright.data import load
from cellwright.search.studies.recipes import load_study_recipe

TEXTS = ("builtin", "ptb", "wikitext-2")
MOST = {"train": 100_000, "valid": 10_000, "test": 10_000}
"""How many words of each part of a text are used, from its beginning."""
TYPES = 5_000
"""The words that are most frequent there; all others are `<unk>`."""
BUDGETS = {"builtin": 140, "ptb": 90, "wikitext-2": 90}
"""Epochs of training in each study. Larger vocabularies cost more."""

WIDTH, EPOCHS, ETA = 64, 9, 3

STUDIES = {
    "auto": (),
    "halving": ("method.kind=asynchronous-hyperband",),
    "random": ("method.kind=random",),
    "evolution": ("method.kind=aging-evolution", "method.population=10", "method.sample=5"),
    "auto-without-known": ("method.initial=[]",),
    "auto-without-changes": ("method.changes=0.0",),
    "auto-without-predictor": ("method.candidates=1",),
}
"""Settings of each study beside those of the recipe `auto`."""

ONE_SHOT = {
    "darts": ("darts-ptb-laptop", "search.epochs=6"),
    "i-darts": ("i-darts-ptb-laptop", "search.epochs=6"),
    "ess": ("ess-ptb-laptop", "search.rounds=3"),
    "enas": ("enas-ptb-laptop", "search.epochs=6"),
    "random-sharing": ("random-sharing-ptb-laptop", "search.epochs=12"),
}
SHORT_TEXT = (
    f"model.hidden={WIDTH}",
    "search.batch=20",
    "search.learning_rate=4e-3",
    f"selection_epochs={EPOCHS}",
    "selection_cells=9",
    f"selection_eta={ETA}",
)
"""Settings of all one-shot searches here."""

TRAINING = f"""description = "The trainings of studies, for the choice of one-shot searches"
extends = "laptop"

[model]
hidden = {WIDTH}
"""

MAIN = ("auto", "halving", "random")
ON_PTB = ("evolution", *ONE_SHOT, *(name for name in STUDIES if name.startswith("auto-")))
"""Searched for on the part of Penn Treebank alone."""
SEEDS, FEWER_SEEDS = 5, 3

RANDOM = ("any:3",)
RANDOM_ON_PTB = (
    *RANDOM,
    "ess:3,nodes=8,m=3,edges=highway",
    "i-darts:3,nodes=8,edges=highway,edges_per_node=1",
    "enas:3",
)
"""Live random cells beside the found ones."""


@dataclass(frozen=True)
class Found:
    """What a search ended with."""

    text: str
    method: str
    seed: int
    cell: cw.Cell
    seconds: float
    epochs: int | None
    trials: int | None


def corpus(work: Path, name: str) -> Path:
    """The beginning of a text as a folder of its own."""
    folder = work / "texts" / name
    if not (folder / "test.txt").exists():
        folder.mkdir(parents=True, exist_ok=True)
        whole = load(name)
        words = whole.vocabulary.tokens
        frequent = {
            id for id, _ in Counter(whole.train[: MOST["train"]].tolist()).most_common(TYPES)
        }
        for part, most in MOST.items():
            ids = getattr(whole, part)[:most].tolist()
            kept = (words[i] if i in frequent else "<unk>" for i in ids)
            text = " ".join("\n" if word == "<eos>" else word for word in kept)
            (folder / f"{part}.txt").write_text(text + "\n", encoding="utf-8")
    return folder


def studied(work: Path, text: str, method: str, seed: int, given: argparse.Namespace) -> Found:
    """Run a study, or go on with it."""
    settings = [f"task.data={corpus(work, text)}", "text.train=none", f"child.model.hidden={WIDTH}"]
    settings += [
        f"method.epochs={EPOCHS}",
        "final=none",
        "budget.minutes=none",
        f"budget.epochs={given.epochs or BUDGETS[text]}",
    ]
    own = STUDIES[method]
    kind = next((s for s in own if s.startswith("method.kind")), "")
    if not kind or kind.endswith("hyperband"):
        settings.append(f"method.eta={ETA}")
    recipe = load_study_recipe("auto", [*own, *settings])
    found = cw.search(
        recipe,
        seed=seed,
        name=f"{text}-{method}-{seed}",
        store=str(work / "studies.db"),
        out=work / "studies",
        workers=given.workers,
        progress=False,
    )
    if found.cell is None:
        raise UserError(f"{text}, {method}, seed {seed}: no cell: {found.status}")
    ledger = found.ledger
    return Found(text, method, seed, found.cell, ledger.wall, ledger.epochs, ledger.trials)


def one_shot(work: Path, text: str, method: str, seed: int, given: argparse.Namespace) -> Found:
    """Run a one-shot search, or go on with it."""
    path = work / "searches" / f"{text}-{method}-{seed}"
    common: dict[str, Any] = {"out": work / "searches", "progress": False}
    if path.exists():
        found = cw.search(resume=path, **common)
    else:
        training = work / "training.toml"
        training.write_text(TRAINING)
        recipe, own = ONE_SHOT[method]
        found = cw.search(
            recipe,
            str(corpus(work, text)),
            settings=[*SHORT_TEXT, own, f"training={training.absolute()}"],
            seed=seed,
            name=path.name,
            **common,
        )
    return Found(text, method, seed, found.cell, found.cost.seconds, None, None)


def all_found(work: Path, given: argparse.Namespace) -> Iterator[Found]:
    """Every search that is asked for, one after the other; those that have ended from the file."""
    log = given.found or work / "found.jsonl"
    known = {}
    if log.exists():
        for line in log.read_text().splitlines():
            values = json.loads(line)
            values["cell"] = cw.Cell.from_json(json.dumps(values["cell"]))
            one = Found(**values)
            known[one.text, one.method, one.seed] = one
    for text, method, seed in asked_for(given):
        if (text, method, seed) in known:
            yield known[text, method, seed]
        elif not given.report:
            begun = time.monotonic()
            run = studied if method in STUDIES else one_shot
            one = run(work, text, method, seed, given)
            cell = json.loads(one.cell.to_json())
            with log.open("a") as file:
                file.write(json.dumps({**one.__dict__, "cell": cell}) + "\n")
            took = time.monotonic() - begun
            print(f"{text} {method} {seed}: {one.cell.id}, {took:.0f} s", flush=True)
            yield one


def asked_for(given: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    """Text, method and seed of each search, the first seed of all of them first."""
    for seed in range(SEEDS if given.seeds is None else given.seeds):
        for text in given.texts:
            extra = ON_PTB if text == "ptb" else ()
            for method in given.methods or (*MAIN, *extra):
                if given.seeds is not None or method in MAIN or seed < FEWER_SEEDS:
                    yield text, method, seed


def measured(work: Path, text: str, found: Sequence[Found], given: argparse.Namespace) -> Any:
    """All cells that were found on a text, trained anew beside known and random ones."""
    cells = {one.cell.id: one.cell for one in found}
    known = [cw.zoo[name] for name in ("lstm", "gru", "darts-v1", "mogrifier-lstm")]
    both = [Contender(cell.name, cell, "zoo") for cell in known]
    there = {cell.id for cell in known}
    both += [Contender(f"found-{id}", cell) for id, cell in cells.items() if id not in there]
    return cw.compare(
        both,
        str(corpus(work, text)),
        recipe="laptop",
        settings={"model.hidden": WIDTH},
        epochs=EPOCHS,
        seeds=given.training_seeds,
        random=RANDOM_ON_PTB if text == "ptb" else RANDOM,
        out=work / f"comparison-{text}",
        workers=given.workers,
        progress=False,
    )


def rows(text: str, found: Sequence[Found], comparison: Any) -> Iterator[dict[str, Any]]:
    """One for each method: the mean over searches of the mean test value of the cell found."""
    tests = {one.contender.cell.id: one.test for one in comparison.standings}
    base = {name: tests[cw.zoo[name].id] for name in ("lstm", "gru")}
    for method in dict.fromkeys(one.method for one in found):
        own = [one for one in found if one.method == method]
        means = [tests[one.cell.id].mean if tests[one.cell.id] else math.inf for one in own]
        spread = Spread.of(means)
        row = {
            "text": text,
            "method": method,
            "searches": len(own),
            "test": None if spread is None else spread.mean,
            "deviation": None if spread is None else spread.deviation,
            "each": means,
            "minutes": statistics.fmean(one.seconds for one in own) / 60,
            "trials": [one.trials for one in own],
            "epochs": [one.epochs for one in own],
        }
        for name, other in base.items():
            if spread is not None and other is not None:
                found_out = difference(spread, other)
                row[f"against_{name}"] = [found_out.value, found_out.margin, found_out.finding]
        yield row
    for one in comparison.standings:
        if one.contender.label in ("lstm", "gru", "darts-v1", "mogrifier-lstm") or (
            one.contender.label.startswith("random")
        ):
            test = one.test
            yield {
                "text": text,
                "method": one.contender.label,
                "test": None if test is None else test.mean,
                "deviation": None if test is None else test.deviation,
            }


def table(all_rows: Sequence[dict[str, Any]]) -> str:
    """The rows in Markdown."""
    lines = [
        "| text | method | searches | test perplexity | against LSTM | against GRU | trials |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in all_rows:
        value = "–" if row["test"] is None else f"{row['test']:.1f}"
        if row.get("deviation") is not None:
            value += f" ± {row['deviation']:.1f}"
        against = []
        for name in ("lstm", "gru"):
            figures = row.get(f"against_{name}")
            if figures is None:
                against.append("")
            else:
                margin = "" if figures[1] is None else f" ± {figures[1]:.1f}"
                against.append(f"{figures[0]:+.1f}{margin}")
        trials = [many for many in row.get("trials", []) if many is not None]
        shown = f"{statistics.fmean(trials):.0f}" if trials else ""
        cells = (row["text"], row["method"], str(row.get("searches", "")), value, *against, shown)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="where everything is kept")
    parser.add_argument(
        "--found",
        type=Path,
        metavar="FILE",
        help="where searches that have ended are listed, to go on in another folder, or on another "
        "machine; found.jsonl of the folder unless said",
    )
    parser.add_argument("--texts", nargs="+", default=list(TEXTS), choices=TEXTS)
    every = [*STUDIES, *ONE_SHOT]
    parser.add_argument("--methods", nargs="+", choices=every, help="some alone")
    parser.add_argument("--seeds", type=int, help="searches of each method; 5, or 3, unless said")
    parser.add_argument("--epochs", type=int, help="of training in each study, in place of its own")
    parser.add_argument("--training-seeds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--report", action="store_true", help="search for nothing new")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    made: list[dict[str, Any]] = []
    try:
        found = list(all_found(given.work, given))
        for text in given.texts:
            own = [one for one in found if one.text == text]
            if own:
                made += rows(text, own, measured(given.work, text, own, given))
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here")
        return 130
    (given.work / "table.json").write_text(json.dumps(made, indent=1))
    (given.work / "table.md").write_text(table(made) + "\n")
    print(table(made))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
