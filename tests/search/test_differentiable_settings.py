"""The papers' numbers are the defaults, and settings that do not go together are refused."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from cellwright.cell.listings.darts import OPERATIONS
from cellwright.search.gradient.settings import DifferentiableSettings


def of(**values: Any) -> DifferentiableSettings:
    return DifferentiableSettings.model_validate(values)


@pytest.mark.parametrize("kind", ["darts", "i-darts", "ess"])
def test_what_the_papers_share(kind: str) -> None:
    """DARTS' search on PTB, which I-DARTS (section 3.1) and ESS (section 5.1) follow."""
    settings = of(kind=kind)
    assert (settings.nodes, settings.operations) == (8, OPERATIONS)
    weights = ("optimizer", "learning_rate", "weight_decay", "clip", "batch")
    assert [getattr(settings, name) for name in weights] == ["sgd", 20, 5e-7, 0.25, 256]
    assert (settings.architecture_rate("intra"), settings.architecture_decay) == (3e-3, 1e-3)
    assert (settings.architecture_beta1, settings.architecture_beta2) == (0.9, 0.999)
    assert (settings.architecture_start, settings.second_order) == (1e-3, False)
    assert (settings.architecture_text, settings.warmup_epochs) == ("valid", 0)


def test_what_they_do_not() -> None:
    darts, i_darts, ess = of(), of(kind="i-darts"), of(kind="ess")
    assert (darts.epochs, i_darts.epochs, ess.rounds) == (50, 40, 50)
    assert (darts.softmax, i_darts.softmax, ess.softmax) == ("pair", "node", "pair")
    assert (darts.scope, i_darts.scope, ess.scope) == ("intra", "intra", "joint")
    assert (darts.norm, i_darts.norm, ess.norm) == ("batch", "batch", "batch")
    assert (darts.drop_unlinks, i_darts.drop_unlinks, ess.drop_unlinks) == (False, False, True)
    assert (ess.m, ess.architecture_rate("inter"), ess.fixed) == (3, 1e-3, "theta")
    assert (darts.top_edges, i_darts.top_edges) == (1, 1)


@pytest.mark.parametrize(("said", "means"), [(True, "row"), (False, "none"), (None, "none")])
def test_other_words_for_norms(said: bool | None, means: str) -> None:
    """Those of earlier versions; and recipes have `None` for "none"."""
    assert of(norm=said).norm == means


def test_a_kind_gives_defaults_alone() -> None:
    assert of(kind="i-darts", softmax="pair", epochs=3).softmax == "pair"
    assert of(kind="i-darts", softmax="pair", epochs=3).epochs == 3


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"scope": "joint"}, "darts searches inside the cell alone"),
        ({"kind": "i-darts", "scope": "inter"}, "i-darts searches inside the cell alone"),
        ({"second_order": True, "optimizer": "adam"}, "looks ahead by a step of SGD"),
        ({"warmup_epochs": 50}, "no epoch of 50 is left"),
        ({"operations": ["tanh", "tan"]}, "did you mean 'tanh'"),
        ({"operations": []}, "at least 1 item"),
        ({"nodes": 0}, "greater than or equal to 1"),
        ({"kind": "ess", "m": 1000}, "how many steps the gates look back"),
        ({"intra": "relu0 tan1"}, "a node looks like relu0, not 'tan1'"),
        ({"kind": "ess", "scope": "inter", "intra": "relu0"}, "intra has 1 nodes, and nodes is 8"),
        ({"kind": "ess", "scope": "inter", "intra": "relu1", "nodes": 1}, "DARTS node 1"),
        ({"average_after": 5}, "Input should be None"),
        ({"kind": "drats"}, "'darts', 'i-darts' or 'ess'"),
        ({"kind": 3}, "'darts', 'i-darts' or 'ess'"),
        ({"norm": "layer"}, "'batch', 'row' or 'none'"),
        ({"hidden": 3}, "Extra inputs are not permitted"),
        ({"architecture_rate_intra": 0.0}, "greater than 0"),
    ],
)
def test_refusals(values: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        of(**values)
