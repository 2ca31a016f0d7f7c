"""What a valid cell is, what it costs, and what its errors say."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cells import cells, family_cells
from cellwright.cell import Cell, CellError, Node, rename_nodes
from cellwright.cell.zoo import zoo

W = Node("w", "linear", ("x", "h0"))
H = Node("h", "tanh", ("w",))

INVALID = {
    "no node": ([], ["h"], None, "at least one node"),
    "no state": ([W, H], [], None, "at least one state"),
    "unknown operation": ([W, Node("h", "tahn", ("w",))], ["h"], None, "'h'.*'tanh'"),
    "too few inputs": ([W, Node("h", "add", ("w",))], ["h"], None, "'h'.*2 or more inputs, not 1"),
    "too many inputs": ([W, Node("h", "sub", ("w",) * 3)], ["h"], None, "'h'.*2 inputs, not 3"),
    "unknown input": ([W, Node("h", "tanh", ("ww",))], ["h"], None, "'h'.*'ww'.*mean 'w'"),
    "no such state": ([Node("h", "linear", ("x", "h1"))], ["h"], None, "'h'.*'h1'"),
    "the state being made": ([Node("h", "linear", ("h0@0",))], ["h"], None, "'h'.*'h0'"),
    "too far back": ([Node("h", "linear", ("x@65",))], ["h"], None, "'h'.*64 steps"),
    "cycle": (
        [Node("a", "tanh", ("b",)), Node("b", "tanh", ("a",))], ["a"], None, "cycle: . → . → .",
    ),
    "twice the same name": ([W, W], ["w"], None, "two nodes are called 'w'"),
    "name of an input": ([Node("h0", "linear", ("x",))], ["h0"], None, "'h0' is the name of an"),
    "not a name": ([Node("a b", "linear", ("x",))], ["a b"], None, "'a b' is not a name"),
    "state without a node": ([W, H], ["hh"], None, "h0 is fed by 'hh'.*mean 'h'"),
    "state fed by an input": ([W, H], ["x"], None, "h0 is fed by 'x'"),
    "output without a node": ([W, H], ["h"], "nowhere", "output 'nowhere'"),
    "attribute of another": ([W, Node("h", "tanh", ("w",), bias=False)], ["h"], None, "'bias'"),
    "keys too few": ([Node("h", "linear", ("x", "h0"), keys=("a",))], ["h"], None, "'h': keys"),
    "key not a name": ([Node("h", "linear", ("x",), keys=("a b",))], ["h"], None, "'h': 'a b'"),
    "one key, two shapes": (
        [Node("h", "linear", ("x", "h0"), keys=("a", "a"))], ["h"], None, "'h'.*'a'.*widths",
    ),
    "width unknown": ([Node("h", "linear", ("x",), width="wide")], ["h"], None, "'h': width"),
    "state as wide as x": (
        [Node("h", "linear", ("h0",), width="input")], ["h"], None, "h0 is fed by 'h'.*wide as x",
    ),
    "widths that do not meet": (
        [Node("g", "linear", ("h0",), width="input"), Node("h", "mul", ("g", "h0"))],
        ["h"], None, "'h'.*'g' is as wide as x",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", INVALID)
def test_errors_name_the_node(what: str) -> None:
    nodes, states, output, says = INVALID[what]
    with pytest.raises(CellError, match=says):
        Cell(nodes, states, output)


def test_nodes_may_be_given_in_any_order() -> None:
    cell = Cell([H, W], ["h"])
    assert [node.name for node in cell.nodes] == ["w", "h"]
    assert cell == Cell([W, H], ["h"])


def test_history_is_an_input_like_others() -> None:
    cell = Cell([Node("h", "linear", ("x@2", "h0@3", "x", "h0@1"))], ["h"])
    assert cell.inputs == ("x", "x@2", "h0", "h0@3")
    assert (cell.input_history, cell.state_history) == (2, 3)
    assert (zoo["lstm"].input_history, zoo["lstm"].state_history) == (0, 1)


def test_measures_by_hand() -> None:
    nodes = [
        Node("gate", "linear", ("h0", "x@1"), width="input", bias=False),
        Node("xg", "mul", ("gate", "x")),
        Node("a", "linear", ("xg", "h0"), keys=("p", "q")),
        Node("b", "linear", ("xg", "h0"), keys=("r", "q")),
        Node("h", "add", ("a", "b")),
    ]
    cell = Cell(nodes, ["h"])
    x, h = 3, 5
    assert cell.parameters(x, h) == (x * h + x * x) + (h * x + h * h + h) + (h * x + h)
    assert cell.multiply_adds(x, h) == x * h + x * x + 2 * (h * x + h * h)
    assert cell.depth == 4
    assert cell.width("xg") == "input"
    assert cell.width("h") == "hidden"
    assert not cell.needs_equal_widths
    assert zoo["lstm"].depth == 7
    assert zoo["rnn"].depth == 3


def test_x_beside_h_needs_equal_widths() -> None:
    assert Cell([Node("h", "add", ("x", "h0"))], ["h"]).needs_equal_widths
    assert Cell([Node("h", "tanh", ("x",))], ["h"]).needs_equal_widths
    assert not Cell(
        [Node("a", "tanh", ("x",)), Node("h", "linear", ("a",))], ["h"]
    ).needs_equal_widths


@given(st.one_of(cells, family_cells))
def test_copies_are_equal(cell: Cell) -> None:
    assert pickle.loads(pickle.dumps(cell)) == cell
    assert copy.deepcopy(cell) == cell
    names = {node.name: f"{node.name}_new" for node in cell.nodes}
    assert rename_nodes(cell, names) == cell
    assert cell.parameters(4, 4) == rename_nodes(cell, names).parameters(4, 4)


def test_name_and_notes_travel_and_do_not_count() -> None:
    named = Cell([W, H], ["h"], name="größe", notes={"from": ["a", 1, None]})
    back = Cell.from_json(named.to_json())
    assert (back.name, dict(back.notes)) == ("größe", {"from": ["a", 1, None]})
    assert named == Cell([W, H], ["h"])
    assert named.renamed("other") == named
    half = Cell([W, H], ["h"], name="\ud800")
    assert Cell.from_json(half.to_json().encode()).name == "\ud800"


def test_notes_that_are_not_json_are_an_error_when_written() -> None:
    with pytest.raises(CellError, match="notes"):
        Cell([W, H], ["h"], notes={"a": object()}).to_json()


JSON = '{"format": "cellwright/1", "nodes": [%s], "states": ["h"]%s}'
NODE = '{"name": "h", "op": "linear", "inputs": ["x"]}'
WRONG_JSON = {
    "{": "not JSON.*line 1",
    "[]": "JSON object, not a list",
    "{}": "format",
    '{"format": "cellwright/2"}': "'cellwright/2'",
    JSON % (NODE, ', "sates": []'): "'sates'.*mean 'states'",
    JSON % (NODE, ', "inputs": ["x", "h0"]'): "'h0' is not used",
    JSON % (NODE, ', "inputs": []'): "'h'.*'x' is not among",
    JSON % (NODE, ', "name": 3'): "'name' must be a text",
    JSON % (NODE, ', "notes": {"a": NaN}'): "NaN",
    JSON % (NODE, ', "notes": {"a": 1e999}'): "too large",
    JSON % ("3", ""): "node number 0",
    JSON % ('{"op": "linear"}', ""): "node number 0 has no 'name'",
    JSON % (NODE[:-1] + ', "bias": "no"}', ""): "'h': 'bias' must be true or false",
    JSON % (NODE[:-1] + ', "op": "tanh"}', ""): "'op' stands twice",
    JSON % (NODE[:-1] + ', "key": []}', ""): "'key'.*mean 'keys'",
}


@pytest.mark.parametrize("text", WRONG_JSON)
def test_wrong_json_says_where(text: str) -> None:
    with pytest.raises(CellError, match=WRONG_JSON[text]):
        Cell.from_json(text)
