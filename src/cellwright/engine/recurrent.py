"""`Recurrent`: the module that runs any cell, called and shaped like `nn.LSTM`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from cellwright.cell import Cell
from cellwright.cell.names import parse_input
from cellwright.engine import from_torch, native_backend, operators, surroundings
from cellwright.engine.backends import BACKENDS
from cellwright.engine.bfloat16 import checked_precision
from cellwright.engine.checks import (
    check_input,
    check_rates,
    check_sizes,
    check_theta,
    check_widths,
)
from cellwright.engine.directions import entering
from cellwright.engine.layer import LayerCall
from cellwright.engine.linear import Linear
from cellwright.engine.ragged import Ragged, evenly_packed
from cellwright.engine.state import State, StateShape
from cellwright.engine.weights import LayerWeights, WeightBank


class Recurrent(nn.Module):
    """A recurrent network of any cell; a drop-in for `nn.LSTM`.

    >>> import cellwright as cw
    >>> rnn = cw.Recurrent(cw.zoo["gru"], 10, 20, num_layers=2)
    >>> y, state = rnn(torch.randn(5, 3, 10))
    >>> y.shape, state.shape
    (torch.Size([5, 3, 20]), torch.Size([2, 3, 20]))

    Parts of the cell that feed neither a state nor the output have no parameters.

    Args:
        cell: the cell.
        input_size: features of x.
        hidden_size: features of each state and of the output.
        num_layers: layers on top of each other.
        batch_first: whether x is (batch, steps, features) instead of (steps, batch, features).
        bidirectional: whether to add a second network that reads backwards.
        dropout: on the outputs of each layer but the last, as in `nn.LSTM`.
        input_dropout: on x, and on all that is as wide as x, where a linear reads it; one
            mask per sequence (DARTS).
        hidden_dropout: the same on states and on values inside the cell.
        weight_dropout: on the weights of linears that do not multiply x, one mask per call
            (AWD-LSTM).
        backend: "native" (CPU), "triton" (CUDA), "torch", or "auto" for the first that can serve.
        project_input: put a projection to `hidden_size` before the first layer; for cells
            that use x outside a linear, and so need equal widths.
        init_range: parameters start uniform in ± this; None for 1/sqrt(hidden_size).
        bank: where cells with `keys` find weights that they share with others.
        precision: of what the cell's matrix products multiply: "float32", or "bfloat16", to which
            operands, weights and gradients are rounded there; all else stays as it is.
    """

    def __init__(
        self,
        cell: Cell,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        bidirectional: bool = False,
        dropout: float = 0.0,
        input_dropout: float = 0.0,
        hidden_dropout: float = 0.0,
        weight_dropout: float = 0.0,
        backend: str = "auto",
        project_input: bool = False,
        init_range: float | None = None,
        bank: WeightBank | None = None,
        precision: str = "float32",
    ) -> None:
        super().__init__()
        if not isinstance(cell, Cell):
            raise TypeError(f"cell must be a Cell, not {type(cell).__name__}")
        check_sizes(input_size=input_size, hidden_size=hidden_size, num_layers=num_layers)
        check_rates(
            dropout=dropout,
            input_dropout=input_dropout,
            hidden_dropout=hidden_dropout,
            weight_dropout=weight_dropout,
        )
        if backend not in BACKENDS:
            raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, not {backend!r}")
        self.cell = cell
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.batch_first = batch_first
        self.bidirectional = bidirectional
        self.dropout = dropout
        self.input_dropout = input_dropout
        self.hidden_dropout = hidden_dropout
        self.weight_dropout = weight_dropout
        self.backend = backend
        self.precision = checked_precision(precision)
        self.init_range = init_range
        self._live_cell = cell.simplified()
        self._cell_text = operators.cell_text(self._live_cell)
        mixes = [node for node in self._live_cell.nodes if node.op == "mix"]
        self._theta_sizes = {node.theta_name: len(node.inputs) for node in mixes}
        self._input_weights = _input_weights(self._live_cell)
        directions = 2 if bidirectional else 1
        self.projection = Linear(input_size, hidden_size, bias=False) if project_input else None
        first = hidden_size if project_input else input_size
        widths = [first] + [directions * hidden_size] * (num_layers - 1)
        check_widths(self._live_cell, widths, hidden_size)
        self._shape = StateShape.of(self._live_cell, num_layers, directions, hidden_size, widths)
        for layer, width in enumerate(widths):
            for direction in range(directions):
                name = _layer_name(layer, direction)
                part = bank.part(name) if bank is not None else None
                weights = LayerWeights(self._live_cell, width, hidden_size, init_range, part)
                self.add_module(name, weights)

    @classmethod
    def from_torch(cls, module: nn.RNNBase, **options: Any) -> Recurrent:
        """The network that an `nn.LSTM`, `nn.GRU` or `nn.RNN` is, with its weights copied.

        >>> lstm = nn.LSTM(3, 4)
        >>> x = torch.randn(5, 2, 3)
        >>> torch.allclose(Recurrent.from_torch(lstm)(x)[0], lstm(x)[0], atol=1e-6)
        True
        """
        rnn = cls(**{**from_torch.arguments(module), **options})
        rnn = rnn.to(next(module.parameters()))
        rnn.load_state_dict(from_torch.parameters(module))
        return rnn

    def around(self, cell: Cell, bank: WeightBank) -> Recurrent:
        """A network of the same sizes, dropouts, backend and precision around another cell.

        Its weights are those of `bank`, as far as the cell names them with keys, and its projection
        is this network's: nothing is copied.
        """
        other = type(self)(
            cell,
            self.input_size,
            self.hidden_size,
            self.num_layers,
            self.batch_first,
            self.bidirectional,
            self.dropout,
            self.input_dropout,
            self.hidden_dropout,
            self.weight_dropout,
            self.backend,
            init_range=self.init_range,
            project_input=self.projection is not None,
            bank=bank,
            precision=self.precision,
        )
        other.projection = self.projection
        return other.train(self.training)

    def reset_parameters(self) -> None:
        """Draw all parameters anew, except those of a shared bank."""
        for module in self.children():
            if isinstance(module, LayerWeights | nn.Linear):
                module.reset_parameters()

    def flatten_parameters(self) -> None:
        """Nothing: there is no one block of memory to move weights to. `nn.LSTM` has it."""

    def zero_state(self, batch: int) -> State:
        """The state before the first step of a sequence."""
        tensors = self._shape.zeros(batch, next(self.parameters(), torch.empty(0)))
        return tensors[0] if self._shape.is_tensor else tuple(tensors)

    def extra_repr(self) -> str:
        """What `print(module)` shows."""
        name = self.cell.name or f"{len(self.cell.nodes)} nodes"
        text = f"{name}, {self.input_size}, {self.hidden_size}"
        defaults: dict[str, object] = {
            "num_layers": 1, "batch_first": False, "bidirectional": False, "dropout": 0,
            "input_dropout": 0, "hidden_dropout": 0, "weight_dropout": 0, "backend": "auto",
            "precision": "float32",
        }  # fmt: skip
        for key, usual in defaults.items():
            if getattr(self, key) != usual:
                text += f", {key}={getattr(self, key)}"
        return text

    def __prepare_scriptable__(self) -> Recurrent:
        """What `torch.jit.script` asks for first."""
        raise RuntimeError(
            "torch.jit.script cannot compile a Recurrent, whose steps follow from its cell: "
            "torch.jit.trace(module, (x,)) records it"
        )

    # -- running -----------------------------------------------------------------------

    def forward(
        self,
        x: Tensor | PackedSequence,
        state: State | None = None,
        lengths: Tensor | Sequence[int] | None = None,
        theta: Mapping[str, Tensor] | None = None,
    ) -> tuple[Tensor | PackedSequence, State]:
        """Run the network over sequences.

        Args:
            x: (steps, batch, input_size), or batch first if the module says so, or
                (steps, input_size) for one sequence, or a `PackedSequence`.
            state: what an earlier call returned; zeros unless given.
            lengths: the true length of each padded row. Outputs behind it are zero, and the
                returned state is that of each row's last step.
            theta: for supernets, the weights of each `mix` by its name.

        Returns:
            The output of the last layer at every step, and the state (see
            `cellwright.engine.state`).
        """
        if surroundings.left_out_of_graphs() and not self._fits_a_graph(x):
            # A graph of all steps takes half a minute and more for one cell. As a decorator it
            # would load the compiler, which slows down every call.
            left_out = torch.compiler.disable(self.forward)  # type: ignore[no-untyped-call]
            return left_out(x, state, lengths, theta)  # type: ignore[no-any-return]
        if isinstance(x, PackedSequence):
            return self._forward_packed(x, state, lengths, theta)
        if x.dim() not in (2, 3):
            raise ValueError(f"Recurrent: Expected input to be 2D or 3D, got {x.dim()}D instead")
        alone = x.dim() == 2
        if alone:
            x = x.unsqueeze(1)
            state = None if state is None else _each(state, lambda t: t.unsqueeze(-2))
        elif self.batch_first:
            x = x.transpose(0, 1)
        check_input(x, self.input_size, self._a_parameter())
        output, new_state = self._forward_steps(x, state, lengths, theta or {})
        if alone:
            return output.squeeze(1), _each(new_state, lambda t: t.squeeze(-2))
        return (output.transpose(0, 1) if self.batch_first else output), new_state

    def _fits_a_graph(self, x: Tensor | PackedSequence) -> bool:
        """Whether `torch.compile` may look into a call: the core's operator serves it, or torch."""
        if self.backend == "torch" or surroundings.transforms_in_graph():
            return True  # a transform of torch.func has to see its function whole
        if isinstance(x, PackedSequence) or not native_backend.fits_graphs(self.precision):
            return False
        tensors = [x, *self.parameters()]
        return surroundings.takes_operators() and surroundings.unfit_for_graph(tensors) is None

    def _forward_packed(
        self,
        packed: PackedSequence,
        state: State | None,
        lengths: Tensor | Sequence[int] | None,
        theta: Mapping[str, Tensor] | None,
    ) -> tuple[PackedSequence, State]:
        if lengths is not None:
            raise ValueError("a PackedSequence carries its own lengths: leave lengths out")
        if surroundings.transformed() is None:
            check_input(packed.data.unsqueeze(0), self.input_size, self._a_parameter())
            even = evenly_packed(packed)
            if even is not None:
                output, new_state = self._forward_steps(even, state, None, theta or {})
                return packed._replace(data=output.flatten(0, 1)), new_state
            ragged = Ragged.of_packed(packed)
            data, new_state = self._forward_rows(packed.data, state, ragged, theta or {})
            return packed._replace(data=data), new_state
        x, packed_lengths = pad_packed_sequence(packed)
        check_input(x, self.input_size, self._a_parameter())
        output, new_state = self._forward_steps(x, state, packed_lengths, theta or {})
        if packed.sorted_indices is not None:
            output = output.index_select(1, packed.sorted_indices)
            packed_lengths = packed_lengths[packed.sorted_indices.cpu()]
        data = pack_padded_sequence(output, packed_lengths).data
        result = PackedSequence(
            data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices
        )
        return result, new_state

    def _forward_steps(
        self,
        x: Tensor,
        state: State | None,
        lengths: Tensor | Sequence[int] | None,
        theta: Mapping[str, Tensor],
    ) -> tuple[Tensor, State]:
        """All layers on (steps, batch, input)."""
        steps, batch = x.shape[:2]
        if lengths is not None:
            ragged = Ragged.of(lengths, steps, batch)
            if not ragged.is_even:
                output, new_state = self._forward_rows(ragged.begin(x), state, ragged, theta)
                return ragged.end(output), new_state
        tensors = self._state_before(state, batch, x)
        check_theta(self._theta_sizes, theta)
        if self.projection is not None:
            x = self.projection(x, self.backend)
        output, finals, past = self._layers(x, tensors, theta, None)
        return output, self._shape.joined(finals, past)

    def _forward_rows(
        self, x: Tensor, state: State | None, ragged: Ragged, theta: Mapping[str, Tensor]
    ) -> tuple[Tensor, State]:
        """All layers on what `ragged` keeps of a batch."""
        order, undo = ragged.order.to(x.device), ragged.undo.to(x.device)
        tensors = self._state_before(state, order.shape[0], x)
        if state is not None and tensors is not None:
            tensors = self._shape.on_batch(tensors, order)
        check_theta(self._theta_sizes, theta)
        if self.projection is not None:
            x = self.projection(x, self.backend)
        output, finals, past = self._layers(x, tensors, theta, ragged)
        joined = self._shape.joined(finals, past)
        return output, _each(joined, lambda t: t.index_select(t.dim() - 2, undo))

    def _state_before(self, state: State | None, batch: int, like: Tensor) -> list[Tensor] | None:
        """The tensors of a state; None for zeros that need not be made."""
        if state is None:
            return self._shape.zeros(batch, like) if self._shape.input_history else None
        return self._shape.checked(state, batch, like)

    def _layers(
        self,
        x: Tensor,
        tensors: list[Tensor] | None,
        theta: Mapping[str, Tensor],
        ragged: Ragged | None,
    ) -> tuple[Tensor, list[list[Tensor]], list[list[Tensor]]]:
        finals: list[list[Tensor]] = []
        past: list[list[Tensor]] = []
        for layer in range(self.num_layers):
            if layer > 0 and self.dropout:
                x = F.dropout(x, self.dropout, self.training)
            calls = []
            past.append([])
            for direction in range(self._shape.directions):
                seen = entering(x, ragged, backwards=direction > 0)
                initial = before = None
                if tensors is not None:
                    initial = self._shape.initial(tensors, layer, direction)
                    before = self._shape.past_input(tensors, layer, direction)
                if before is not None:
                    seen = torch.cat([before, seen])
                    past[-1].append(_last_inputs(seen, self._shape.input_history, ragged))
                calls.append(self._call(layer, direction, seen, initial, theta, ragged))
            x, final = BACKENDS[self.backend](calls, ragged)
            finals.append(final)
        return x, finals, past

    def _a_parameter(self) -> Tensor | None:
        """One of the parameters; to go through all of them takes longer than a small cell does."""
        first = cast(LayerWeights, self._modules["layer0"])
        for holder in first._modules.values():
            if holder is not None:
                for parameter in holder._parameters.values():
                    return parameter
        return next(self.parameters(), None)

    def _call(
        self,
        layer: int,
        direction: int,
        x: Tensor,
        initial: list[Tensor] | None,
        theta: Mapping[str, Tensor],
        ragged: Ragged | None,
    ) -> LayerCall:
        cell = self._live_cell
        weights = cast(LayerWeights, self._modules[_layer_name(layer, direction)])
        mask_input = self._mask(x, self.input_dropout, x.shape[2])
        mask_hidden = self._mask(x, self.hidden_dropout, self.hidden_size)
        return LayerCall(
            cell=cell,
            x=x,
            x_for_linears=x if mask_input is None else x * mask_input,
            hidden_size=self.hidden_size,
            initial=initial,
            weights=self._dropped(weights.weights()),
            biases=weights.biases(),
            mask_hidden=mask_hidden,
            mask_input=mask_input,
            theta={name: theta[name].to(x) for name in self._theta_sizes},
            active=None if ragged is None else ragged.active,
            cell_text=self._cell_text,
            kept=None if torch.is_grad_enabled() else weights.kept,
            precision=self.precision,
            backwards=direction > 0,
        )

    def _mask(self, x: Tensor, rate: float, width: int) -> Tensor | None:
        """A dropout mask for every row, the same at every step."""
        if not self.training or rate == 0:
            return None
        return F.dropout(x.new_ones(x.shape[1], width), rate)

    def _dropped(self, weights: dict[tuple[str, int], Tensor]) -> dict[tuple[str, int], Tensor]:
        """The weights behind weight dropout; a shared weight has one mask."""
        if not self.training or self.weight_dropout == 0:
            return weights
        dropped: dict[int, Tensor] = {}
        result = {}
        for at, weight in weights.items():
            if at in self._input_weights:
                result[at] = weight
                continue
            if id(weight) not in dropped:
                dropped[id(weight)] = F.dropout(weight, self.weight_dropout)
            result[at] = dropped[id(weight)]
        return result


def _layer_name(layer: int, direction: int) -> str:
    return f"layer{layer}" + ("_reverse" if direction else "")


def _input_weights(cell: Cell) -> frozenset[tuple[str, int]]:
    """Where weights multiply x, by linear and input's position."""
    return frozenset(
        (node.name, position)
        for node in cell.nodes
        if node.op == "linear"
        for position, name in enumerate(node.inputs)
        if (known := parse_input(name)) is not None and known.state is None
    )


def _each(state: State, change: Callable[[Tensor], Tensor]) -> State:
    return change(state) if isinstance(state, Tensor) else tuple(change(t) for t in state)


def _last_inputs(x: Tensor, count: int, ragged: Ragged | None) -> Tensor:
    """The last `count` inputs of each row, oldest first, of x with `count` in front."""
    return x[-count:] if ragged is None else ragged.last(x, count)
