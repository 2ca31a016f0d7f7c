#!/usr/bin/env bash
# Builds the core with the address and undefined-behaviour sanitizers and runs the engine's
# tests on it. Called by `make sanitize`, which sets PYTHON; arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
target=build/sanitize
rm -rf "$target"
"$python" -m pip install -qq --no-deps --target "$target" \
    -C cmake.define.CELLWRIGHT_SANITIZE=ON -C build-dir=build/sanitize-objects .
# Python itself is not instrumented: the runtime must come first, and its leaks are not ours.
export LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
"$python" - "$target" "${@:-tests/engine}" <<'PYTHON'
import sys
from pathlib import Path

target, *arguments = sys.argv[1:]
# An editable installation would come before the sanitized one.
sys.meta_path = [f for f in sys.meta_path if "Redirect" not in type(f).__name__]
sys.path.insert(0, str(Path(target).resolve()))
import cellwright.engine._native as core
import pytest

assert Path(core.__file__).is_relative_to(Path(target).resolve()), core.__file__
sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *arguments]))
PYTHON
