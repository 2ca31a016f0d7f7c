"""cellwright/1 JSON: the project's own format, which can say every cell.

```json
{"format": "cellwright/1",
 "name": "rnn",
 "inputs": ["x", "h0"],
 "nodes": [{"name": "s", "op": "linear", "inputs": ["x", "h0"]},
           {"name": "h", "op": "tanh", "inputs": ["s"]}],
 "states": ["h"],
 "output": "h"}
```

`name`, `inputs`, `output`, `notes` and a node's attributes may be left out. Where
`inputs` is given, it must list just what the nodes read. A file may also be a list of cells.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from cellwright.base.errors import did_you_mean, shown
from cellwright.cell.cell import Cell, Node
from cellwright.cell.errors import CellError
from cellwright.cell.formats.format import Format
from cellwright.cell.names import parse_input

FORMAT = "cellwright/1"
MOST_TEXT = 4_000_000
"""Longer texts are refused: no cell needs them."""

_CELL_KEYS = ("format", "name", "inputs", "nodes", "states", "output", "notes")
_NODE_KEYS = ("name", "op", "inputs", "bias", "keys", "width", "theta")


def write(cell: Cell, indent: int | None = 2) -> str:
    """The cell as JSON text, attributes left out where they have their usual value."""
    text = _dump(as_dict(cell), indent, ascii_only=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which only an escape can write
        text = _dump(as_dict(cell), indent, ascii_only=True)
    return text


def as_dict(cell: Cell) -> dict[str, Any]:
    """The cell as JSON values."""
    data: dict[str, Any] = {"format": FORMAT}
    if cell.name:
        data["name"] = cell.name
    data["inputs"] = list(cell.inputs)
    data["nodes"] = [_node_as_dict(node) for node in cell.nodes]
    data["states"] = list(cell.states)
    data["output"] = cell.output
    if cell.notes:
        data["notes"] = dict(cell.notes)
    return data


def _node_as_dict(node: Node) -> dict[str, Any]:
    data: dict[str, Any] = {"name": node.name, "op": node.op, "inputs": list(node.inputs)}
    if not node.bias:
        data["bias"] = False
    if node.keys is not None:
        data["keys"] = list(node.keys)
    if node.width != "hidden":
        data["width"] = node.width
    if node.theta is not None:
        data["theta"] = node.theta
    return data


def _dump(data: dict[str, Any], indent: int | None, ascii_only: bool) -> str:
    """JSON with one node a line, which people can read and compare."""
    try:
        if indent is None:
            return json.dumps(data, ensure_ascii=ascii_only, allow_nan=False)
        pad = " " * indent
        lines = []
        for key, value in data.items():
            if key == "nodes":
                rows = ",\n".join(
                    pad * 2 + json.dumps(n, ensure_ascii=ascii_only, allow_nan=False) for n in value
                )
                text = f"[\n{rows}\n{pad}]"
            else:
                text = json.dumps(value, ensure_ascii=ascii_only, allow_nan=False)
            lines.append(f"{pad}{json.dumps(key)}: {text}")
        return "{\n" + ",\n".join(lines) + "\n}\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise CellError(f"the cell's notes cannot be written as JSON: {error}") from None


def load(text: str | bytes, *, constants: bool = False) -> Any:
    """JSON values from text, or a `CellError`. Used by every JSON format.

    NaN and infinities, which JSON does not have but Python writes, are refused unless
    `constants` lets them pass.
    """
    if len(text) > MOST_TEXT:
        raise CellError(f"the text has {len(text)} characters; a cell has at most {MOST_TEXT}")
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        return json.loads(
            text.removeprefix("\ufeff"),
            object_pairs_hook=_no_repeats,
            parse_constant=None if constants else _no_constant,
            parse_float=None if constants else _finite,
        )
    except RecursionError:
        raise CellError("not a cell: the JSON is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise CellError(f"not JSON: byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise CellError(
            f"not JSON: {error.msg.lower()} at line {error.lineno}, column {error.colno}"
        ) from None
    except CellError:
        raise
    except ValueError as error:  # an integer of thousands of digits, for one
        raise CellError(f"not JSON: {error}") from None


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise CellError(f"the key {shown(key)} stands twice in one object")
            seen.add(key)
    return data


def _no_constant(text: str) -> NoReturn:
    raise CellError(f"{text} is not a value that a cell can have")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise CellError(f"the number {shown(text)} is too large")
    return value


def read(text: str | bytes) -> Cell:
    """A cell from JSON text."""
    return from_dict(load(text))


def read_all(text: str | bytes) -> list[Cell]:
    """The cells of JSON text that has one cell or a list of cells."""
    data = load(text)
    if not isinstance(data, list):
        return [from_dict(data)]
    if not data:
        raise CellError("the list of cells is empty")
    cells = []
    for number, entry in enumerate(data):
        try:
            cells.append(from_dict(entry))
        except CellError as error:
            raise CellError(f"cell number {number}: {error}") from None
    return cells


def from_dict(data: Any) -> Cell:
    """A cell from JSON values."""
    if not isinstance(data, Mapping):
        raise CellError(f"a cell is a JSON object, not {_kind(data)}")
    _known_keys(data, _CELL_KEYS, "the cell")
    found = data.get("format")
    if found != FORMAT:
        raise CellError(f"the cell's format is {shown(found)}, not {FORMAT!r}")
    nodes = _get(data, "nodes", list, "the cell")
    states = _get(data, "states", list, "the cell")
    name = _get(data, "name", str, "the cell", default="")
    notes = _get(data, "notes", dict, "the cell", default={})
    output = _get(data, "output", str, "the cell", default=None)
    cell = Cell(
        [_node(value, number) for number, value in enumerate(nodes)], states, output, name, notes
    )
    if "inputs" in data:
        _check_inputs(_get(data, "inputs", list, "the cell"), cell)
    return cell


def _node(data: Any, number: int) -> Node:
    if not isinstance(data, Mapping):
        raise CellError(f"node number {number} is a JSON object, not {_kind(data)}")
    name = _get(data, "name", str, f"node number {number}")
    where = f"node {shown(name)}"
    _known_keys(data, _NODE_KEYS, where)
    keys = _get(data, "keys", list, where, default=None)
    return Node(
        name=name,
        op=_get(data, "op", str, where),
        inputs=_names(_get(data, "inputs", list, where, default=[]), where, "inputs"),
        bias=_get(data, "bias", bool, where, default=True),
        keys=None if keys is None else _names(keys, where, "keys"),
        width=_get(data, "width", str, where, default="hidden"),
        theta=_get(data, "theta", str, where, default=None),
    )


def _check_inputs(listed: list[Any], cell: Cell) -> None:
    names = []
    for value in listed:
        known = parse_input(value) if isinstance(value, str) and len(value) < 100 else None
        if known is None:
            raise CellError(f"{shown(value)} is not an input: inputs are x, h0, x@1, h0@2, …")
        names.append(known.name)
    for name in names:
        if name not in cell.inputs:
            raise CellError(f"the input {name!r} is not used by any node")
    for name in cell.inputs:
        if name not in names:
            reader = next(node.name for node in cell.nodes if name in node.inputs)
            raise CellError(f"node {reader!r}: its input {name!r} is not among the cell's inputs")


def _names(values: list[Any], where: str, what: str) -> tuple[str, ...]:
    for value in values:
        if not isinstance(value, str):
            raise CellError(f"{where}: {what} must be names, not {_kind(value)}")
    return tuple(values)


def _known_keys(data: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in data:
        if key not in known:
            hint = did_you_mean(key, known) or f"; it may have {', '.join(known)}"
            raise CellError(f"{where} has an unknown key {shown(key)}{hint}")


_REQUIRED = object()


def _get(
    data: Mapping[str, Any], key: str, kind: type, where: str, default: Any = _REQUIRED
) -> Any:
    if key not in data:
        if default is _REQUIRED:
            raise CellError(f"{where} has no {key!r}")
        return default
    value = data[key]
    if not isinstance(value, kind):
        raise CellError(f"{where}: {key!r} must be {_KINDS[kind]}, not {_kind(value)}")
    return value


_KINDS: dict[type, str] = {
    dict: "an object", list: "a list", str: "a text", bool: "true or false",
    int: "a number", float: "a number", type(None): "null",
}  # fmt: skip


def _kind(value: object) -> str:
    describe: Callable[[type], str] = lambda t: _KINDS.get(t, t.__name__)  # noqa: E731
    return describe(type(value))


def _recognizes(text: str) -> bool:
    start = re.match(r"\s*[\[{]", text) is not None
    return start and re.search(r'"cellwright/|"nodes"\s*:|"format"\s*:', text) is not None


FORMAT_ENTRY = Format(
    name="cellwright",
    description="cellwright JSON, which can say every cell",
    example=(
        '{"format": "cellwright/1", "nodes": [{"name": "s", "op": "linear", "inputs": '
        '["x", "h0"]}, {"name": "h", "op": "tanh", "inputs": ["s"]}], "states": ["h"]}'
    ),
    read=read_all,
    write=write,
    recognizes=_recognizes,
)
