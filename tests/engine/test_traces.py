"""Traces of a network compute what it does, on other numbers as well."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
import torch
from surroundings_cases import OTHER, STEPS, WIDTH, X, marks, near, network, on_torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from cellwright.cell import Cell, Node
from cellwright.engine import Recurrent

pytestmark = marks


@pytest.mark.parametrize(
    "options", [{}, {"num_layers": 2, "bidirectional": True, "batch_first": True}]
)
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_a_traced_module_computes_the_same_on_other_numbers(
    cell: str, options: dict[str, Any]
) -> None:
    module = network(cell, **options)
    traced = torch.jit.trace(module, (X,), strict=False)
    kept = io.BytesIO()
    torch.jit.save(traced, kept)
    kept.seek(0)
    for again in (traced, torch.jit.load(kept)):
        output, state = again(OTHER)
        expected, wanted = on_torch(module, OTHER)
        assert near(output, expected)
        assert near(torch.stack([*state]), torch.stack([*wanted]))


class Padded(nn.Module):
    def __init__(self, network: Recurrent) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Any]:
        return self.network(x, lengths=lengths)


class Packed(Padded):
    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Any]:
        packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
        output, state = self.network(packed)
        return pad_packed_sequence(output, total_length=STEPS)[0], state


@pytest.mark.parametrize("around", [Padded, Packed])
@pytest.mark.parametrize("cell", ["lstm", "nbnlp-lstm"])
def test_a_traced_module_takes_other_lengths(cell: str, around: Callable[..., nn.Module]) -> None:
    module = around(network(cell, bidirectional=True))
    traced = torch.jit.trace(module, (X, torch.tensor([5, 3, 2])), strict=False)
    for lengths in ([5, 3, 2], [1, 5, 4], [2, 5, 5]):
        output, state = traced(OTHER, torch.tensor(lengths))
        expected, wanted = on_torch(module.network, OTHER, lengths=lengths)
        assert near(output, expected)
        assert all(map(near, state, wanted))


def test_a_traced_cell_with_a_history_takes_other_lengths() -> None:
    nodes = [Node("s", "linear", ("x", "x@2", "h0", "h0@3")), Node("h", "tanh", ("s",))]
    torch.manual_seed(0)
    module = Padded(Recurrent(Cell(nodes, ["h"]), WIDTH, 6))
    traced = torch.jit.trace(module, (X, torch.tensor([5, 3, 2])), strict=False)
    output, state = traced(OTHER, torch.tensor([1, 5, 4]))
    expected, wanted = on_torch(module.network, OTHER, lengths=[1, 5, 4])
    assert near(output, expected)
    assert all(map(near, state, wanted))


def test_a_script_is_refused_with_what_to_do_instead() -> None:
    with pytest.raises(RuntimeError, match=r"torch.jit.trace\(module, \(x,\)\) records it"):
        torch.jit.script(nn.Sequential(network()))


@pytest.mark.filterwarnings("ignore:.*legacy TorchScript:DeprecationWarning")
def test_the_older_exporter_writes_what_onnx_reads() -> None:
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    module = network().eval()
    kept = io.BytesIO()
    torch.onnx.export(module, (X,), kept, dynamo=False)
    model = onnx.load_from_string(kept.getvalue())
    onnx.checker.check_model(model)
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    session = runtime.InferenceSession(kept.getvalue())
    found = session.run(None, {session.get_inputs()[0].name: OTHER.numpy()})[0]
    assert near(torch.from_numpy(found), on_torch(module, OTHER)[0])


def test_tensorboard_draws_its_graph(tmp_path: Any) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_graph(network(), X, use_strict_trace=False)
    assert [path.stat().st_size > 1000 for path in tmp_path.iterdir()] == [True]
