"""Runs the first Python of the README as it stands, with the package that is installed.

With `--native` the C++ core has to be there, to be the one that ran, and to give the numbers of the
torch backend.
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path


def first_python(text: str) -> str:
    """The first block of Python of a document."""
    found = re.search(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit("there is no Python in it")
    return found[1]


def check_native() -> None:
    """Say so if the core is not there, or computes something else than torch."""
    import torch

    import cellwright as cw
    from cellwright.engine import native_backend

    if not native_backend.available():
        raise SystemExit("the core is not in this installation")
    x, outputs = torch.randn(7, 3, 16), []
    native = cw.Recurrent(cw.zoo["darts-v1"], 16, 16, backend="native")
    plain = cw.Recurrent(cw.zoo["darts-v1"], 16, 16, backend="torch")
    plain.load_state_dict(native.state_dict())
    for layer in (native, plain):
        outputs.append(layer(x)[0])
    torch.testing.assert_close(*outputs, rtol=1e-4, atol=1e-5)


def main() -> None:
    """The command."""
    document, *rest = sys.argv[1:]
    if "--native" in rest:
        warnings.simplefilter("error")  # the engine warns where it falls back on torch
    names: dict[str, object] = {"__name__": "five_lines"}
    exec(compile(first_python(Path(document).read_text("utf-8")), document, "exec"), names)
    if "--native" in rest:
        check_native()
    import cellwright

    core = "the native core" if "--native" in rest else "whatever engine there is"
    print(f"cellwright {cellwright.__version__} runs on {core}: {Path(cellwright.__file__).parent}")


if __name__ == "__main__":
    main()
