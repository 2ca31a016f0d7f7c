"""What callers of `Recurrent` can get wrong, with the errors that `nn.LSTM` users know."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from cellwright.cell import Cell


def check_sizes(**sizes: int) -> None:
    """Sizes are positive integers."""
    for name, size in sizes.items():
        if not isinstance(size, int) or isinstance(size, bool):
            raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
        if size <= 0:
            raise ValueError(f"{name} must be greater than zero")


def check_rates(**rates: float) -> None:
    """Dropout rates are probabilities."""
    for name, rate in rates.items():
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
            raise ValueError(
                f"{name} should be a number in range [0, 1] representing the probability "
                "of an element being zeroed"
            )


def check_widths(cell: Cell, widths: list[int], hidden_size: int) -> None:
    """A cell that uses x outside a linear needs inputs as wide as its hidden state."""
    if not cell.needs_equal_widths:
        return
    for layer, width in enumerate(widths):
        if width != hidden_size:
            hint = "; project_input=True puts a projection before it" if layer == 0 else ""
            raise ValueError(
                "the cell uses x outside a linear, so its input must be as wide as its "
                f"hidden state, but layer {layer} has {width} and {hidden_size}{hint}"
            )


def check_input(x: Tensor, input_size: int, weight: Tensor | None) -> None:
    """x is (steps, batch, input_size) of the parameters' dtype, with at least one step."""
    if weight is not None and x.dtype != weight.dtype:
        raise ValueError(
            f"RNN input dtype ({x.dtype}) does not match weight dtype ({weight.dtype}). "
            f"Convert input: input.to({weight.dtype}), or convert model: model.to({x.dtype})"
        )
    if x.shape[2] != input_size:
        raise RuntimeError(
            f"input.size(-1) must be equal to input_size. Expected {input_size}, got {x.shape[2]}"
        )
    if x.shape[0] == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")


def check_theta(sizes: Mapping[str, int], theta: Mapping[str, Tensor]) -> None:
    """A supernet gets one number for each input of each of its mixes."""
    for name, count in sizes.items():
        if name not in theta:
            raise ValueError(f"the cell is a supernet: theta has no weights for mix {name!r}")
        if theta[name].shape != (count,):
            raise ValueError(
                f"theta[{name!r}] must have {count} numbers, one for each input, "
                f"got {tuple(theta[name].shape)}"
            )
