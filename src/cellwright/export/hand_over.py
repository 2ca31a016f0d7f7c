"""From what is exported to files: which there are for what, and where they are put."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from cellwright.base.errors import did_you_mean, shown
from cellwright.export.refusal import ExportError
from cellwright.export.subject import CellSubject, RunSubject, Subject
from cellwright.export.targets import check_free, check_free_folder, write_files, write_folder

if TYPE_CHECKING:
    from torch import nn

    from cellwright.export.as_onnx.onnx_file import OnnxGraph

Kind = Literal["python", "onnx", "folder"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_ENDINGS: dict[str, Kind] = {".py": "python", ".onnx": "onnx"}


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes:
        kind: "python", "onnx" or "folder".
        title: what was exported, in words.
        path: the file that was asked for, or the folder.
        files: all files, or the folder.
        note: what there is to know of it, such as how it was checked.
    """

    kind: Kind
    title: str
    path: Path
    files: tuple[Path, ...]
    note: str


def kind_for(to: str | None, path: Path | None) -> Kind:
    """What to write: as was said, or by the ending of the file, or else a Python file.

    >>> kind_for(None, Path("cell.onnx")), kind_for(None, Path("model")), kind_for(None, None)
    ('onnx', 'folder', 'python')

    Raises:
        ExportError: it is none of the kinds, or the file's ending says another one.
    """
    ending = None if path is None else path.suffix.lower()
    if to is None:
        return "python" if ending is None else _ENDINGS.get(ending, "folder")
    if to not in KINDS:
        hint = did_you_mean(to, KINDS) or f"; there are {', '.join(KINDS)}"
        raise ExportError(f"unknown form {shown(to)}{hint}")
    kind: Kind = next(each for each in KINDS if each == to)
    wanted = next((end for end, of in _ENDINGS.items() if of == kind), None)
    if ending is not None and (wanted or ending in _ENDINGS) and ending != wanted:
        said = f"ends in {wanted}" if wanted else "has no ending of a file's"
        raise ExportError(f"{path}: what is written as {kind} {said}")
    return kind


def hand_over(
    subject: Subject, to: str | None = None, path: Path | None = None, *, force: bool = False
) -> Exported:
    """Export something.

    Args:
        subject: what.
        to: "python", "onnx" or "folder"; by the ending of `path` unless said.
        path: the file or the folder; named after the subject unless said.
        force: replace what is there.

    Raises:
        ExportError: it cannot be had in that form, or something is there already.
        FileError: something cannot be written; nothing is left of it then.
    """
    kind = kind_for(to, path)
    target = _default(subject, kind) if path is None else path
    if kind == "folder":
        return _folder(subject, target, force)
    if kind == "onnx":
        return _onnx(subject, target, force)
    return _python(subject, target, force)


def _default(subject: Subject, kind: Kind) -> Path:
    if kind == "folder":
        return Path(f"{subject.stem}-model")
    if kind == "onnx":
        return Path(f"{subject.stem}.onnx")
    stem = subject.stem.replace("-", "_").replace(".", "_")
    return Path(f"{stem}.py" if not stem[0].isdigit() else f"cell_{stem}.py")


def _folder(subject: Subject, path: Path, force: bool) -> Exported:
    if not isinstance(subject, RunSubject):
        raise ExportError(
            f"a folder holds a trained model, and {subject.title} is none: export a run, or this "
            "as python or onnx"
        )
    check_free_folder(path, force)
    from cellwright.export.as_folder.hub_folder import hub_folder

    files = hub_folder(subject.trained, path.absolute().name)
    write_folder(path, files, force=force)
    return Exported("folder", subject.title, path, (path,), "cw.load opens it again, anywhere")


def _python(subject: Subject, path: Path, force: bool) -> Exported:
    weights = path.with_suffix(".safetensors")
    wanted = [path] if isinstance(subject, CellSubject) else [path, weights]
    check_free(wanted, force)
    from cellwright.export.as_folder.hub_folder import weight_bytes
    from cellwright.export.as_python.python_check import checked
    from cellwright.export.as_python.python_file import cell_file
    from cellwright.export.as_python.python_models import model_file

    about, module = subject.about(), path.stem
    if isinstance(subject, CellSubject):
        made = cell_file(subject.cell, about)
        small = CellSubject(subject.cell, 5, 5).network()
        gap = checked(model_file(small, {}, module), small)
        note = f"it gives what Recurrent gives for a random batch, to {gap:.1e}; it needs torch"
    else:
        model = _model(subject)
        made = model_file(model, about, module)
        gap = checked(made, model)
        note = (
            f"it gives the model's outputs on a random batch, to {gap:.1e}; load() in it reads the "
            "weights; it needs torch and safetensors alone"
        )
    files = {path: made.source.encode()}
    if made.weights:
        files[weights] = weight_bytes(made.weights)
    if isinstance(subject, RunSubject):
        for name, text in subject.vocabularies().items():
            files[path.with_suffix(f".{name}.json")] = text.encode() + b"\n"
    write_files(files, force=force)
    return Exported("python", subject.title, path, tuple(files), note)


def _onnx(subject: Subject, path: Path, force: bool) -> Exported:
    check_free([path], force)
    from cellwright.export.as_onnx.onnx_file import onnx_file
    from cellwright.export.samples import sample_of
    from cellwright.runs.info import versions

    metadata = {f"cellwright.{name}": said for name, said in subject.about().items()}
    if isinstance(subject, RunSubject):
        metadata |= {f"cellwright.{name}": s for name, s in subject.vocabularies().items()}
    model = _model(subject)
    made = onnx_file(_graph(subject, model), sample_of(model), metadata, versions()["cellwright"])
    write_files({path: made.data}, force=force)
    note = made.checked
    if isinstance(subject, CellSubject):
        note += f"; its weights are fresh ones, from seed {subject.seed}"
    return Exported("onnx", subject.title, path, (path,), note)


def _model(subject: Subject) -> nn.Module:
    """What is exported, as a module."""
    return subject.trained.model if isinstance(subject, RunSubject) else subject.network()


def _graph(subject: Subject, model: nn.Module) -> OnnxGraph:
    from cellwright.engine import Recurrent
    from cellwright.export.as_onnx.onnx_networks import language_graph, recurrent_graph
    from cellwright.models.language_model import LanguageModel
    from cellwright.models.sentences.sentence_model import SentenceModel
    from cellwright.models.tagger import Tagger

    if isinstance(model, Recurrent):
        return recurrent_graph(model)
    if isinstance(model, LanguageModel):
        return language_graph(model)
    if isinstance(model, Tagger):
        from cellwright.export.as_onnx.onnx_tagger import tagger_graph

        return tagger_graph(model)
    if isinstance(model, SentenceModel):
        from cellwright.export.as_onnx.onnx_sentences import sentence_graph

        return sentence_graph(model)
    raise ExportError(f"{subject.title} is a {type(model).__name__}, which has no form in ONNX")
