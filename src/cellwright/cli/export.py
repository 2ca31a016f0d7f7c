"""`cellwright export`: a cell or a trained model as files that need no cellwright."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cellwright.base.errors import UserError, shown
from cellwright.cli import sources
from cellwright.cli.help import examples
from cellwright.cli.output import printable, say, stderr, stdout
from cellwright.cli.runs.options import TRAIN, Runs

if TYPE_CHECKING:
    from cellwright.cell import Cell
    from cellwright.runs.folder import RunFolder

EXAMPLES = examples(
    ("a cell as plain PyTorch, into darts_v1.py", "cellwright export darts-v1"),
    TRAIN,
    ("its model as PyTorch, with the weights", "cellwright export runs/gru -o language_model.py"),
    ("as a folder that others can load", "cellwright export runs/gru --to folder -o gru-model"),
    ("in ONNX, which needs the extra export", "cellwright export runs/gru -o gru.onnx"),
)

WHAT_HELP = "A run's folder or name; or a cell: a name of the zoo, or a file."


class Form(str, Enum):
    """What is written."""

    PYTHON = "python"
    ONNX = "onnx"
    FOLDER = "folder"


def run(
    what: Annotated[str, typer.Argument(metavar="RUN|CELL", help=WHAT_HELP)],
    to: Annotated[
        Form | None, typer.Option("--to", help="What to write. Default: by --output, or python.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PATH", help="A .py or .onnx file, or a folder."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    is_cell: Annotated[
        bool, typer.Option("--cell", help="It is a cell, even if a run has the same name.")
    ] = False,
    input_size: Annotated[
        int, typer.Option(metavar="N", min=1, help="Of a cell in ONNX: the width of x.")
    ] = 300,
    hidden_size: Annotated[
        int, typer.Option(metavar="N", min=1, help="Of a cell in ONNX: the width of its state.")
    ] = 300,
    layers: Annotated[int, typer.Option(metavar="N", min=1, help="Of a cell in ONNX: layers.")] = 1,
    bidirectional: Annotated[
        bool, typer.Option("--bidirectional", help="Of a cell in ONNX: both directions.")
    ] = False,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Of a cell in ONNX: of its fresh weights.")
    ] = 0,
    runs: Runs = Path("runs"),
) -> None:
    """Take a cell or a trained model away, as files that need no cellwright.

    python: a file of plain PyTorch. Of a cell it has the network, for any
    sizes; of a run the whole model with the weights of its best epoch, in a
    .safetensors file beside it, and lists of words, tags or labels as JSON.

    onnx: a model with the time loop inside, for any batch and length, with
    lengths and carried states. It is run on a random batch and compared with
    the original before it is written. Of a cell the weights are fresh ones.
    Frozen features of words, such as pretrained vectors, are inputs. It needs
    pip install 'cellwright\\[export]'.

    folder: of a run, in Hugging Face's manner: config.json, model.safetensors,
    vocabularies, and a README with the cell's picture, figures and costs.
    cw.load, evaluate, tag and predict open it, wherever it is.

    A run has to have ended. Existing files are replaced with --force alone.
    """
    from cellwright.api.exporting import export

    subject: Cell | Path
    folder = None if is_cell else _run(what, runs)
    subject = _cell(what) if folder is None else folder.path
    found = export(
        subject,
        output,
        to=None if to is None else to.value,
        force=force,
        input_size=input_size,
        hidden_size=hidden_size,
        num_layers=layers,
        bidirectional=bidirectional,
        seed=seed,
    )
    for path in found.files:
        stdout().print(printable(str(path)), soft_wrap=True)
    say(f"{found.title}: {found.note}", "dim", stderr())


def _run(what: str, runs: Path) -> RunFolder | None:
    from cellwright.export.subject import find_run

    return find_run(what, runs)


def _cell(what: str) -> Cell:
    """The one cell that is named."""
    try:
        loaded = sources.load([what])
    except UserError as error:
        if Path(what).exists():
            raise
        raise UserError(f"there is no run {shown(what)}, and {error}") from None
    if len(loaded) != 1:
        raise UserError(f"{what} has {len(loaded)} cells, and one can be exported at a time")
    return loaded[0].cell
