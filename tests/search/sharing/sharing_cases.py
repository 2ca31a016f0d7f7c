"""Short searches with shared weights, and the same arithmetic written out in plain torch."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parents[1]))

from texts import small_corpus, small_model, small_task, split

from cellwright.cell.listings import EnasListing
from cellwright.search.sharing.controller import Controller
from cellwright.search.sharing.enas import SharingSearch
from cellwright.search.sharing.settings import SharingSettings

ACTS = {"tanh": torch.tanh, "relu": torch.relu, "sigmoid": torch.sigmoid, "identity": lambda x: x}


def sharing_settings(**changes: Any) -> SharingSettings:
    """Two epochs of a few steps."""
    kind = changes.get("kind", "enas")
    values = {
        "nodes": 4,
        "epochs": 2,
        "batch": 4,
        "evaluation_batch": 2,
        "learning_rate": 0.5,
        "controller_steps": 3 if kind == "enas" else 0,
        "controller_samples": 2,
        "controller_rate": 1e-2,
        "controller_units": 7,
        "candidates": 3,
        "finalists": 3,
    }
    return SharingSettings.model_validate({**values, **changes})


def sharing_search(seed: int = 3, **changes: Any) -> SharingSearch:
    """With these settings of task, model and search."""
    of_task, model, search = split(changes)
    task = small_task(small_corpus(100), **{"bptt_halve": 0.0, **of_task})
    return SharingSearch(task, small_model(**model), sharing_settings(**search), seed)


# -- written out ---------------------------------------------------------------------------------


def bank_weight(weights: Mapping[str, Tensor], key: str) -> Tensor:
    return weights[f"recurrent.layer0.bank.{key}"]


def plain_step(
    listing: EnasListing, weights: Mapping[str, Tensor], x: Tensor, h: Tensor, norm: str
) -> Tensor:
    """One time step of an ENAS cell (Pham et al. 2018, section 2.1 and appendix)."""

    def behind(value: Tensor) -> Tensor:
        """What ENAS' code makes of a product, and of the new state."""
        if norm != "products":
            return value
        variance = value.var(0, unbiased=False)
        return (value - value.mean(0)) / (1.0 + variance).sqrt()

    def bank(key: str) -> Tensor:
        return bank_weight(weights, key)

    c = torch.sigmoid(behind(x @ bank("c_0_x").T + h @ bank("c_0_h").T))
    new = ACTS[listing.first](behind(x @ bank("h_0_x").T + h @ bank("h_0_h").T))
    nodes = [c * new + (1 - c) * h]
    for number, (source, op) in enumerate(listing.later, 1):
        s = nodes[source]
        c = torch.sigmoid(behind(s @ bank(f"c_{number}_{source}").T))
        nodes.append(c * ACTS[op](behind(s @ bank(f"h_{number}_{source}").T)) + (1 - c) * s)
    sources = {source for source, _ in listing.later}
    ends = [node for number, node in enumerate(nodes) if number not in sources]
    mean = sum(ends[1:], ends[0]) / len(ends)
    if norm != "row":
        return behind(mean)
    centred = mean - mean.mean(1, keepdim=True)
    return centred / (centred.square().mean(1, keepdim=True) + 1e-5).sqrt()


def plain_loss(
    listing: EnasListing,
    weights: Mapping[str, Tensor],
    tokens: Tensor,
    targets: Tensor,
    norm: str,
) -> Tensor:
    """Mean nats per word from a state of zero, without dropout."""
    embedding, bias = weights["embedding.weight"], weights["decoder_bias"]
    h = torch.zeros(tokens.shape[1], embedding.shape[1])
    losses = []
    for words, following in zip(tokens, targets, strict=True):
        h = plain_step(listing, weights, embedding[words], h, norm)
        losses.append(F.cross_entropy(h @ embedding.T + bias, following, reduction="none"))
    return torch.stack(losses).mean()


class PlainPolicy(nn.Module):
    """The controller once more, around `nn.LSTMCell` and `nn.Linear`."""

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        state = {name: tensor.detach().clone() for name, tensor in controller.named_parameters()}
        units = len(state["start"])
        self.operations = controller.operations
        self.bound, self.temperature = controller.tanh_constant, controller.temperature
        self.lstm = nn.LSTMCell(units, units)
        gates = state["gates"].reshape(4 * units, 2 * units)
        with torch.no_grad():
            self.lstm.weight_ih.copy_(gates[:, :units])
            self.lstm.weight_hh.copy_(gates[:, units:])
            self.lstm.bias_ih.copy_(state["gate_biases"].reshape(-1))
            self.lstm.bias_hh.zero_()
        self.start = nn.Parameter(state["start"])
        self.embedding = nn.Parameter(state["embeddings"])
        self.op_head = nn.Parameter(state["of_operations"])
        self.anchor_head = nn.Parameter(state["of_anchor"])
        self.query_head = nn.Parameter(state["of_query"])
        self.v = nn.Parameter(state["of_both"])

    def forward(self, listing: EnasListing) -> tuple[Tensor, Tensor]:
        """ln p, and the sum of the entropies."""
        distributions = []
        anchors: list[Tensor] = []
        state = None
        x = self.start
        for number, (source, op) in enumerate([(0, listing.first), *listing.later]):
            state = self.lstm(x[None], state)
            x = self.start
            if number:
                before = torch.cat(anchors)
                seen = before @ self.anchor_head.T + state[0] @ self.query_head.T
                distributions.append((torch.tanh(seen) @ self.v, source))
                x = before[source]
            anchors.append(state[0])
            state = self.lstm(x[None], state)
            choice = self.operations.index(op)
            distributions.append((state[0][0] @ self.op_head.T, choice))
            x = self.embedding[choice]
        chances = [
            (torch.softmax(self.bound * torch.tanh(logits / self.temperature), 0), choice)
            for logits, choice in distributions
        ]
        log_probability = sum(torch.log(p[choice]) for p, choice in chances)
        entropy = sum(-(p * torch.log(p)).sum() for p, _ in chances)
        return log_probability, entropy

    def as_controller(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Tensors by this module's names under those of the controller."""
        units = len(self.start)
        both = torch.cat([tensors["lstm.weight_ih"], tensors["lstm.weight_hh"]], 1)
        return {
            "start": tensors["start"],
            "embeddings": tensors["embedding"],
            "gates": both.reshape(4, units, 2 * units),
            "gate_biases": tensors["lstm.bias_ih"].reshape(4, units),
            "of_operations": tensors["op_head"],
            "of_anchor": tensors["anchor_head"],
            "of_query": tensors["query_head"],
            "of_both": tensors["v"],
        }
