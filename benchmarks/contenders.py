"""What is measured: the cells, and for each of them who runs it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from plain import DartsLoop, EngineWeights, GruLoop, LstmLoop, PlainLoop, RecipeLoop
from plain_supernets import DartsSupernetLoop, EssSupernetLoop
from torch import Tensor, nn

import cellwright as cw
from cellwright.cell import Cell
from cellwright.cell.listings import nas_bench_nlp
from cellwright.cell.listings.darts import OPERATIONS
from cellwright.cell.listings.published import DARTS_V1, ENAS
from cellwright.cell.listings.supernets import Supernet, darts_supernet, ess_supernet


def _recipe(text: str) -> dict[str, dict[str, Any]]:
    """A recipe from lines `name = operation input input …`."""
    recipe = {}
    for line in text.strip().splitlines():
        name, _, rest = line.partition("=")
        op, *inputs = rest.split()
        recipe[name.strip()] = {"op": op, "input": inputs}
    return recipe


NAS_BENCH_NLP_24 = _recipe("""
    l1 = linear x h_prev_0
    a1 = activation_sigm l1
    l2 = linear x h_prev_0 h_prev_1
    a2 = activation_tanh l2
    l3 = linear x h_prev_2
    a3 = activation_sigm l3
    kept = blend a1 a2 h_prev_0
    l4 = linear a2 h_prev_1
    a4 = activation_leaky_relu l4
    l5 = linear x a4
    a5 = activation_tanh l5
    h_new_1 = blend a3 a5 h_prev_1
    l6 = linear h_prev_2 a5 a1
    a6 = activation_sigm l6
    faded = elementwise_prod a6 h_prev_2
    l7 = linear x a2
    a7 = activation_tanh l7
    h_new_2 = blend a6 a7 faded
    l8 = linear a7 h_prev_0
    a8 = activation_leaky_relu l8
    gated = elementwise_prod a3 a2
    lifted = elementwise_prod a8 a5
    added = elementwise_sum gated lifted
    h_new_0 = blend a6 added kept
""")
"""A cell of NAS-Bench-NLP's space at its largest: 24 nodes, 3 states. It keeps its values small:
states are blends of bounded values, and what a leaky relu makes is scaled by a tanh."""


@dataclass(frozen=True)
class Subject:
    """A cell to measure, and how to make its plain loop with the weights of a `Recurrent`."""

    cell: Cell
    plain: Callable[[cw.Recurrent], PlainLoop]
    supernet: Supernet | None = None


def _darts_v1() -> Subject:
    nodes = [edges[0] for edges in DARTS_V1.nodes]
    return Subject(cw.zoo["darts-v1"], lambda rnn: DartsLoop(rnn, "tanh", nodes, DARTS_V1.concat))


def _enas() -> Subject:
    nodes = [(op, source) for source, op in ENAS.later]
    return Subject(cw.zoo["enas"], lambda rnn: DartsLoop(rnn, ENAS.first, nodes, ENAS.loose_ends))


def _recipe_24() -> Subject:
    cell = nas_bench_nlp.lower(NAS_BENCH_NLP_24, "nas-bench-nlp-24")
    return Subject(cell, lambda rnn: RecipeLoop(rnn, NAS_BENCH_NLP_24))


def _darts_supernet() -> Subject:
    net = darts_supernet(8)
    return Subject(net.cell, lambda rnn: DartsSupernetLoop(rnn, 8, OPERATIONS), net)


def _ess_supernet() -> Subject:
    net = ess_supernet(8, 3)
    return Subject(net.cell, lambda rnn: EssSupernetLoop(rnn, 8, 3, OPERATIONS), net)


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "lstm": lambda: Subject(cw.zoo["lstm"], LstmLoop),
    "gru": lambda: Subject(cw.zoo["gru"], GruLoop),
    "enas": _enas,
    "darts-v1": _darts_v1,
    "nas-bench-nlp-24": _recipe_24,
    "darts-supernet": _darts_supernet,
    "ess-supernet": _ess_supernet,
}
"""The cells by name."""


class Shape(NamedTuple):
    """Time steps, rows of the batch, and the width of input and hidden state."""

    steps: int
    batch: int
    hidden: int

    def __str__(self) -> str:
        return f"{self.steps},{self.batch},{self.hidden}"


def parse_shape(text: str) -> Shape:
    """A shape from `35,64,300`, for command lines."""
    try:
        found = Shape(*map(int, text.split(",")))
    except (TypeError, ValueError):
        found = Shape(0, 0, 0)
    if min(found) < 1:
        raise argparse.ArgumentTypeError(f"a shape is T,B,H, such as 35,64,300, not {text!r}")
    return found


# -- contenders ----------------------------------------------------------------------------

CONTENDERS = ("ours", "nn.LSTM", "plain", "torch")
"""The native engine, `nn.LSTM` of the same sizes, the plain loop, the torch backend."""

LOAD_CONTENDERS = {"lstm": "nn.LSTM", "darts-v1": "plain"}
"""Whom a cell has to beat on a busy machine. The others are not run there: a plain loop at a large
shape takes seconds for each step."""


class Engine(nn.Module):
    """A `Recurrent` called as the plain loops are: θ is made of `alpha` in each call."""

    def __init__(self, rnn: cw.Recurrent, supernet: Supernet | None) -> None:
        super().__init__()
        self.rnn = rnn
        self.supernet = supernet

    def forward(self, x: Tensor, alpha: Tensor | None = None) -> Tensor:
        """The outputs."""
        if self.supernet is None or alpha is None:
            return self.rnn(x)[0]
        rows = torch.softmax(alpha, dim=-1).unbind(0)
        return self.rnn(x, theta=dict(zip(self.supernet.edges, rows, strict=True)))[0]


class Lstm(nn.Module):
    """`nn.LSTM` called as the others are."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(hidden, hidden)

    def forward(self, x: Tensor, alpha: Tensor | None = None) -> Tensor:
        """The outputs."""
        return self.lstm(x)[0]


class Work:
    """One contender with its data: what a training step or an inference of it is."""

    def __init__(self, module: nn.Module, x: Tensor, alpha: Tensor | None, gradient: Tensor):
        self.module, self.x, self.alpha, self.gradient = module, x, alpha, gradient
        self._leaves = [x, *module.parameters(), *([] if alpha is None else [alpha])]

    def double(self) -> Work:
        """The same work in double precision."""
        x, alpha = (
            None if leaf is None else leaf.detach().double().requires_grad_()
            for leaf in (self.x, self.alpha)
        )
        return Work(self.module.double(), x, alpha, self.gradient.double())

    def clear(self) -> None:
        """Drop all gradients, as every training loop does before a step."""
        for leaf in self._leaves:
            leaf.grad = None

    def train(self) -> Tensor:
        """Forward and backward: gradients of all weights, of x, and of a supernet's α."""
        output = self.module(self.x, self.alpha)
        output.backward(self.gradient)
        return output

    def infer(self) -> Tensor:
        """Forward alone."""
        with torch.no_grad():
            return self.module(self.x, self.alpha)


def make_work(subject: Subject, shape: Shape, names: tuple[str, ...] = CONTENDERS, seed: int = 0):
    """The contenders called `names` on the same data; all but `nn.LSTM` with the same weights."""
    torch.manual_seed(seed)
    steps, batch, hidden = shape
    native = cw.Recurrent(subject.cell, hidden, hidden, backend="native")
    x = torch.randn(steps, batch, hidden, requires_grad=True)
    gradient = torch.randn(steps, batch, hidden)
    alpha = None
    if subject.supernet is not None:  # DARTS' start: all but equal
        rows = [len(edges) for edges in subject.supernet.edges.values()]
        alpha = (1e-3 * torch.randn(len(rows), rows[0])).requires_grad_()

    def module(name: str) -> nn.Module:
        if name == "nn.LSTM":
            return Lstm(hidden)
        if name == "plain":
            return subject.plain(native)
        if name == "ours":
            return Engine(native, subject.supernet)
        slow = cw.Recurrent(subject.cell, hidden, hidden, backend="torch")
        slow.load_state_dict(native.state_dict())
        return Engine(slow, subject.supernet)

    return {name: Work(module(name), x, alpha, gradient) for name in names}


# -- are they equal? -----------------------------------------------------------------------


class UnequalError(Exception):
    """A plain loop does not compute what the engine computes, so timing it means nothing."""


def same_as_engine(subject: Subject, shape: Shape) -> float:
    """Compare outputs and all gradients of the plain loop with the engine's.

    The formulas are compared in double precision, on the torch backend, where they must agree in
    every number. The native core computes in single precision, where a relu's input that is all
    but zero may fall on the other side of its kink: one gradient then jumps, so gradients are
    compared as whole vectors there. Returns the largest difference in double precision.

    Raises:
        UnequalError: if a difference is above what rounding explains.
    """
    work = make_work(subject, shape, ("ours", "plain", "torch"))
    native = _results(work["ours"], work["plain"])
    plain, torch_double = work["plain"].double(), work["torch"].double()
    expected = _results(plain, plain)
    exact = _results(torch_double, plain)
    worst = 0.0
    for name, right in expected.items():
        about = f"{subject.cell.name} at {shape}: {name} of the plain loop and of"
        worst = max(worst, relative_difference(exact[name], right, torch.inf))
        if not worst <= EXACT:
            raise UnequalError(f"{about} the engine in double precision differ by {worst:.2g}")
        norm = torch.inf if name == "output" else 2
        difference = relative_difference(native[name], right, norm)
        if not difference <= ROUNDED[norm]:
            raise UnequalError(f"{about} the native core differ by {difference:.2g}")
    return worst


EXACT = 1e-9
ROUNDED = {torch.inf: 1e-5, 2: 1e-3}
"""The largest differences, relative to the size of what is compared; in single precision for the
largest number, and for a whole vector."""


def _results(work: Work, plain: Work) -> dict[str, Tensor]:
    """Outputs and all gradients of a training step, under the plain loop's names."""
    work.clear()
    found = {"output": work.train().detach(), "gradient of x": work.x.grad}
    if work.alpha is not None:
        found["gradient of α"] = work.alpha.grad
    if isinstance(work.module, Engine):
        gathered = plain.module.gathered(EngineWeights(work.module.rnn, gradients=True))
    else:
        gathered = {name: weight.grad for name, weight in work.module.named_parameters()}
    found |= {f"gradient of {name}": gradient for name, gradient in gathered.items()}
    return {name: tensor.clone() for name, tensor in found.items()}


def relative_difference(found: Tensor, expected: Tensor, norm: float) -> float:
    size = torch.linalg.vector_norm(expected, norm).clamp_min(1e-12)
    return float(torch.linalg.vector_norm(found - expected, norm) / size)
