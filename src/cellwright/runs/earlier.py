"""What earlier versions wrote, as this one would have written it.

Before there were tasks, a recipe had its text at the top, the lengths of segments among the
settings of the training, and a search its model among those of the search. Trainings had names that
searches had too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.tasks.registry import task_kind

_SEGMENTS = ("bptt", "bptt_spread", "bptt_shortest", "bptt_halve")

_TRAININGS = {
    **{name: f"{name}-training" for name in ("darts-ptb", "ess-ptb", "ess-wikitext-103")},
    **{
        f"{name}-laptop": f"{name}-training-laptop"
        for name in ("darts-ptb", "ess-ptb", "ess-wikitext-103", "fenas-ptb")
    },
    "fenas-ptb": "fenas-ptb-training",
}
"""What packaged recipes for trainings are called now."""


_EVALUATOR = "cellwright.trials.evaluator:train_trial"


def recipe_of_today(values: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe for a training or a search, from the values of an earlier version."""
    if "task" in values or "data" not in values:
        return dict(values)
    recipe = {name: value for name, value in values.items() if name != "data"}
    task: dict[str, Any] = {"kind": "language", "data": values["data"], "folder": None}
    for table in ("training", "search"):
        if isinstance(recipe.get(table), Mapping):
            settings = dict(recipe[table])
            task |= {name: settings.pop(name) for name in _SEGMENTS if name in settings}
            if "model" in settings:
                recipe["model"] = settings.pop("model")
            recipe[table] = settings
    if isinstance(recipe.get("training"), str):
        recipe["training"] = _TRAININGS.get(recipe["training"], recipe["training"])
    return {**recipe, "task": task}


def info_of_today(values: Mapping[str, Any]) -> dict[str, Any]:
    """`run.json` or `search.json` of an earlier version, but for its format.

    What is damaged stays as it is: whoever checks the values tells.
    """
    found = {**values, "metric": task_kind("language").metric.model_dump()}
    recipe, data = values.get("recipe"), values.get("data")
    if isinstance(recipe, Mapping) and isinstance(data, Mapping):
        found["recipe"] = recipe_of_today(recipe)
        found["data"] = {name: value for name, value in data.items() if name != "folder"}
        if isinstance(found["recipe"].get("task"), dict):
            found["recipe"]["task"]["folder"] = data.get("folder")
    return found


def evaluation_of_today(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a study of an earlier version calls to evaluate a trial."""
    if values.get("function") == _EVALUATOR:
        arguments = dict(values.get("arguments", {}))
        return {**values, "arguments": {**arguments, **_with_later_settings(arguments)}}
    if values.get("function") != "cellwright.run.trials:train_trial":
        return dict(values)
    arguments = dict(values.get("arguments", {}))
    recipe = arguments.get("recipe")
    if isinstance(recipe, Mapping):
        arguments["recipe"] = recipe_of_today(recipe)
    elif isinstance(recipe, str):
        arguments["recipe"] = _TRAININGS.get(recipe, recipe)
    for before, now in (("text", "most"), ("text_fingerprint", "fingerprint")):
        if before in arguments:
            arguments[now] = arguments.pop(before)
    arguments |= _with_later_settings(arguments)
    return {"function": _EVALUATOR, "arguments": arguments}


_LATER: Mapping[tuple[str, str | None], Mapping[str, Any]] = {
    ("task", "language"): {"similarity": []},
    ("model", "one-layer"): {
        "init_range_embedding": 0.1,
        "bias_start": "zero",
        "precision": "float32",
    },
    ("model", "awd"): {"recurrent": "trained", "precision": "float32"},
    **{("model", kind): {"precision": "float32"} for kind in ("tagger", "bi-rnn", "blm", "esim")},
    ("training", None): {"anneal": 1.0, "anneal_after": 4, "rate_least": 0.0},
}
"""Settings that came later, by table and its kind, and what they are where a recipe of before has
none."""


def _with_later_settings(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The recipe among the arguments, with settings that came later as they were without them."""
    recipe = arguments.get("recipe")
    if not isinstance(recipe, Mapping):
        return {}
    filled = dict(recipe)
    for (name, kind), later in _LATER.items():
        table = recipe.get(name)
        if isinstance(table, Mapping) and table.get("kind") == kind:
            filled[name] = {**later, **table}
    return {"recipe": filled}
