"""Whatever text comes in: a valid cell or a `CellError`, never anything else."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from cells import (
    cell,
    darts_listing,
    enas_listing,
    fenas_listing,
    recipe,
)
from cellwright.cell import Cell, CellError, formats
from cellwright.cell.listings import darts, enas, fenas
from cellwright.cell.zoo import zoo
from effort import many

JUNK: list[Any] = [
    None, True, -1, 0, 1e308, 10**40, "", "x", "h0", "h", "x@1", "h0@64", "h9", "tanh", "linear",
    "mix", "\ud800", "é" * 70, [], {}, [[]], ["x"], {"op": "linear"}, "cellwright/1", "NaN",
]  # fmt: skip


def mutated(value: Any, rng: random.Random) -> Any:
    """JSON values with one thing changed somewhere."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice([*value, *[k for k in ("nodes", "inputs", "op") if k in value] * 4])
        match rng.randrange(20):
            case 0:
                return {k: v for k, v in value.items() if k != key}
            case 1:
                return {(rng.choice(["", "op", "nodes", key * 2]) if k == key else k): v
                        for k, v in value.items()}  # fmt: skip
            case 2:
                return {**value, key: rng.choice(JUNK)}
            case _:
                return {**value, key: mutated(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        match rng.randrange(20):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return [*value, value[at]]
            case 2:
                return [*value[:at], rng.choice(JUNK), *value[at:]]
            case 3:
                return rng.sample(value, len(value))
            case _:
                return [*value[:at], mutated(value[at], rng), *value[at + 1 :]]
    if isinstance(value, str) and rng.random() < 0.7:
        known = ["x", "h0", "h1", "n0", "n1", "n2", "n5", "tanh", "add", "linear", "blend", "mix"]
        return rng.choice(known) if rng.random() < 0.7 else value[: rng.randrange(len(value) + 1)]
    return rng.choice(JUNK)


def garbled(text: str, rng: random.Random) -> str:
    """Text that is cut, doubled, or has characters changed."""
    at, to = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    match rng.randrange(5):
        case 0:
            return text[:at]
        case 1:
            return text[:at] + text[to:]
        case 2:
            return text[:to] + text[at:]
        case 3:
            wild = rng.choice('{}[]()",:=#*\\\x00 \n09axh@-é\ud800')
            return text[:at] + wild * rng.choice([1, 1, 1, 3, 50]) + text[at:]
        case _:
            return text[:at] + rng.choice(["NaN", "1e999", "null", "9" * 5000]) + text[to:]


def check(text: str | bytes, format: str | None = None) -> bool:
    try:
        found = formats.read(text, format)
    except CellError as error:
        if len(str(error)) > 3000:
            raise AssertionError("an error is for people to read") from error
        return False
    for each in found:
        assert len(each.id) == 16
        each.simplified()
    return True


def test_mutations_of_json() -> None:
    rng = random.Random(0)
    valid = 0
    count = many(3000)
    for _ in range(count):
        made = cell(rng, most=8, supernets=True)
        data = json.loads(made.to_json())
        if rng.random() < 0.7:
            del data["inputs"]  # which says again what the nodes say, so most changes break it
        for _ in range(rng.choice([1, 1, 2, 5])):
            data = mutated(data, rng)
        text = json.dumps(data)
        if rng.random() < 0.2:
            text = garbled(text, rng)
        valid += check(text, rng.choice([None, "cellwright"]))
    assert 0.05 * count < valid < 0.95 * count, "the mutations must lead to both"


def test_mutations_of_every_format() -> None:
    rng = random.Random(1)
    makers = {
        "darts": lambda: formats.write(darts.lower(darts_listing(rng, 4)), "darts"),
        "enas": lambda: formats.write(enas.lower(enas_listing(rng, 6)), "enas"),
        "fenas": lambda: formats.write(fenas.lower(fenas_listing(rng, 6)), "fenas"),
        "nas-bench-nlp": lambda: json.dumps(recipe(rng, 6)),
    }
    for name, make in makers.items():
        for _ in range(500):
            text = make()
            if name == "nas-bench-nlp" and rng.random() < 0.7:
                text = json.dumps(mutated(json.loads(text), rng))
            for _ in range(rng.choice([0, 1, 1, 3])):
                text = garbled(text, rng)
            check(text, rng.choice([None, name]))
            check(text, rng.choice(list(formats.FORMATS)))


LARGE = 10_000_000
LSTM = zoo["lstm"].to_json(indent=None)
HOSTILE: dict[str, str | bytes] = {
    "much junk": "junk " * (LARGE // 5),
    "many brackets": "[" * LARGE,
    "brackets just allowed": "[" * 3_000_000,
    "nested objects": '{"a":' * 100_000,
    "nested and closed": "[" * 990 + "]" * 990,
    "a nested format": '{"format": ' + "[" * 900 + "]" * 900 + ', "nodes": [], "states": []}',
    "nested notes": LSTM[:-1] + ', "notes": {"a": ' + "[" * 900 + "]" * 900 + "}}",
    "a nested recipe": '{"h_new_0": {"op": "linear", "input": ' + "[" * 900 + "]" * 900 + "}}",
    "a nested log": '{"recepie": ' + "[" * 900 + "]" * 900 + "}",
    "a huge number": '{"format": ' + "9" * 100_000 + "}",
    "a huge sequence": "0 " * 1_900_000,
    "many lines": "1 = tanh(x)\n" * 300_000,
    "many genotypes": "Genotype(recurrent=[('relu', 0)], concat=[1])\n" * 80_000,
    "a genotype without end": "Genotype(recurrent=[" + "('relu', 0), " * 10_000,
    "a genotype of parentheses": "Genotype(" + "(" * 100_000,
    "a long name": '{"format": "cellwright/1", "nodes": [{"name": "' + "a" * 1_000_000 + '"}]}',
    "not UTF-8": b"\xff\xfe\x00",
    "zeros": b"\x00" * LARGE,
    "half a character": LSTM.encode() + b"\xc3",
    "blanks": " " * 3_900_000,
    "blanks and a brace": "{" + " " * 3_900_000,
    "many nodes": json.dumps(
        {
            "format": "cellwright/1",
            "nodes": [{"name": f"n{i}", "op": "linear", "inputs": ["x"]} for i in range(5000)],
            "states": ["n0"],
        }
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_texts(what: str) -> None:
    for format in (None, *formats.FORMATS):
        check(HOSTILE[what], format)
    try:
        Cell.from_json(HOSTILE[what])
    except CellError:
        return
    assert what == "nested notes"


def test_large_cells_have_an_id() -> None:
    """A chain and a fan, as long and as wide as a cell may be."""
    chain = [{"name": "n0", "op": "linear", "inputs": ["x", "h0"]}]
    chain += [{"name": f"n{i}", "op": "tanh", "inputs": [f"n{i - 1}"]} for i in range(1, 4096)]
    fan = [{"name": f"n{i}", "op": "linear", "inputs": ["x", "h0"]} for i in range(1024)]
    fan += [{"name": "h", "op": "mean", "inputs": [f"n{i}" for i in range(1024)]}]
    for nodes, state in ((chain, "n4095"), (fan, "h")):
        text = json.dumps({"format": "cellwright/1", "nodes": nodes, "states": [state]})
        assert check(text)
