"""`README.md` of an exported folder: what the model is, what it is worth, and how to use it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from cellwright.base.amounts import duration, memory
from cellwright.cell import Cell
from cellwright.runs.info import RunInfo
from cellwright.training.results import Result

PICTURE = "cell.svg"

_PIPELINES = {
    "language": "text-generation",
    "tagging": "token-classification",
    "sentences": "text-classification",
}
"""What a hub calls the tasks."""

_TITLES = {
    "language": "A language model",
    "tagging": "A tagger",
    "sentences": "A model of sentences",
}

_USES = {
    "language": """model, words = run.model, run.vocabulary
tokens = torch.tensor(words.encode("the value of the".split())).unsqueeze(1)
chances, state = model.next_words(tokens)  # (steps, batch, words)""",
    "tagging": """for sentence in cw.tag(run, ["Ann lives in New York ."]):
    print(sentence)""",
    "sentences": """for found in cw.predict(run, [{example}]):
    print(found)""",
}


def model_card(
    name: str, info: RunInfo, cell: Cell, result: Result, pairs: bool, needs: list[str]
) -> str:
    """The card.

    Args:
        name: what the model is called.
        info: of its run.
        cell: of the model.
        result: the figures of its training.
        pairs: whether its examples are pairs of sentences.
        needs: frozen parts that are not in the folder, in words.
    """
    kind = info.recipe.task.kind
    about, *counts = info.data.description.splitlines()
    called = cell.name or cell.id
    example = '("a first sentence", "a second one")' if pairs else '"a sentence"'
    lines = [
        "---",
        *_front(name, info, result),
        "---",
        "",
        f"# {name}",
        "",
        f"{_TITLES[kind]} around the recurrent cell `{called}`, trained with cellwright.",
        "",
        "```python",
        *(["import torch", ""] if kind == "language" else []),
        "import cellwright as cw",
        "",
        f"run = cw.load({name!r})  # this folder",
        _USES[kind].format(example=example),
        "```",
        "",
        "## What it is worth",
        "",
        f"| part | {info.metric.name} |",
        "|---|---|",
        f"| valid | {info.metric.shown(result.valid)} |",
        f"| test | {info.metric.shown(result.test)} |",
        "",
        f"The weights are those of epoch {result.best_epoch} of {len(result.curve)}, the one that "
        f"validated best. Status of the training: {result.status}.",
        "",
        "## The cell",
        "",
        f"![The graph of the cell]({PICTURE})",
        "",
        "```",
        *cell.to_text().rstrip("\n").splitlines(),
        "```",
        "",
        f"Its id is `{cell.id}`; `cell.json` has it as data.",
        "",
        "## The data",
        "",
        "```",
        about,
        *counts,
        "```",
        "",
        "The data is not in this folder. Its license may bind the model too.",
        "",
        *_needed(needs),
        "## What it cost",
        "",
        f"- time: {duration(result.seconds)}",
        f"- parameters: {result.parameters:,}",
        f"- memory at most: {memory(result.peak_memory)}",
        *(f"- {what}: {version}" for what, version in info.versions.items()),
        "",
        "## How it was made",
        "",
        "```sh",
        f"cellwright train cell.json --recipe recipe.toml --seed {info.seed} "
        f"--threads {info.threads}",
        "```",
        "",
        "`recipe.toml` has every setting.",
    ]
    return "\n".join(lines) + "\n"


def _front(name: str, info: RunInfo, result: Result) -> list[str]:
    """What a hub reads. JSON is YAML as well, so that any name is written rightly."""
    task = {"type": _PIPELINES[info.recipe.task.kind]}
    value = info.metric.value(result.test)
    data = Path(info.data.name).name
    found: dict[str, Any] = {
        "library_name": "cellwright",
        "pipeline_tag": task["type"],
        "tags": ["cellwright", "recurrent-cell", info.cell.name or info.cell.id],
    }
    if math.isfinite(value):
        measured = {"type": info.metric.name.lower(), "name": info.metric.name}
        entry = {
            "task": task,
            "dataset": {"name": data, "type": data},
            "metrics": [{**measured, "value": float(f"{value:.6g}")}],
        }
        found["model-index"] = [{"name": name, "results": [entry]}]
    return [f"{key}: {json.dumps(said, ensure_ascii=False)}" for key, said in found.items()]


def _needed(needs: list[str]) -> list[str]:
    if not needs:
        return []
    return [
        "## What has to be there as well",
        "",
        "Words become vectors by parts that do not change, which are not in this folder:",
        "",
        *(f"- {each}" for each in needs),
        "",
    ]
