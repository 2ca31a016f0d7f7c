"""`zoo`: cells that have a name.

- `rnn`, `lstm`, `gru` as PyTorch computes them (`pytorch.py`): every gate is the sum of a linear
  over x, `<gate>_x`, and one over h, `<gate>_h`, each with its bias, so weights map one to one.
- `nbnlp-…`: the three as NAS-Bench-NLP's release has them (`nas_bench_nlp.py`).
- `fenas-…`: LSTM and GRU as FENAS represents them (Fig. 2).
- `darts-v1`, `darts-v2`, `enas`: the published cells.
- Cells that were made or found elsewhere, to compare with: relatives of the LSTM
  (`lstm_variants.py`), and cells with one state and a few gates (`gated_units.py`).
- `sentpair-1` … `sentpair-26`: ENAS-pairs, Table 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from cellwright.base.errors import did_you_mean, shown
from cellwright.cell.cell import Cell
from cellwright.cell.errors import CellError
from cellwright.cell.listings import EnasListing, darts, enas, fenas
from cellwright.cell.listings.published import (
    DARTS_V1,
    DARTS_V2,
    ENAS,
    FENAS_GRU,
    FENAS_LSTM,
    SENTENCE_PAIRS,
)
from cellwright.cell.zoo import gated_units, lstm_variants, nas_bench_nlp, pytorch


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


_NBNLP = "NAS-Bench-NLP (Klyuchnikov et al. 2020), recepies_example.json"
_FENAS = "FENAS (Pasunuru and Bansal 2020), section 3.1 and Fig. 2"
_DARTS = "DARTS (Liu et al. 2019)"
_PAIRS = "ENAS-pairs (2020), Table 6"
_ZILLY = "Zilly et al. 2017, Recurrent Highway Networks"
_JOZEFOWICZ = "Jozefowicz et al. 2015, An Empirical Exploration of Recurrent Network Architectures"
_GREFF = "Greff et al. 2017, LSTM: A Search Space Odyssey"
_FENG = "Feng et al. 2024, Were RNNs All We Needed?"


Entry = tuple[str, str, str, Callable[[], Cell]]


def _entries() -> Iterator[Entry]:
    """For each cell its name, a line that describes it, its source, and how it is made."""
    yield "rnn", "simple RNN with tanh, as torch.nn.RNN", "PyTorch", pytorch.rnn
    yield "lstm", "LSTM, as torch.nn.LSTM", "PyTorch", pytorch.lstm
    yield "gru", "GRU, as torch.nn.GRU", "PyTorch", pytorch.gru
    yield "nbnlp-rnn", "simple RNN of NAS-Bench-NLP, one bias", _NBNLP, nas_bench_nlp.rnn
    yield "nbnlp-lstm", "LSTM of NAS-Bench-NLP, its output gate a tanh", _NBNLP, nas_bench_nlp.lstm
    yield (
        "nbnlp-gru",
        "GRU of NAS-Bench-NLP, the reset before the product",
        _NBNLP,
        nas_bench_nlp.gru,
    )
    yield "fenas-lstm", "LSTM in 9 nodes of FENAS", _FENAS, lambda: fenas.lower(FENAS_LSTM)
    yield "fenas-gru", "GRU in 10 nodes of FENAS", _FENAS, lambda: fenas.lower(FENAS_GRU)
    yield "darts-v1", "found by DARTS, first order", _DARTS, lambda: darts.lower(DARTS_V1)
    yield "darts-v2", "found by DARTS, second order", _DARTS, lambda: darts.lower(DARTS_V2)
    yield "enas", "found by ENAS on PTB", "ENAS (Pham et al. 2018)", lambda: enas.lower(ENAS)
    yield from _other_entries()
    for number, listing in enumerate(SENTENCE_PAIRS, 1):
        text = f"ENAS cell for sentence pairs, architecture {number}"
        yield f"sentpair-{number}", text, _PAIRS, _lowered(listing)


def _other_entries() -> Iterator[Entry]:
    """Cells that people would compare with by hand."""
    one, lstm = gated_units, lstm_variants
    yield "cifg-lstm", "LSTM with coupled gates, f = 1 − i", _GREFF, lstm.coupled
    text = "LSTM with peepholes, a weight for each unit"
    yield "peephole-lstm", text, f"Gers and Schmidhuber 2000; {_GREFF}", lstm.peephole
    text = "LSTM after 5 rounds in which x and h gate each other"
    source = "Melis et al. 2020, Mogrifier LSTM"
    yield "mogrifier-lstm", text, source, lambda: lstm.mogrifier(5)
    source = "Beck et al. 2024, xLSTM: Extended Long Short-Term Memory"
    yield "slstm", "sLSTM of xLSTM, exponential gates, one head", source, lstm.slstm
    source = (
        "van der Westhuizen and Lasenby 2018, The Unreasonable Effectiveness of the Forget Gate"
    )
    yield "janet", "JANET, an LSTM with the forget gate alone, β = 1", source, lstm.janet
    source = "Zoph and Le 2017, Neural Architecture Search with Reinforcement Learning"
    yield "nas-cell", "found by NAS on PTB, as TensorFlow's NASCell", source, lstm.nas_cell
    yield "rhn-2", "recurrent highway network of depth 2", _ZILLY, lambda: one.highway(2)
    yield "rhn-10", "recurrent highway network of depth 10", _ZILLY, lambda: one.highway(10)
    yield "mut1", "MUT1, found by mutation; needs x as wide as h", _JOZEFOWICZ, one.mut1
    yield "mut2", "MUT2, found by mutation; needs x as wide as h", _JOZEFOWICZ, one.mut2
    yield "mut3", "MUT3, found by mutation", _JOZEFOWICZ, one.mut3
    source = "Zhou et al. 2016, Minimal Gated Unit for Recurrent Neural Networks"
    yield "mgu", "minimal gated unit, one gate", source, one.mgu
    source = "Collins et al. 2017, Capacity and Trainability in Recurrent Neural Networks"
    yield "ugrnn", "UGRNN, an update gate alone", source, one.ugrnn
    yield "mingru", "minGRU, its gate and candidate of x alone", _FENG, one.min_gru
    yield "minlstm", "minLSTM, its gates of x alone, adding up to 1", _FENG, one.min_lstm
    source = "Lei et al. 2018, Simple Recurrent Units for Highly Parallelizable Recurrence"
    yield "sru", "simple recurrent unit; needs x as wide as h", source, one.sru


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
