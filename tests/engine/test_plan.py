"""What the planner stores, and where it puts the rest."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import cells
from cellwright.cell import Cell
from cellwright.cell.listings import ess
from cellwright.cell.zoo import zoo
from cellwright.engine import graph as graphs
from cellwright.engine.assembler import BLOCK, CHUNK, LINEAR, STORED
from cellwright.engine.plan import Plan, make_plan

STEP = 7  # numbers per step: op, out, first input, inputs, accumulate, arg, phase
NO_VALUE = 64  # from here on, operations write to the caller's memory


def plan(cell: Cell, *, train: bool, input_gradient: bool = False) -> Plan:
    graph = graphs.build(cell.simplified())
    return make_plan(graph, train=train, input_gradient=input_gradient)


def owners(cell: Cell, *, train: bool) -> Counter[str]:
    return Counter(buffer.owner for buffer in plan(cell, train=train).stored)


@pytest.mark.parametrize(
    ("name", "training", "inference"),
    [
        ("rnn", 2, 2),  # the state, and the one sum over x
        ("lstm", 6, 6),  # two states, four gates
        ("gru", 5, 4),  # one state, two gates, two halves of n, of which one is over h alone
        ("darts-v1", 25, 3),  # one state, 9 nodes with two sums each, 6 operands
    ],
)
def test_few_buffers_are_stored(name: str, training: int, inference: int) -> None:
    assert owners(zoo[name], train=True) == {"workspace": training, "x": 1}
    assert owners(zoo[name], train=False) == {"workspace": inference, "x": 1}


def test_the_input_gradient_is_stored_only_where_it_is_wanted() -> None:
    with_gradient = plan(zoo["lstm"], train=True, input_gradient=True)
    assert [b.owner for b in with_gradient.stored].count("gradient of x") == 1
    assert with_gradient.backward is not None
    assert with_gradient.backward["input_jobs"]
    without = plan(zoo["lstm"], train=True)
    assert without.backward is not None
    assert not without.backward["input_jobs"]


def test_inference_has_no_backward_program() -> None:
    for name in ("lstm", "darts-v1", "enas"):
        assert plan(zoo[name], train=False).backward is None
        assert plan(zoo[name], train=True).backward is not None


def programs(count: int = 60) -> list[dict[str, list[int]]]:
    found = []
    for number in range(count):
        rng = random.Random(number)
        # The gates of ESS have values as wide as x among those as wide as h.
        cell = ess.lower(cells.ess_listing(rng)) if number % 2 else cells.cell(rng, supernets=True)
        made = plan(cell, train=True, input_gradient=True)
        assert made.backward is not None
        found += [made.forward, made.backward, plan(cell, train=False).forward]
    return found


def steps_of(program: dict[str, list[int]]) -> list[list[int]]:
    table = program["steps"]
    return [table[i : i + STEP] for i in range(0, len(table), STEP)]


def reads(program: dict[str, list[int]], step: list[int]) -> list[int]:
    op, _, first, count = step[:4]
    stride = 2 if op == LINEAR else 1
    return program["inputs"][first : first + count * stride : stride]


def test_a_chunk_lives_in_one_phase_and_no_product_touches_it() -> None:
    seen = 0
    for program in programs():
        kinds = program["values"][::4]
        phases: dict[int, set[int]] = {}
        for step in steps_of(program):
            op, out = step[:2]
            touched = [*reads(program, step), *([out] if op < NO_VALUE else [])]
            for value in touched:
                if kinds[value] == CHUNK:
                    seen += 1
                    assert op != LINEAR
                    phases.setdefault(value, set()).add(step[6])
        assert all(len(found) == 1 for found in phases.values())
    assert seen > 100


def test_products_of_a_phase_do_not_read_what_the_phase_writes() -> None:
    for program in programs():
        written: dict[int, set[int]] = {}
        for step in steps_of(program):
            if step[0] == LINEAR:
                assert not written.get(step[6], set()) & set(reads(program, step))
                written.setdefault(step[6], set()).add(step[1])


def test_values_of_different_widths_never_share_a_block() -> None:
    # Threads take rows of their own without waiting; rows of other lengths would overlap.
    for program in programs():
        table = program["values"]
        widths: dict[int, set[int]] = {}
        for at in range(0, len(table), 4):
            kind, number, _, width = table[at : at + 4]
            if kind == BLOCK:
                widths.setdefault(number, set()).add(width)
        assert all(len(found) == 1 for found in widths.values())


def test_every_place_exists() -> None:
    for program in programs():
        table = program["values"]
        limits = {STORED: len(program["stored"]) // 2, BLOCK: program["blocks"]}
        limits[CHUNK] = program["chunks"]
        for at in range(0, len(table), 4):
            kind, number, shift, _ = table[at : at + 4]
            assert 0 <= number < limits.get(kind, 1 << 30)
            assert shift >= 0
