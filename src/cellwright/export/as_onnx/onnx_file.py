"""An ONNX file: its graph, its metadata, and what ONNX Runtime makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cellwright.base.optional import MissingPackageError, require
from cellwright.export.as_onnx.onnx_graph import Graph
from cellwright.export.refusal import ExportError
from cellwright.export.samples import Arrays, Sample, largest_difference

TOLERANCE = 1e-4
"""How far outputs may be from the model's, relative to the larger of 1 and their size."""


@dataclass(frozen=True)
class OnnxGraph:
    """A graph that is done, and the name of what it computes."""

    name: str
    graph: Graph


@dataclass(frozen=True)
class OnnxFile:
    """The bytes of a file; `checked` says how it compared with the model.

    `difference` is the largest between its outputs and the model's; None if it was not run.
    """

    data: bytes
    checked: str
    difference: float | None


def onnx_file(
    made: OnnxGraph, sample: Sample, metadata: Mapping[str, str], version: str
) -> OnnxFile:
    """A file from a graph, after it was run on a sample.

    Args:
        made: the graph.
        sample: inputs, and what the original makes of them.
        metadata: what the file says of itself.
        version: of cellwright.

    Raises:
        ExportError: it gives other outputs than the model, or is too large for one file.
        MissingPackageError: onnx is not installed.
    """
    model = made.graph.model(made.name, dict(metadata), version)
    if model.ByteSize() >= 2**31 - 1:
        raise ExportError("the model has more than 2 GB, which an ONNX file cannot hold")
    data: bytes = model.SerializeToString()
    try:
        session = _session(data)
    except MissingPackageError:
        return OnnxFile(data, "not run: onnxruntime is not installed", None)
    worst = largest_difference(run_session(session, sample.inputs), sample.outputs)
    if not worst <= TOLERANCE:
        raise ExportError(
            f"ONNX Runtime's outputs differ from the model's by up to {worst:.2g}, so nothing was "
            "written"
        )
    said = f"ONNX Runtime gives the model's outputs on a random batch, to {worst:.1e}"
    return OnnxFile(data, said, worst)


def _session(data: bytes) -> Any:
    runtime = require("onnxruntime", "checking an ONNX file", "export")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    return runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def run_session(session: Any, inputs: Arrays) -> Arrays:
    """The outputs by name."""
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))
