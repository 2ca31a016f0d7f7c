"""Products of numbers that are rounded to bfloat16, in operations of torch itself.

What multiplies is rounded to the nearest bfloat16 number, of two equally near ones to the even:
weights and operands, and on the way back the gradients that are multiplied. Products and sums are
those of the tensors' own dtype, and so are parameters, results and gradients.

Rounding has no derivative worth the name; gradients pass through it as they are, also those of
gradients.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

PRECISIONS = ("float32", "bfloat16")
"""Of what matrix products multiply."""


def checked_precision(precision: str) -> str:
    """The precision, if there is such a one."""
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}, not {precision!r}")
    return precision


def rounded(x: Tensor) -> Tensor:
    """x rounded to bfloat16, in its own dtype; gradients pass as they are.

    >>> rounded(torch.tensor([1.0, 1.001, 3.1415927]))
    tensor([1.0000, 1.0000, 3.1406])
    """
    # As a sum, because the gradient of a conversion would be rounded as well. It is exact.
    return x + _finite(x.to(torch.bfloat16).to(x.dtype) - x).detach()


def with_rounded_gradient(y: Tensor) -> Tensor:
    """y as it is, whose gradient is rounded to bfloat16 on its way."""
    nothing = _finite(y - y.detach())
    return y.detach() + nothing.to(torch.bfloat16).to(y.dtype)


def product(x: Tensor, weight: Tensor) -> Tensor:
    """x·Wᵀ of operands that are `rounded`; gradients by them are products of rounded numbers.

    >>> x, weight = torch.randn(2, 3), torch.randn(4, 3)
    >>> y = product(rounded(x), rounded(weight))
    >>> torch.equal(y, x.bfloat16().float() @ weight.bfloat16().float().t())
    True
    """
    return with_rounded_gradient(F.linear(x, weight))


def _finite(difference: Tensor) -> Tensor:
    """Without the NaN that comes of ∞ − ∞: what is infinite stays so."""
    return difference.nan_to_num(nan=0.0, posinf=torch.inf, neginf=-torch.inf)
