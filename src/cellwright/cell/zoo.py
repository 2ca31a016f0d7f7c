"""`zoo`: cells that have a name.

- `rnn`, `lstm`, `gru` as PyTorch computes them: every gate is the sum of a linear over x,
  `<gate>_x`, and one over h, `<gate>_h`, each with its bias, so weights map one to one.
- `nbnlp-…`: the three as NAS-Bench-NLP's release has them.
- `fenas-…`: LSTM and GRU as FENAS represents them (Fig. 2).
- `darts-v1`, `darts-v2`, `enas`: the published cells.
- `sentpair-1` … `sentpair-26`: ENAS-pairs, Table 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from cellwright.base.errors import did_you_mean, shown
from cellwright.cell.cell import Cell, Node
from cellwright.cell.errors import CellError
from cellwright.cell.listings import EnasListing, darts, enas, fenas, nas_bench_nlp
from cellwright.cell.listings.published import (
    DARTS_V1,
    DARTS_V2,
    ENAS,
    FENAS_GRU,
    FENAS_LSTM,
    SENTENCE_PAIRS,
)


class UnknownCellError(CellError, KeyError):
    """There is no cell of that name in the zoo."""

    def __str__(self) -> str:
        return str(self.args[0])


class Zoo(Mapping[str, Cell]):
    """Named cells, read-only; each is made when it is first asked for.

    >>> zoo["lstm"].parameters(3, 5) == 4 * (5 * 3 + 5 * 5 + 2 * 5)
    True
    """

    def __init__(self, makers: Mapping[str, Callable[[], Cell]]) -> None:
        self._makers = MappingProxyType(dict(makers))
        self._made: dict[str, Cell] = {}

    def __getitem__(self, name: str) -> Cell:
        if name not in self._made:
            if name not in self._makers:
                known = "; the zoo has " + ", ".join(self._makers)
                hint = (did_you_mean(name, self._makers) if isinstance(name, str) else "") or known
                raise UnknownCellError(f"there is no cell {shown(name)}{hint}")
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __repr__(self) -> str:
        return f"<zoo of {len(self)} cells: {', '.join(self)}>"


# -- PyTorch's three -----------------------------------------------------------------------


def _gate(name: str, activation: str) -> list[Node]:
    return [
        Node(f"{name}_x", "linear", ("x",)),
        Node(f"{name}_h", "linear", ("h0",)),
        Node(f"{name}_sum", "add", (f"{name}_x", f"{name}_h")),
        Node(name, activation, (f"{name}_sum",)),
    ]


def _rnn() -> Cell:
    nodes = [
        Node("s_x", "linear", ("x",)),
        Node("s_h", "linear", ("h0",)),
        Node("s", "add", ("s_x", "s_h")),
        Node("h", "tanh", ("s",)),
    ]
    return Cell(nodes, ["h"])


def _lstm() -> Cell:
    nodes = [
        *_gate("i", "sigmoid"),
        *_gate("f", "sigmoid"),
        *_gate("g", "tanh"),
        *_gate("o", "sigmoid"),
        Node("f_c", "mul", ("f", "h1")),
        Node("i_g", "mul", ("i", "g")),
        Node("c", "add", ("f_c", "i_g")),
        Node("c_tanh", "tanh", ("c",)),
        Node("h", "mul", ("o", "c_tanh")),
    ]
    return Cell(nodes, ["h", "c"])


def _gru() -> Cell:
    nodes = [
        *_gate("r", "sigmoid"),
        *_gate("z", "sigmoid"),
        Node("n_x", "linear", ("x",)),
        Node("n_h", "linear", ("h0",)),
        Node("r_n", "mul", ("r", "n_h")),
        Node("n_sum", "add", ("n_x", "r_n")),
        Node("n", "tanh", ("n_sum",)),
        Node("h", "blend", ("z", "h0", "n")),
    ]
    return Cell(nodes, ["h"])


# -- NAS-Bench-NLP's three -----------------------------------------------------------------


def _recipe(**nodes: str) -> Cell:
    """A recipe from `name="op input input …"`."""
    recipe: dict[str, dict[str, Any]] = {}
    for name, text in nodes.items():
        op, *inputs = text.split()
        recipe[name] = {"op": op, "input": inputs}
    return nas_bench_nlp.lower(recipe)


def _nbnlp_rnn() -> Cell:
    return _recipe(f="linear x h_prev_0", h_new_0="activation_tanh f")


def _nbnlp_lstm() -> Cell:
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


def _nbnlp_gru() -> Cell:
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


# -- the table -----------------------------------------------------------------------------

_NBNLP = "NAS-Bench-NLP (Klyuchnikov et al. 2020), recepies_example.json"
_FENAS = "FENAS (Pasunuru and Bansal 2020), section 3.1 and Fig. 2"
_DARTS = "DARTS (Liu et al. 2019)"
_PAIRS = "ENAS-pairs (2020), Table 6"


def _entries() -> Iterator[tuple[str, str, str, Callable[[], Cell]]]:
    """For each cell its name, a line that describes it, its source, and how it is made."""
    yield "rnn", "simple RNN with tanh, as torch.nn.RNN", "PyTorch", _rnn
    yield "lstm", "LSTM, as torch.nn.LSTM", "PyTorch", _lstm
    yield "gru", "GRU, as torch.nn.GRU", "PyTorch", _gru
    yield "nbnlp-rnn", "simple RNN of NAS-Bench-NLP, one bias", _NBNLP, _nbnlp_rnn
    yield "nbnlp-lstm", "LSTM of NAS-Bench-NLP, its output gate a tanh", _NBNLP, _nbnlp_lstm
    yield "nbnlp-gru", "GRU of NAS-Bench-NLP, the reset before the product", _NBNLP, _nbnlp_gru
    yield "fenas-lstm", "LSTM in 9 nodes of FENAS", _FENAS, lambda: fenas.lower(FENAS_LSTM)
    yield "fenas-gru", "GRU in 10 nodes of FENAS", _FENAS, lambda: fenas.lower(FENAS_GRU)
    yield "darts-v1", "found by DARTS, first order", _DARTS, lambda: darts.lower(DARTS_V1)
    yield "darts-v2", "found by DARTS, second order", _DARTS, lambda: darts.lower(DARTS_V2)
    yield "enas", "found by ENAS on PTB", "ENAS (Pham et al. 2018)", lambda: enas.lower(ENAS)
    for number, listing in enumerate(SENTENCE_PAIRS, 1):
        text = f"ENAS cell for sentence pairs, architecture {number}"
        yield f"sentpair-{number}", text, _PAIRS, _lowered(listing)


def _lowered(listing: EnasListing) -> Callable[[], Cell]:
    return lambda: enas.lower(listing)


def _maker(
    name: str, description: str, source: str, make: Callable[[], Cell]
) -> Callable[[], Cell]:
    def named() -> Cell:
        cell = make()
        notes = {"description": description, "source": source}
        return Cell(cell.nodes, cell.states, cell.output, name, notes)

    return named


zoo = Zoo({entry[0]: _maker(*entry) for entry in _entries()})
"""Named cells: rnn, lstm, gru, enas, darts-v1, darts-v2, sentpair-1 …, and more."""
