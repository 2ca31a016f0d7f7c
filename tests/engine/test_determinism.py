"""The native core gives the same bits however its work is shared out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from support import (
    Inputs,
    Results,
    assert_identical,
    assert_native_is_torch,
    on,
    random_state,
    run,
    shared_out,
    thetas,
)

from cellwright.cell import Cell
from cellwright.cell.listings.supernets import darts_supernet, ess_supernet
from cellwright.cell.zoo import zoo
from cellwright.engine import Recurrent, native_backend, native_job

CELLS: dict[str, Cell] = {
    "lstm": zoo["lstm"],
    "darts-v1": zoo["darts-v1"],
    "darts supernet": darts_supernet(3, norm="row").cell,
    "ess supernet": ess_supernet(2, 3).cell,  # reads both x and h several steps back
}


def case(
    name: str, *, ragged: bool = False, batch: int = 21, hidden: int = 37
) -> tuple[Recurrent, Inputs]:
    torch.manual_seed(0)
    cell = CELLS[name]
    module = Recurrent(cell, 19, hidden, 2, bidirectional=True, dropout=0.2, hidden_dropout=0.2)
    lengths = [1 + 5 * row % 7 for row in range(batch)] if ragged else None
    x = torch.randn(7, batch, 19, requires_grad=True)
    return module, Inputs(x, random_state(module, batch), lengths, thetas(cell))


def shared(module: Recurrent, inputs: Inputs, by: str | None, threads: int) -> Results:
    with shared_out(by, threads):
        return run(module, inputs)


@pytest.mark.parametrize("name", CELLS)
def test_what_memory_held_before_does_not_matter(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that have ended leave parts of it as they were."""
    module, inputs = case(name, ragged=True)
    once = shared(module, inputs, None, 1)

    def spoiled(floats: int) -> torch.Tensor:
        return torch.full((floats,), float("nan"))

    monkeypatch.setattr(native_job.workspaces, "take", spoiled)
    for threads in (1, 2):
        assert_identical(shared(module, inputs, None, threads), once, f"{threads} threads")
    assert_native_is_torch(module, inputs)


@pytest.mark.parametrize("ragged", [False, True], ids=["full", "ragged"])
@pytest.mark.parametrize("name", CELLS)
def test_results_do_not_depend_on_threads(name: str, ragged: bool) -> None:
    module, inputs = case(name, ragged=ragged)
    alone = shared(module, inputs, None, 1)
    for threads in (2, 3):
        for by in (None, "rows", "columns", "directions"):
            found = shared(module, inputs, by, threads)
            assert_identical(found, alone, f"{threads} threads, {by}")


def test_results_do_not_depend_on_threads_for_large_sizes() -> None:
    torch.manual_seed(0)
    module = Recurrent(zoo["gru"], 65, 210)
    inputs = Inputs(torch.randn(17, 70, 65, requires_grad=True), random_state(module, 70))
    alone = shared(module, inputs, None, 1)
    for by in (None, "rows", "columns"):
        for threads in (2, 3):
            assert_identical(shared(module, inputs, by, threads), alone, f"{threads}, {by}")


@pytest.mark.parametrize("name", CELLS)
def test_repeated_runs_give_the_same_bits(name: str) -> None:
    module, inputs = case(name, ragged=True)
    first = shared(module, inputs, "rows", 2)
    for _ in range(5):
        assert_identical(shared(module, inputs, "rows", 2), first)


@pytest.mark.parametrize("name", CELLS)
def test_rows_of_a_batch_do_not_influence_each_other(name: str) -> None:
    module, inputs = case(name)
    module.eval()
    everything = run(module, inputs)
    with torch.no_grad():
        changed = inputs.x.clone()
        changed[:, 1:] = 100 * torch.randn_like(changed[:, 1:])
        changed[2, 3] = torch.nan
    other = run(module, Inputs(changed.requires_grad_(), inputs.state, None, inputs.theta))
    assert torch.equal(other["output"][:, 0], everything["output"][:, 0])
    assert torch.equal(other["gradient of x"][:, 0], everything["gradient of x"][:, 0])
    assert not torch.equal(other["output"][:, 1], everything["output"][:, 1])


@pytest.fixture
def best_set_afterwards() -> Iterator[None]:
    yield
    native_backend._native.use_instruction_set(native_backend._native.instruction_sets()[0])


@pytest.mark.parametrize("ragged", [False, True], ids=["full", "ragged"])
@pytest.mark.parametrize("name", CELLS)
@pytest.mark.usefixtures("best_set_afterwards")
def test_every_instruction_set_agrees_with_torch(name: str, ragged: bool) -> None:
    module, inputs = case(name, ragged=ragged, batch=11, hidden=33)
    expected = run(on(module, "torch"), inputs)
    sets = native_backend._native.instruction_sets()
    assert sets[-1] == "plain"
    for instructions in sets:
        native_backend._native.use_instruction_set(instructions)
        with shared_out("rows", 2):
            assert_native_is_torch(module, inputs, expected)
        by_rows, by_columns = (shared(module, inputs, by, 3) for by in ("rows", "columns"))
        assert_identical(by_rows, by_columns, instructions)


def test_unknown_instruction_sets_are_refused() -> None:
    with pytest.raises(ValueError, match="no instruction set 'abacus'"):
        native_backend._native.use_instruction_set("abacus")
