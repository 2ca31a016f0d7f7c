"""The simple RNN, LSTM and GRU as the release of NAS-Bench-NLP has them."""

from __future__ import annotations

from typing import Any

from cellwright.cell.cell import Cell
from cellwright.cell.listings import nas_bench_nlp


def _recipe(**nodes: str) -> Cell:
    """A recipe from `name="op input input …"`."""
    recipe: dict[str, dict[str, Any]] = {}
    for name, text in nodes.items():
        op, *inputs = text.split()
        recipe[name] = {"op": op, "input": inputs}
    return nas_bench_nlp.lower(recipe)


def rnn() -> Cell:
    """A simple RNN, with one bias."""
    return _recipe(f="linear x h_prev_0", h_new_0="activation_tanh f")


def lstm() -> Cell:
    """An LSTM whose output gate is a tanh."""
    return _recipe(
        i="linear x h_prev_0",
        i_act="activation_tanh i",
        j="linear x h_prev_0",
        j_act="activation_sigm j",
        f="linear x h_prev_0",
        f_act="activation_sigm f",
        o="linear x h_prev_0",
        o_act="activation_tanh o",
        kept="elementwise_prod f_act h_prev_1",
        added="elementwise_prod i_act j_act",
        h_new_1="elementwise_sum kept added",
        h_new_1_act="activation_tanh h_new_1",
        h_new_0="elementwise_prod h_new_1_act o_act",
    )


def gru() -> Cell:
    """A GRU with the reset gate before the product."""
    return _recipe(
        r="linear x h_prev_0",
        r_act="activation_sigm r",
        z="linear x h_prev_0",
        z_act="activation_sigm z",
        rh="elementwise_prod r_act h_prev_0",
        h_tilde="linear x rh",
        h_tilde_act="activation_tanh h_tilde",
        h_new_0="blend z_act h_prev_0 h_tilde_act",
    )
