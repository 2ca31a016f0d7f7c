"""Random cells follow from a seed and their space; labels tell cells apart."""

from __future__ import annotations

import pytest

import cellwright as cw
from cellwright.base.errors import UserError
from cellwright.cell.listings.supernets import darts_supernet
from cellwright.compare.contenders import (
    Contender,
    contender,
    random_contenders,
    told_apart,
)
from cellwright.engine.probe import dead_reason
from cellwright.spaces import space


def test_a_longer_request_begins_with_a_shorter_one():
    many = random_contenders("ess:5,nodes=4,m=2", 3)
    few = random_contenders("ess:2,nodes=4,m=2", 3)
    assert [one.cell.id for one in few] == [one.cell.id for one in many[:2]]
    assert len({one.cell.id for one in many}) == 5
    assert all(space("ess", nodes=4, m=2).contains(one.cell) for one in many)
    assert [one.label for one in few] == ["random-ess-1", "random-ess-2"]
    assert few[0].source == "drawn from ess (nodes=4, m=2), seed 3"


def test_other_seeds_and_settings_draw_other_cells():
    first, second = (random_contenders("ess", seed)[0].cell for seed in (0, 1))
    assert first != second
    assert random_contenders("darts:1,nodes=3")[0].cell != random_contenders("darts:1")[0].cell


def test_cells_are_drawn_uniformly():
    """A space of two cells: both come, in either order."""
    request = "darts:2,nodes=1,operations=tanh+relu"
    firsts = {random_contenders(request, seed)[0].cell.id for seed in range(20)}
    assert len(firsts) == 2


def test_no_random_cell_is_dead():
    """Of this space a quarter are, as `sample` draws them."""
    drawn = random_contenders("ess:30,nodes=4,m=2")
    assert [dead_reason(one.cell) for one in drawn] == [None] * 30


def test_a_space_of_cells_that_cannot_learn_has_no_random_cell():
    with pytest.raises(UserError, match="none can learn"):
        random_contenders("ess,nodes=1,m=1,operations=tanh+relu,gate_operations=tanh+relu")


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ("", "as in ess:2,nodes=4,m=2"),
        ("ess:two", "as in ess:2,nodes=4,m=2"),
        ("ess:0", "1 to 1,000 at a time"),
        ("ess:" + "9" * 5000, "1 to 1,000 at a time"),
        ("ess:1,name=x", "space 'ess' has no setting 'name'"),
        ("ess:2,nodes", "as in ess:2,nodes=4,m=2"),
        ("ess:2,nodes=3,nodes=4", "as in ess:2,nodes=4,m=2"),
        ("esss", "did you mean 'ess'"),
        ("ess:2,node=4", "did you mean 'nodes'"),
        ("ess,nodes=many", "nodes must be a whole number"),
        ("darts:3,nodes=1,operations=tanh+relu", "too few different cells"),
    ],
)
def test_requests_that_cannot_be(request_: str, words: str):
    with pytest.raises(UserError, match=words):
        random_contenders(request_)


def test_labels():
    gru, rnn = cw.zoo["gru"], cw.zoo["rnn"]
    assert contender(gru, "../my cell").label == "my-cell"
    assert contender(gru.renamed("")).label == gru.id
    one, other = told_apart([Contender("x", gru), Contender("X", rnn)])
    assert (one.label, other.label) == (f"x-{gru.id[:8]}", f"X-{rnn.id[:8]}")


def test_cells_that_cannot_be_compared():
    gru = contender(cw.zoo["gru"])
    with pytest.raises(UserError, match="gru and again are the same cell"):
        told_apart([gru, contender(cw.zoo["gru"].renamed("again"))])
    with pytest.raises(UserError, match="is a supernet"):
        told_apart([contender(darts_supernet(2).cell)])
    with pytest.raises(UserError, match="no cell"):
        told_apart([])
