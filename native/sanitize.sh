#!/usr/bin/env bash
# Builds the core with sanitizers and runs the engine's tests on it: `memory` is the address and
# undefined-behaviour sanitizers, `threads` the thread sanitizer. Called by `make sanitize` and
# `make sanitize-threads`, which set PYTHON; further arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
kind=${1:-memory}
shift || true
target=build/sanitize-$kind
rm -rf "$target"
"$python" -m pip install -qq --no-deps --target "$target" \
    -C cmake.define.CELLWRIGHT_SANITIZE="$kind" -C install.strip=false \
    -C build-dir="$target-objects" .
# Python itself is not instrumented: the runtime must come first, and its leaks are not ours.
case $kind in
memory)
    export LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
    export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1
    export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
    tests=(tests/engine)
    ;;
threads)
    export LD_PRELOAD="$(gcc -print-file-name=libtsan.so)"
    # Accesses by libraries that are not instrumented are left out, but what they lock is seen. No
    # suppressions by library: they would hide Python's lock as well, and what it guards would be
    # reported. A forked child starts threads of its own, which is tested.
    export TSAN_OPTIONS="ignore_noninstrumented_modules=1:die_after_fork=0:exitcode=66"
    TSAN_OPTIONS+=":log_path=$PWD/$target/report"
    tests=(
        tests/engine/test_determinism.py tests/engine/test_kept_weights.py tests/engine/test_ways.py
        tests/engine/test_native_robustness.py tests/engine/test_batch_norm.py
        tests/engine/test_crf.py tests/engine/test_cross_entropy.py tests/engine/test_bfloat16.py
        -k "thread or kept or ways or determinism or forked"
    )
    ;;
*)
    echo "sanitize.sh: memory or threads, not $kind" >&2
    exit 2
    ;;
esac
(($#)) && tests=("$@")
status=0
"$python" - "$target" "${tests[@]}" <<'PYTHON' || status=$?
import sys
from pathlib import Path

target, *arguments = sys.argv[1:]
# An editable installation would come before the sanitized one.
sys.meta_path = [f for f in sys.meta_path if "Redirect" not in type(f).__name__]
sys.path.insert(0, str(Path(target).resolve()))
import cellwright.engine._native as core
import pytest

assert Path(core.__file__).is_relative_to(Path(target).resolve()), core.__file__
# What sanitizers say goes to standard error itself, which pytest would keep when the process ends.
sys.exit(pytest.main(["-q", "-x", "--capture=sys", "-p", "no:cacheprovider", *arguments]))
PYTHON
# pytest would keep the reports of a test that passes to itself.
unset LD_PRELOAD
if compgen -G "$target/report.*" >/dev/null; then cat "$target"/report.*; fi
exit $status
