"""Packed weights that are kept between calls are never older than the weights."""

from __future__ import annotations

import copy
import pickle
import threading

import pytest
import torch

from cellwright import zoo
from cellwright.engine import Recurrent, native_backend

pytestmark = pytest.mark.skipif(not native_backend.available(), reason="the core is not built")


def packed_anew(module: Recurrent, x: torch.Tensor) -> torch.Tensor:
    """The output of a copy, which has kept nothing."""
    with torch.inference_mode():
        return copy.deepcopy(module)(x)[0]


@pytest.mark.parametrize("name", ["lstm", "darts-v1"])
@pytest.mark.parametrize("batch", [1, 5])
def test_changes_that_torch_does_not_count_are_seen(name: str, batch: int) -> None:
    torch.manual_seed(0)
    module = Recurrent(zoo[name], 20, 75, 2, bidirectional=True, backend="native")
    x = torch.randn(6, batch, 20)
    last = None
    with torch.no_grad():
        for parameter in module.parameters():
            flat = parameter.data.view(-1)
            for place in (0, flat.numel() // 2, flat.numel() - 1):
                version = parameter._version
                flat[place] += 0.5  # one number alone
                assert parameter._version == version or parameter.numel() == 0
                found = module(x)[0]
                assert torch.equal(found, packed_anew(module, x))
                assert last is None or not torch.equal(found, last)
                last = found
    assert torch.equal(module(x)[0], last)  # with gradients, where nothing is kept


def test_calls_of_other_sizes_come_between() -> None:
    torch.manual_seed(0)
    module = Recurrent(zoo["lstm"], 33, 48, backend="native")
    inputs = [torch.randn(t, b, 33) for t, b in ((1, 1), (4, 12), (3, 30), (40, 60), (1, 10))]
    with torch.inference_mode():
        for _ in range(3):
            for x in inputs:
                assert torch.equal(module(x)[0], packed_anew(module, x))


def test_copies_begin_with_nothing_kept() -> None:
    module = Recurrent(zoo["gru"], 8, 16, backend="native")
    x = torch.randn(3, 2, 8)
    with torch.inference_mode():
        expected = module(x)[0]
        kept = module.layer0.kept
        assert kept._memory
        for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
            assert not other.layer0.kept._memory
            assert torch.equal(other(x)[0], expected)


def test_threads_that_share_a_module_do_not_share_what_is_kept() -> None:
    torch.manual_seed(0)
    module = Recurrent(zoo["lstm"], 30, 120, backend="native")
    inputs = [torch.randn(5, 2, 30) for _ in range(4)]
    with torch.inference_mode():
        expected = [packed_anew(module, x) for x in inputs]
    wrong: list[int] = []

    def work(number: int) -> None:
        with torch.inference_mode():
            for _ in range(50):
                if not torch.equal(module(inputs[number])[0], expected[number]):
                    wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
