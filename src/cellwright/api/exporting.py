"""Taking a cell or a trained model away."""

from __future__ import annotations

from pathlib import Path

from cellwright.api.inputs import as_cell
from cellwright.api.results import TrainedRun
from cellwright.base.errors import UserError
from cellwright.cell import Cell
from cellwright.engine import Recurrent
from cellwright.export.hand_over import Exported, hand_over
from cellwright.export.subject import CellSubject, NetworkSubject, RunSubject, Subject, find_run
from cellwright.runs.folder import RUNS


def export(
    what: TrainedRun | Recurrent | Cell | Path | str,
    path: Path | str | None = None,
    *,
    to: str | None = None,
    force: bool = False,
    input_size: int = 300,
    hidden_size: int = 300,
    num_layers: int = 1,
    bidirectional: bool = False,
    seed: int = 0,
    runs: Path | str = RUNS,
) -> Exported:
    """Write a cell, a network or a trained model into files that need no cellwright.

    | to | what is written |
    |---|---|
    | `python` | a file of plain PyTorch, and the weights as safetensors beside it |
    | `onnx` | a model with the time loop inside, compared with the original on a random batch |
    | `folder` | of a run: all of the model in Hugging Face's manner; `load` opens it again |

    Args:
        what: a run, its folder or its name; a network; a cell, its name or its file. Of a run and
            a cell of the same name it is the run.
        path: the file or the folder to write; made of the name unless said.
        to: the form, as above; by the ending of `path` unless said, and else "python".
        force: replace what is there.
        input_size: of a cell's network in ONNX, as all of the following.
        hidden_size: how wide its states are.
        num_layers: how many layers it has.
        bidirectional: whether it reads backwards too.
        seed: of its weights.
        runs: where runs are.

    Raises:
        UserError: there is no such run or cell, it cannot be had in that form, or something is
            there already. Nothing has been written then.
    """
    sizes = (input_size, hidden_size, num_layers, bidirectional, seed)
    subject = _subject(what, sizes, Path(runs))
    return hand_over(subject, to, None if path is None else Path(path), force=force)


def _subject(
    what: TrainedRun | Recurrent | Cell | Path | str,
    sizes: tuple[int, int, int, bool, int],
    runs: Path,
) -> Subject:
    if isinstance(what, TrainedRun):
        return RunSubject.of(what.folder)
    if isinstance(what, Recurrent):
        return NetworkSubject(what)
    if isinstance(what, Cell):
        return CellSubject(what, *sizes)
    if not isinstance(what, str | Path):
        raise UserError(f"a run, a network or a cell can be exported, not a {type(what).__name__}")
    folder = find_run(what, runs)
    return CellSubject(as_cell(what), *sizes) if folder is None else RunSubject.of(folder)
