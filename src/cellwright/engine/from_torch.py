"""Networks of PyTorch's own cells as `Recurrent`, weights and all."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from cellwright.cell.zoo import zoo

_GATES: dict[str, tuple[str, tuple[str, ...]]] = {
    "LSTM": ("lstm", ("i", "f", "g", "o")),
    "GRU": ("gru", ("r", "z", "n")),
    "RNN_TANH": ("rnn", ("s",)),
}
"""For each mode of torch's modules, the zoo's cell and the order of its gates in the weights."""


def arguments(module: nn.RNNBase) -> dict[str, object]:
    """What `Recurrent` must be made with to have the module's shape."""
    if module.mode not in _GATES or module.proj_size:
        raise ValueError(
            f"{type(module).__name__} of mode {module.mode!r} has no cell in the zoo: "
            "nn.LSTM and nn.GRU do, and nn.RNN with tanh, all without proj_size"
        )
    return {
        "cell": zoo[_GATES[module.mode][0]],
        "input_size": module.input_size,
        "hidden_size": module.hidden_size,
        "num_layers": module.num_layers,
        "batch_first": module.batch_first,
        "bidirectional": module.bidirectional,
        "dropout": module.dropout,
    }


def parameters(module: nn.RNNBase) -> dict[str, Tensor]:
    """The module's weights under `Recurrent`'s names."""
    gates = _GATES[module.mode][1]
    result: dict[str, Tensor] = {}
    for layer in range(module.num_layers):
        for torch_end, our_end in (("", ""), ("_reverse", "_reverse"))[: 1 + module.bidirectional]:
            for side, source, operand in (("ih", "x", "x"), ("hh", "h", "h0")):
                place = f"{side}_l{layer}{torch_end}"
                weights = getattr(module, f"weight_{place}").chunk(len(gates))
                if module.bias:
                    biases = getattr(module, f"bias_{place}").chunk(len(gates))
                else:
                    biases = [torch.zeros(module.hidden_size).to(weights[0])] * len(gates)
                for gate, weight, bias in zip(gates, weights, biases, strict=True):
                    name = f"layer{layer}{our_end}.{gate}_{source}"
                    result[f"{name}.weight_{operand}"] = weight
                    result[f"{name}.bias"] = bias
    return result
