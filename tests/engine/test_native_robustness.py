"""The native core under odd numbers, many calls, many threads and forks."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from support import Inputs, assert_same, call, on, run, shared_out, thetas

from cellwright.cell import Cell, Node
from cellwright.cell.listings.supernets import darts_supernet, ess_supernet
from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent, native_backend
from effort import many

CELLS = {name: zoo[name] for name in ("rnn", "lstm", "gru", "enas", "darts-v1", "nbnlp-lstm")}
CELLS["darts supernet"] = darts_supernet(2, norm="row").cell
CELLS["ess supernet"] = ess_supernet(2, 2).cell


def both(cell: Cell, x: torch.Tensor, hidden: int = 9) -> tuple[torch.Tensor, torch.Tensor]:
    """Output on torch and on the core."""
    torch.manual_seed(0)
    module = Recurrent(cell, x.shape[2], hidden)
    inputs = Inputs(x, theta=thetas(cell))
    with torch.no_grad():
        return tuple(call(on(module, backend), inputs)[0] for backend in ("torch", "native"))


def kinds(values: torch.Tensor) -> torch.Tensor:
    """0 for finite numbers, 1 for NaN, 2 and 3 for the infinities."""
    return values.isnan() * 1 + values.isposinf() * 2 + values.isneginf() * 3


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("name", CELLS)
def test_nan_and_infinity_come_out_as_with_torch(name: str, bad: float) -> None:
    x = torch.randn(5, 6, 7, generator=torch.Generator().manual_seed(2))
    x[1, 2, 3] = bad
    x[0, 5, 0] = bad
    x[4, 4] = bad
    expected, found = both(CELLS[name], x)
    assert expected.isnan().any() or bad in (torch.inf, -torch.inf)
    assert torch.equal(kinds(found), kinds(expected))
    finite = torch.isfinite(expected)
    assert torch.allclose(found[finite], expected[finite], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("join", ["add", "mul", "max", "div"])
@pytest.mark.parametrize("op", ["tanh", "sigmoid", "relu", "leaky_relu", "norm", "exp"])
@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_operations_on_nan_and_infinity(op: str, join: str, bad: float) -> None:
    cell = Cell([Node("a", op, ("x",)), Node("h", join, ("a", "x"))], ["h"])
    x = torch.randn(2, 3, 5)
    x[0, 1, 2] = bad
    expected, found = both(cell, x, hidden=5)
    assert torch.equal(kinds(found), kinds(expected))


@pytest.mark.parametrize("size", [1e30, -1e30, 3e38, 1e-40, -1e-45, 0.0])
@pytest.mark.parametrize("name", CELLS)
def test_extreme_inputs_agree(name: str, size: float) -> None:
    x = torch.full((3, 4, 7), size)
    x[1, 1] *= -1
    expected, found = both(CELLS[name], x)
    assert torch.equal(torch.isfinite(found), torch.isfinite(expected))
    finite = torch.isfinite(expected)
    assert torch.allclose(found[finite], expected[finite], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
@pytest.mark.parametrize("op", ["tanh", "sigmoid", "relu", "leaky_relu", "exp"])
def test_gradients_at_nan_and_infinity_are_torchs(op: str, bad: float) -> None:
    nodes = [Node("s", "linear", ("x", "h0")), Node("h", op, ("s",))]
    torch.manual_seed(0)
    module = Recurrent(Cell(nodes, ["h"]), 3, 4)
    x = torch.randn(2, 3, 3)
    x[1, 1, 1] = bad
    expected, found = (run(on(module, b), Inputs(x)) for b in ("torch", "native"))
    assert_same(found, expected)


def activation(op: str, values: torch.Tensor) -> torch.Tensor:
    """An activation by itself, on the core."""
    cell = Cell([Node("h", op, ("x",))], ["h"])
    return Recurrent(cell, 16, 16)(values.reshape(1, -1, 16))[0].flatten()


@pytest.mark.parametrize("op", ["tanh", "sigmoid"])
def test_activations_are_accurate(op: str) -> None:
    exact = {"tanh": torch.tanh, "sigmoid": torch.sigmoid}[op]
    grid = torch.linspace(-20, 20, 400_000)
    small = torch.logspace(-38, 0, 80_000)
    values = torch.cat([grid, small, -small, torch.linspace(-120, 120, 32_000)])
    found = activation(op, values).double()
    error = (found - exact(values.double())).abs()
    assert error.max() < 2e-7
    relative = error / exact(values.double()).abs().clamp_min(1e-37)
    near = values.abs() <= 20
    assert relative[near].max() < 1e-6
    ends = torch.tensor([torch.inf, -torch.inf, torch.nan, 0.0] * 4)
    assert torch.allclose(activation(op, ends), exact(ends), rtol=0, atol=1e-37, equal_nan=True)


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux' /proc")
def test_thousands_of_calls_leak_nothing() -> None:
    cell = darts_supernet(1).cell
    module, theta = Recurrent(cell, 20, 40), thetas(cell)
    x = torch.randn(3, 4, 20, requires_grad=True)

    def calls(count: int) -> None:
        for number in range(count):
            output, _ = module(x, theta=theta)
            if number % 10:  # some graphs are never gone back through
                output.sum().backward()

    calls(500)
    gc.collect()
    before = resident_bytes()
    calls(many(2500))
    gc.collect()
    assert resident_bytes() - before < 5e6


class Watched:
    """The core, which notes how far another thread got while it ran calls."""

    def __init__(self, seen: list[None], progress: list[int]) -> None:
        self.core, self.seen, self.progress = native_backend._native, seen, progress

    def __getattr__(self, name: str) -> Any:
        return getattr(self.core, name)

    def run(self, *arguments: Any) -> None:
        before = len(self.seen)
        self.core.run(*arguments)
        self.progress.append(len(self.seen) - before)


def test_other_python_threads_run_during_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[None] = []
    progress: list[int] = []
    monkeypatch.setattr(native_backend, "_native", Watched(seen, progress))
    module = Recurrent(zoo["gru"], 100, 200)
    x = torch.randn(60, 64, 100)
    done = threading.Event()

    def count() -> None:
        while not done.is_set():
            seen.append(None)
            time.sleep(0)  # gives the lock away; nobody can take it by force below

    interval = sys.getswitchinterval()
    counter = threading.Thread(target=count)
    try:
        sys.setswitchinterval(1000)
        counter.start()
        with torch.no_grad(), shared_out(None, 1):
            for _ in range(20):
                module(x)
    finally:
        done.set()
        sys.setswitchinterval(interval)
        counter.join()
    assert len(progress) == 20
    assert max(progress) > 0


def test_python_threads_at_the_same_time_get_their_own_results() -> None:
    torch.manual_seed(0)
    names = ["lstm", "gru", "darts-v1", "enas"]
    modules = [Recurrent(zoo[name], 12, 33) for name in names]
    inputs = [Inputs(torch.randn(9, 10, 12, requires_grad=True)) for _ in names]
    expected = [run(m, i) for m, i in zip(modules, inputs, strict=True)]
    wrong: list[str] = []

    def work(number: int) -> None:
        try:
            for _ in range(15):
                assert_same(run(modules[number], inputs[number]), expected[number], rtol=0, atol=0)
        except BaseException as error:
            wrong.append(f"{names[number]}: {error}")

    with shared_out("rows", 2):
        threads = [threading.Thread(target=work, args=(n,)) for n in range(len(names))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_gets_the_same_results() -> None:
    torch.manual_seed(0)
    module = Recurrent(zoo["lstm"], 8, 50)
    x = torch.randn(6, 16, 8)
    with torch.no_grad(), shared_out("rows", 2):
        expected = module(x)[0]
        child = os.fork()
        if child == 0:
            same = torch.equal(module(x)[0], expected)
            os._exit(0 if same else 1)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert torch.equal(module(x)[0], expected)  # the parent still works, too
