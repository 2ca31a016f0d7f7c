"""Rows of different lengths in both directions: our layer, `nn.LSTM`, and plain loops."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from contenders import (
    ROUNDED,
    SUBJECTS,
    Shape,
    Subject,
    UnequalError,
    Work,
    relative_difference,
)
from plain import EngineWeights
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

import cellwright as cw

TRAINED = (Shape(15, 32, 256), Shape(15, 32, 512), Shape(30, 64, 300))
SINGLE = tuple(shape._replace(batch=1) for shape in TRAINED)
LARGE = Shape(30, 256, 300)
CELLS = ("lstm", "darts-v1")
SEED = 0


def wanted(cell: str, shapes: tuple[Shape, ...]) -> Iterator[tuple[Shape, tuple[str, ...]]]:
    """At which of the shapes a cell is measured, and whether in training or in inference alone."""
    for shape in shapes or (*TRAINED, *SINGLE, LARGE):
        if shape.batch == 1 or shape == LARGE:
            if cell == "lstm":
                yield shape, ("infer",)
        else:
            yield shape, ("train", "infer")


def lengths_of(shape: Shape) -> Tensor:
    """From a third of the steps up to all; one row has all."""
    generator = torch.Generator().manual_seed(SEED)
    shortest = max(1, shape.steps // 3)
    lengths = torch.randint(shortest, shape.steps + 1, (shape.batch,), generator=generator)
    lengths[0] = shape.steps
    return lengths


class Packed(nn.Module):
    """A layer over the words of a PackedSequence; gives its words' outputs."""

    def __init__(self, layer: nn.Module, packed: PackedSequence) -> None:
        super().__init__()
        self.layer = layer
        self._rest = packed[1:]

    def forward(self, x: Tensor, alpha: Tensor | None = None) -> Tensor:
        """The outputs."""
        output: Tensor = self.layer(PackedSequence(x, *self._rest))[0].data
        return output


class Ragged(nn.Module):
    """A `Recurrent` over padded rows."""

    def __init__(self, rnn: cw.Recurrent, lengths: Tensor) -> None:
        super().__init__()
        self.rnn = rnn
        self.lengths = lengths

    def forward(self, x: Tensor, alpha: Tensor | None = None) -> Tensor:
        """The outputs, zero behind the ends."""
        return self.rnn(x, lengths=self.lengths)[0]


class PlainBothWays(nn.Module):
    """A plain loop over padded rows in each direction; the second reads each row from its end."""

    def __init__(self, subject: Subject, rnn: cw.Recurrent, lengths: Tensor) -> None:
        super().__init__()
        weights = rnn.state_dict()
        loops = []
        for layer in ("layer0", "layer0_reverse"):
            single = cw.Recurrent(subject.cell, rnn.input_size, rnn.hidden_size)
            own = {name: weights[name.replace("layer0", layer, 1)] for name in single.state_dict()}
            single.load_state_dict(own)
            loops.append(subject.plain(single))
        self.forwards, self.backwards = loops
        self.lengths = lengths

    def forward(self, x: Tensor, alpha: Tensor | None = None) -> Tensor:
        """The outputs, zero behind the ends."""
        steps = torch.arange(x.shape[0])[:, None]
        inside = steps < self.lengths
        order = torch.where(inside, self.lengths - 1 - steps, steps)[..., None]
        turned = x.gather(0, order.expand_as(x))
        second = self.backwards(turned)
        both = self.forwards(x), second.gather(0, order.expand_as(second))
        return torch.cat(both, dim=-1) * inside[..., None]


def make_sentences(cell: str, shape: Shape) -> tuple[dict[str, Work], int]:
    """Ours and the one it is compared with, on the same data with the same weights; the words."""
    torch.manual_seed(SEED)
    lengths = lengths_of(shape)
    x = torch.randn(*shape)
    modules: dict[str, nn.Module]
    if cell == "lstm":
        packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
        x = packed.data
        theirs = nn.LSTM(shape.hidden, shape.hidden, bidirectional=True)
        ours = cw.Recurrent.from_torch(theirs)
        modules = {"ours": Packed(ours, packed), "nn.LSTM": Packed(theirs, packed)}
    else:
        subject = SUBJECTS[cell]()
        rnn = cw.Recurrent(
            subject.cell, shape.hidden, shape.hidden, bidirectional=True, backend="native"
        )
        modules = {"ours": Ragged(rnn, lengths), "plain": PlainBothWays(subject, rnn, lengths)}
    gradient = torch.randn(*x.shape[:-1], 2 * shape.hidden)
    x.requires_grad_()
    work = {name: Work(module, x, None, gradient) for name, module in modules.items()}
    return work, int(lengths.sum())


KINKS = 5
"""So many times what `same_as_engine` allows, whose batches are small: among 500 words some inputs
of a relu are all but zero, and fall on the other side of its kink in the other's rounding."""


def same_sentences(cell: str, shape: Shape) -> None:
    """Compare our outputs and gradients with the other's.

    Raises:
        UnequalError: if a difference is above what rounding explains.
    """
    work, _ = make_sentences(cell, shape)
    (_, ours), (name, other) = work.items()
    found, expected = _results(ours), _results(other)
    if isinstance(other.module, PlainBothWays):
        for layer, loop in (
            ("layer0", other.module.forwards),
            ("layer0_reverse", other.module.backwards),
        ):
            gathered = loop.gathered(EngineWeights(ours.module.rnn, gradients=True, layer=layer))
            found |= {f"gradient of {layer}.{key}": value for key, value in gathered.items()}
            parameters = loop.named_parameters()
            expected |= {f"gradient of {layer}.{key}": value.grad for key, value in parameters}
    for key, right in expected.items():
        norm = torch.inf if key == "output" else 2
        difference = relative_difference(found[key], right, norm)
        if not difference <= KINKS * ROUNDED[norm]:
            raise UnequalError(
                f"{cell} in both directions at {shape}: {key} of {name} and of the engine differ "
                f"by {difference:.2g}"
            )


def _results(work: Work) -> dict[str, Tensor]:
    work.clear()
    output = work.train().detach()
    assert work.x.grad is not None
    return {"output": output, "gradient of x": work.x.grad.clone()}


def inferred(work: Work) -> Tensor:
    """Forward alone, without anything that a gradient would need."""
    with torch.inference_mode():
        output: Tensor = work.module(work.x)
        return output
