"""Who takes part in a comparison: methods with their settings, those of the paper by name."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cellwright.base.errors import did_you_mean
from cellwright.base.plugins import (
    HOW_NAMED,
    Place,
    PluginError,
    as_place,
    load,
    place_of,
    split_place,
)
from cellwright.bench.errors import BenchError
from cellwright.search.blackbox.ask_tell import Method, SequentialMethod
from cellwright.search.blackbox.methods import METHODS, method, method_kind
from cellwright.search.blackbox.own.adapter import OwnMethod
from cellwright.search.blackbox.own.guard import OwnMethodError
from cellwright.search.blackbox.own.kinds import own_kind
from cellwright.spaces import Space

FULL, SHORT = 50, 10
"""The epochs of the paper's full trainings and of those of its RS 10E."""

WITHOUT_FEATURES = ("random", "hyperband", "asynchronous-hyperband")
"""Methods that sample and never ask which cells are alike."""

_FEATURES = "graph2vec-10"
_OWN = ("features", "label")  # settings of an entry that are not its method's


@dataclass(frozen=True)
class Entry:
    """A method with its settings, as it takes part in a comparison.

    Args:
        label: what tables and pictures call it.
        method: a name of `METHODS`, or the place of a class of the user's own.
        settings: of the method, all but the seed.
        features: the name of the features that its cells have; None for none.
        sha256: of the file of such a class, as it was when the entry was made.
    """

    label: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    features: str | None = None
    sha256: str | None = None

    @property
    def is_own(self) -> bool:
        """Whether it runs code of the user's own."""
        return self.method not in METHODS

    @property
    def title(self) -> str:
        """The method, and for a class of the user's own its file and class, wherever that lies."""
        place = as_place(self.method) if self.is_own else None
        if place is None or not place.is_file:
            return self.method
        return f"{Path(place.where).name}:{place.name}"

    def make(self, space: Space, seed: int) -> Method:
        """The method over a space.

        Raises:
            BenchError: the file of a class of the user's own is not what it was.
        """
        kind = method_kind(self.method)
        if kind.source is not None and self.sha256 not in (None, kind.source.sha256):
            raise BenchError(f"{kind.source} was changed while the comparison ran")
        return method(kind, space, **{"seed": seed, **self.settings})

    def to_json(self) -> dict[str, Any]:
        """The entry as JSON values."""
        return {
            "label": self.label,
            "method": self.method,
            "settings": dict(self.settings),
            "features": self.features,
            "sha256": self.sha256,
        }


def paper_entries(epochs: int = FULL) -> dict[str, Entry]:
    """The methods of the paper's Figure 10 with its settings, by the names of the command line.

    One search runs one training after the other, so every method knows all outcomes when it
    chooses (`lag` is 1). What the paper leaves open is as in the notebook of its release
    (`benchmarking_examples.ipynb`): TPE searches in 50 dimensions, aging evolution and SMAC in 10,
    and evolution draws without replacement.

    Args:
        epochs: how long a full training on the table is. The paper's is 50; on a shorter table
            the short trainings of RS 10E are shorter in proportion.
    """
    short = max(1, round(epochs * SHORT / FULL))
    full = {"epochs": epochs}
    search = "bayesian-optimization"
    bayes = {
        "initial": 20, "batch": 10, "beta": 2.0, "regressors": 14, "trees": 100, "depth": 15,
    }  # fmt: skip
    ageing = {"population": 20, "sample": 10, "replacement": False, "lag": 1}
    return {
        "rs-10e": Entry(f"RS {short}E", "random", {"epochs": short}),
        "rs-50e": Entry(f"RS {epochs}E", "random", full),
        "hyperband": Entry("HB", "hyperband", {**full, "eta": 3}),
        "bo-10d": Entry("BO 10D", search, {**full, **bayes}, "graph2vec-10"),
        "bo-50d": Entry("BO 50D", search, {**full, **bayes}, "graph2vec-50"),
        "ae": Entry("AE", "aging-evolution", {**full, **ageing}, _FEATURES),
        "tpe": Entry("TPE", "tpe", {**full, "lag": 1}, "graph2vec-50"),
        "smac": Entry("SMAC", "smac", {**full, "lag": 1}, _FEATURES),
    }


def entry(text: str | type | Entry, epochs: int = FULL) -> Entry:
    """An entry as the command line has it: `name` or `name:setting=value,setting=value`.

    The name is one of the paper's methods (`bo-10d`), of any method (`local-search`), or the place
    of a class of the user's own, `path/to/mine.py:Mine` or `module:Mine`; from Python it may be
    the class itself, or an entry. Settings are the method's, and besides `label`, and `features`:
    their name in the benchmark, a number of dimensions for graph2vec, or none.

    >>> entry("hyperband:eta=4", epochs=50).settings
    {'epochs': 50, 'eta': 4}
    >>> entry("random:epochs=25,label=half").label
    'half'
    """
    if isinstance(text, Entry):
        return text
    if isinstance(text, type):
        text = place_of(text, elsewhere=True)
    name, _, rest = text.strip().partition(":")
    word = re.sub(r"[\s_]+", "-", name.strip().lower())
    base = {**_plain_entries(epochs), **paper_entries(epochs)}
    place = None if word in base else split_place(text.strip())
    if place is not None:
        word, rest = place[0].name, place[1] or ""
        found = _own_entry(place[0], epochs, did_you_mean(name.strip().lower(), base))
    elif word in base:
        found = base[word]
    else:
        hint = did_you_mean(word, base) or f"; there are {', '.join(base)}"
        raise BenchError(f"there is no method {name.strip()!r}{hint} ({HOW_NAMED})")
    given = _settings(text, rest)
    features = given.get("features", found.features)
    if isinstance(features, int) and not isinstance(features, bool):
        features = f"graph2vec-{features}"
    features = None if features == "none" else features
    if features is not None and not isinstance(features, str):
        raise BenchError(f"{text!r}: features are a name or a number of dimensions")
    settings = {**found.settings, **{k: v for k, v in given.items() if k not in _OWN}}
    wanted = settings.get("epochs")
    if isinstance(wanted, int) and wanted > epochs:
        raise BenchError(f"{text!r}: a training on this table has {epochs} epochs, not {wanted}")
    shown = found.label if not rest else f"{word}: {rest.strip()}"
    label = str(given.get("label", shown))
    return replace(found, label=label, settings=settings, features=features)


def check_labels(entries: list[Entry]) -> None:
    """Refuse two entries of the same label."""
    labels = [one.label for one in entries]
    for label in labels:
        if labels.count(label) > 1:
            raise BenchError(f"two methods are called {label!r}; give one of them label=…")


def _plain_entries(epochs: int) -> dict[str, Entry]:
    """Every method there is, with its own defaults."""
    found = {}
    for name, kind in METHODS.items():
        features = None if name in WITHOUT_FEATURES else _FEATURES
        found[name] = Entry(name, name, _own_defaults(kind, epochs), features)
    return found


def _own_entry(place: Place, epochs: int, hint: str) -> Entry:
    """A class of the user's own, called by its name."""
    try:
        found, source = load(place)
    except PluginError as error:
        raise BenchError(f"{error}{'' if place.is_file else hint}") from None
    settings: dict[str, Any] = {"epochs": epochs}
    with contextlib.suppress(OwnMethodError):  # what is wrong with it is told where it runs
        settings = _own_defaults(own_kind(found, source), epochs)
    return Entry(place.name, source.place, settings, _FEATURES, source.sha256)


def _own_defaults(kind: type[Method], epochs: int) -> dict[str, Any]:
    """A full training, and one trial after the other."""
    lags = issubclass(kind, SequentialMethod | OwnMethod)
    return {"epochs": epochs, **({"lag": 1} if lags else {})}


def _settings(text: str, rest: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in rest.split(",") if rest.strip() else ():
        name, sign, value = (word.strip() for word in part.partition("="))
        if not sign or not name or not value:
            raise BenchError(f"{text!r}: settings are setting=value,setting=value, not {part!r}")
        if name == "seed":
            raise BenchError(f"{text!r}: every method runs with every seed of the comparison")
        if name in found:
            raise BenchError(f"{text!r}: {name} is given twice")
        found[name.replace("-", "_")] = _value(value)
    return found


def _value(text: str) -> Any:
    """A number, true, false or null; anything else is a word."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if found is None or isinstance(found, bool | int | float) else text
