"""Networks of random cells, and exported files run as a stranger would."""

from __future__ import annotations

import copy
import importlib.util
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

import cells
import cellwright as cw
from cellwright import Cell
from cellwright.engine import Recurrent
from cellwright.export.as_onnx.onnx_file import run_session
from cellwright.export.as_onnx.onnx_graph import Graph
from cellwright.export.as_onnx.onnx_networks import recurrent_graph
from cellwright.export.as_python.python_file import PythonFile, recurrent_file
from cellwright.spaces import space

SPACES = ("enas", "darts", "i-darts", "ess", "fenas", "nas-bench-nlp", "any")

CLOSE = 1e-5


def random_cells(name: str, count: int, seed: int = 0) -> list[Cell]:
    """Cells of a space; "table" has any operations of the table, history and shared weights."""
    if name == "table":
        rng = random.Random(seed)
        return [cells.cell(rng) for _ in range(count)]
    settings = {"keys": True} if name == "enas" else {}
    draw = np.random.default_rng(seed)
    return [space(name, **settings).sample(draw) for _ in range(count)]


def network(cell: Cell, layers: int = 3, seed: int = 0, **options: Any) -> Recurrent:
    """Layers in two directions. A cell whose widths have to be equal cannot be stacked in two, so
    it has one direction in several layers, behind a projection."""
    torch.manual_seed(seed)
    equal = cell.simplified().needs_equal_widths
    directions = {"bidirectional": not equal or layers == 1}
    projects = {"project_input": True} if equal else {}
    return Recurrent(cell, 4, 5, layers, **{**directions, **projects, **options}).eval()


def tensors(state: Any) -> tuple[torch.Tensor, ...]:
    return (state,) if isinstance(state, torch.Tensor) else tuple(state)


def imported(file: PythonFile, folder: Path, name: str = "taken_away") -> ModuleType:
    """The file as a module, with its weights beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(file.source, encoding="utf-8")
    weights = {name: tensor.clone() for name, tensor in file.weights.items()}
    save_file(weights, path.with_suffix(".safetensors"))
    found = importlib.util.spec_from_file_location(name, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def call_of(rnn: Recurrent, steps: int = 6, lengths: tuple[int, ...] = (6, 2, 4)) -> Any:
    """x, a random carried state and lengths."""
    batch = len(lengths)
    state = tuple(0.5 * torch.randn_like(t) for t in tensors(rnn.zero_state(batch)))
    is_tensor = isinstance(rnn.zero_state(batch), torch.Tensor)
    x = torch.randn(steps, batch, rnn.input_size)
    return x, (state[0] if is_tensor else state), torch.tensor(lengths)


EXPLODED, LOOSE = 1e4, 1e-3
"""Some random cells explode. Where a number of a network is larger than this, those that still can
be told from infinity are compared less strictly: the engine's own backends differ as much."""


def same(found: Any, wanted: Any, exact: Any = ()) -> None:
    """Output and state are those, to 1e-5 of the larger of 1 and their size.

    `exact` is what the engine gives in double precision; by that one sees if a cell explodes, and
    if its quotients and norms make rounding errors large: the engine itself is no nearer then.
    """
    calm = all(float(each.abs().max()) < EXPLODED for each in exact)
    assert len(found) == len(wanted)
    for number, (have, want) in enumerate(zip(found, wanted, strict=True)):
        have, want = torch.as_tensor(have).double(), torch.as_tensor(want).double()
        assert have.shape == want.shape
        allowed = LOOSE
        if calm:
            own = _largest_gap(want, exact[number]) if exact else 0.0
            allowed = min(LOOSE, CLOSE + 10 * own)
        else:
            kept = want.isfinite() & have.isfinite()
            have, want = have[kept], want[kept]
        assert _largest_gap(have, want) <= allowed


def _largest_gap(have: torch.Tensor, want: torch.Tensor) -> float:
    """Relative to the larger of 1 and the number's size."""
    gaps = (have - want).abs() / want.abs().clamp(min=1)
    return float(gaps.max()) if gaps.numel() else 0.0


def in_double(rnn: Recurrent, x: Any, state: Any, lengths: Any) -> list[torch.Tensor]:
    """What the network gives in double precision."""
    exact = copy.deepcopy(rnn).double()
    exact.backend = "torch"
    output, after = exact(x.double(), _double(state), lengths)
    return [output, *tensors(after)]


def _double(state: Any) -> Any:
    if state is None or isinstance(state, torch.Tensor):
        return None if state is None else state.double()
    return tuple(tensor.double() for tensor in state)


def file_outputs(module: Any, rnn: Recurrent, x: Any, state: Any, lengths: Any) -> Any:
    """What a network of an exported file gives; its state is a list where layers count in it."""
    if rnn.cell.simplified().input_history and state is not None:
        state = list(state)
    output, after = module(x, state, lengths)
    return [output, *tensors(after)]


@torch.no_grad()
def check_file(rnn: Recurrent, folder: Path, *, script: bool) -> None:
    """The exported file equals the network: with and without lengths and a carried state, in single
    precision and, where rounding cannot hide anything, in double precision."""
    module = imported(recurrent_file(rnn, {}, "taken_away"), folder).load()
    exact_module = copy.deepcopy(module).double()
    forms = [module, torch.jit.script(module)] if script else [module]
    x, state, lengths = call_of(rnn)
    for given in ((x, state, lengths), (x, None, None), (x, state, None), (x, None, lengths)):
        output, after = rnn(*given)
        exact = in_double(rnn, *given)
        for form in forms:
            same(file_outputs(form, rnn, *given), [output, *tensors(after)], exact)
        found = file_outputs(exact_module, rnn, x.double(), _double(given[1]), given[2])
        for have, want in zip(found, exact, strict=True):
            usable = want.abs() < 1e30
            torch.testing.assert_close(have[usable], want[usable], atol=1e-10, rtol=1e-8)


def session_of(graph: Graph) -> Any:
    """A graph in ONNX Runtime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    model = graph.model("tested", {}, "0").SerializeToString()
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def check_onnx(rnn: Recurrent) -> None:
    """The ONNX graph equals the network, for batches and lengths of several sizes."""
    session = session_of(recurrent_graph(rnn).graph)
    names = [given.name for given in session.get_inputs()]
    for steps, lengths in ((6, (6, 2, 4)), (1, (1,)), (9, (3, 9))):
        x, state, ends = call_of(rnn, steps, lengths)
        with torch.no_grad():
            output, after = rnn(x, state, lengths=ends)
            exact = in_double(rnn, x, state, ends)
        given = [x, ends, *tensors(state)]
        arrays = {name: each.numpy() for name, each in zip(names, given, strict=True)}
        found = list(run_session(session, arrays).values())
        same(found, [output, *tensors(after)], exact)


def check_cell(cell: Cell, folder: Path, *, script: bool = False) -> None:
    """A cell in three layers and, where it can be, two directions; else also in one of two."""
    three = network(cell)
    check_file(three, folder, script=script)
    check_onnx(three)
    if not three.bidirectional:
        both = network(cell, layers=1)
        check_file(both, folder, script=False)
        check_onnx(both)


def zoo_network(name: str, **options: Any) -> Recurrent:
    torch.manual_seed(0)
    return Recurrent(cw.zoo[name], 4, 5, **options).eval()
