"""Products of matrices on the C++ core: CPU, float32."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from cellwright.engine import surroundings
from cellwright.engine.native_backend import _native, threads_for
from cellwright.engine.native_job import NoMemoryError

_Matrix = tuple[Tensor, int, int, bool]
"""Numbers, how far rows are apart, and items of a batch; whether rows are columns."""


def serves(tensors: Sequence[Tensor]) -> bool:
    """Whether the core may compute with these tensors, here and now."""
    return (
        _native is not None
        and surroundings.transformed() is None
        and surroundings.ordinary(tensors)
        and surroundings.unfit_for_graph(tensors) is None
    )


def product(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    """a·b, or a·b + bias in each row, of matrices or of batches of them."""
    result = a.new_empty((*a.shape[:-1], b.shape[-1]))
    if bias is not None:
        bias = bias.resolve_neg().contiguous()
    _run(_matrix(a), _matrix(b), a.shape[-1], bias, result, None)
    return result


def product_and_sums(gradient: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """gradientᵀ·x, and the sums of the gradient's columns."""
    gradient = gradient.resolve_neg().contiguous()
    width = gradient.shape[1]
    result, sums = x.new_empty((width, x.shape[1])), x.new_empty(width)
    _run((gradient, width, 0, True), _matrix(x), len(x), None, result, sums)
    return result, sums


def _matrix(tensor: Tensor) -> _Matrix:
    """As it lies in memory, if the core can read it so; a copy if not."""
    if tensor.is_neg():
        tensor = tensor.resolve_neg()
    *items, down, across = tensor.stride()
    rows, columns = tensor.shape[-2:]
    item = items[0] if items else 0
    if across == 1 or columns == 1:
        return tensor, down, item, False
    if down == 1 or rows == 1:
        return tensor, across, item, True
    return _matrix(tensor.contiguous())


def _run(
    a: _Matrix, b: _Matrix, depth: int, bias: Tensor | None, result: Tensor, sums: Tensor | None
) -> None:
    assert _native is not None
    batch, rows, columns = result.shape if result.dim() == 3 else (1, *result.shape)
    at_a, at_b = a[0].data_ptr(), b[0].data_ptr()
    at_bias = 0 if bias is None else bias.data_ptr()
    if not at_a or not at_b or (bias is not None and not at_bias):
        raise NoMemoryError
    _native.matrix_product(
        batch, rows, columns, depth, at_a, *a[1:], at_b, *b[1:], at_bias, result.data_ptr(),
        0 if sums is None else sums.data_ptr(), threads_for(batch * rows * columns * depth),
    )  # fmt: skip
