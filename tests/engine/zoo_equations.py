"""The equations of published cells, step by step in plain PyTorch, as their papers give them.

Nothing here knows cellwright's graphs. `w` finds a weight by the name that the zoo's cell has for
it; each function takes x and the old states and returns the output and the new states.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, sigmoid, tanh

from cellwright.engine import Recurrent

Step = Callable[..., tuple[Tensor, ...]]


class Weights:
    """The weights of a layer: matrices and biases of its linears, and its vectors."""

    def __init__(self, module: Recurrent) -> None:
        self.found = {
            name.removeprefix("layer0."): tensor for name, tensor in module.named_parameters()
        }

    def __call__(self, linear: str, **operands: Tensor) -> Tensor:
        """The sum of matrix times operand, plus the bias if there is one."""
        total = self.found.get(f"{linear}.bias", torch.zeros(()))
        names = {name for name in self.found if name.startswith(f"{linear}.weight_")}
        assert names == {f"{linear}.weight_{operand}" for operand in operands}
        for operand, value in operands.items():
            total = total + value @ self.found[f"{linear}.weight_{operand}"].T
        return total

    def vector(self, name: str) -> Tensor:
        return self.found[f"{name}.bias"]


def cifg_lstm(w: Weights, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    i = sigmoid(w("i_s", x=x, h0=h))
    o = sigmoid(w("o_s", x=x, h0=h))
    c = (1 - i) * c + i * tanh(w("g_s", x=x, h0=h))
    h = o * tanh(c)
    return h, h, c


def peephole_lstm(w: Weights, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    z = tanh(w("g_s", x=x, h0=h))
    i = sigmoid(w("i_s", x=x, h0=h) + w.vector("i_p") * c)
    f = sigmoid(w("f_s", x=x, h0=h) + w.vector("f_p") * c)
    new = z * i + c * f
    o = sigmoid(w("o_s", x=x, h0=h) + w.vector("o_p") * new)
    h = tanh(new) * o
    return h, h, new


def mogrifier_lstm(w: Weights, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    x1 = 2 * sigmoid(w("x_1_s", h0=h)) * x
    h2 = 2 * sigmoid(w("h_2_s", x_1=x1)) * h
    x3 = 2 * sigmoid(w("x_3_s", h_2=h2)) * x1
    h4 = 2 * sigmoid(w("h_4_s", x_3=x3)) * h2
    x5 = 2 * sigmoid(w("x_5_s", h_4=h4)) * x3
    i, f, g, o = (w(f"{gate}_s", x_5=x5, h_4=h4) for gate in "ifgo")
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    h = sigmoid(o) * tanh(c)
    return h, h, c


def slstm(w: Weights, x: Tensor, h: Tensor, c: Tensor, n: Tensor, m: Tensor) -> tuple[Tensor, ...]:
    i, f = w("i_log", x=x, h0=h), w("f_log", x=x, h0=h)
    new_m = torch.maximum(f + m, i)
    i, f = torch.exp(i - new_m), torch.exp(f + m - new_m)
    c = f * c + i * tanh(w("z_s", x=x, h0=h))
    n = f * n + i
    h = sigmoid(w("o_s", x=x, h0=h)) * (c / n)
    return h, h, c, n, new_m


def slstm_unstabilised(
    w: Weights, x: Tensor, h: Tensor, c: Tensor, n: Tensor, m: Tensor
) -> tuple[Tensor, ...]:
    """The same before the stabiliser: c and n grow as they will."""
    i, f = torch.exp(w("i_log", x=x, h0=h)), torch.exp(w("f_log", x=x, h0=h))
    c = f * c + i * tanh(w("z_s", x=x, h0=h))
    n = f * n + i
    h = sigmoid(w("o_s", x=x, h0=h)) * (c / n)
    return h, h, c, n, m


def janet(w: Weights, x: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    s = w("s", x=x, h0=c)
    c = sigmoid(s) * c + (1 - sigmoid(s - 1)) * tanh(w("g_s", x=x, h0=c))
    return c, c


def nas_cell(w: Weights, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    a = {number: w(f"a_{number}_s", x=x, h0=h) for number in range(8) if number != 3}
    product = w("a_3_x", x=x) * w("a_3_h", h0=h)
    first = tanh(sigmoid(a[0]) * torch.relu(a[1]))
    second = tanh(sigmoid(a[2]) + torch.relu(product))
    third = tanh(tanh(a[4]) * sigmoid(a[5]))
    fourth = sigmoid(tanh(a[6]) + sigmoid(a[7]))
    c = tanh(first + c) * second
    h = tanh(c * tanh(third + fourth))
    return h, h, c


def rhn(depth: int) -> Step:
    def step(w: Weights, x: Tensor, s: Tensor) -> tuple[Tensor, ...]:
        for layer in range(1, depth + 1):
            names = {"x": x, "h0": s} if layer == 1 else {f"s_{layer - 1}": s}
            t = sigmoid(w(f"t_{layer}_s", **names))
            s = tanh(w(f"h_{layer}_s", **names)) * t + s * (1 - t)
        return s, s

    return step


def mut1(w: Weights, x: Tensor, h: Tensor) -> tuple[Tensor, ...]:
    z = sigmoid(w("z_s", x=x))
    r = sigmoid(w("r_s", x=x, h0=h))
    h = tanh(w("n_h", r_h=r * h) + tanh(x)) * z + h * (1 - z)
    return h, h


def mut2(w: Weights, x: Tensor, h: Tensor) -> tuple[Tensor, ...]:
    z = sigmoid(w("z_s", x=x, h0=h))
    r = sigmoid(x + w("r_h", h0=h))
    h = tanh(w("n_s", x=x, reset=r * h)) * z + h * (1 - z)
    return h, h


def mut3(w: Weights, x: Tensor, h: Tensor) -> tuple[Tensor, ...]:
    z = sigmoid(w("z_s", x=x, h_tanh=tanh(h)))
    r = sigmoid(w("r_s", x=x, h0=h))
    h = tanh(w("n_s", x=x, reset=r * h)) * z + h * (1 - z)
    return h, h


def mgu(w: Weights, x: Tensor, h: Tensor) -> tuple[Tensor, ...]:
    f = sigmoid(w("f_s", x=x, h0=h))
    h = (1 - f) * h + f * tanh(w("n_s", x=x, reset=f * h))
    return h, h


def ugrnn(w: Weights, x: Tensor, h: Tensor) -> tuple[Tensor, ...]:
    g = sigmoid(w("g_s", x=x, h0=h))
    h = g * h + (1 - g) * tanh(w("n_s", x=x, h0=h))
    return h, h


def mingru(w: Weights, x: Tensor, h: Tensor) -> tuple[Tensor, ...]:
    z = sigmoid(w("z_s", x=x))
    h = (1 - z) * h + z * w("n", x=x)
    return h, h


def minlstm(w: Weights, x: Tensor, h: Tensor) -> tuple[Tensor, ...]:
    f, i = sigmoid(w("f_s", x=x)), sigmoid(w("i_s", x=x))
    h = f / (f + i) * h + i / (f + i) * w("n", x=x)
    return h, h


def sru(w: Weights, x: Tensor, c: Tensor) -> tuple[Tensor, ...]:
    f = sigmoid(w("f_x", x=x) + w.vector("f_v") * c)
    r = sigmoid(w("r_x", x=x) + w.vector("r_v") * c)
    c = f * c + (1 - f) * w("n", x=x)
    return r * c + (1 - r) * x, c


STEPS: dict[str, Step] = {
    "cifg-lstm": cifg_lstm,
    "peephole-lstm": peephole_lstm,
    "mogrifier-lstm": mogrifier_lstm,
    "slstm": slstm,
    "janet": janet,
    "nas-cell": nas_cell,
    "rhn-2": rhn(2),
    "rhn-10": rhn(10),
    "mut1": mut1,
    "mut2": mut2,
    "mut3": mut3,
    "mgu": mgu,
    "ugrnn": ugrnn,
    "mingru": mingru,
    "minlstm": minlstm,
    "sru": sru,
}
