"""A seed decides every bit of every kind of model, for any number of threads and in any process."""

import json
import re
import subprocess
import sys
from pathlib import Path

import bit_cases
import pytest
import torch
from bit_cases import CASES, bits, trained, used

from cellwright.engine import native_backend

every_case = pytest.mark.parametrize("name", CASES)


@pytest.fixture(scope="module")
def elsewhere():
    """The bits of all cases in another process."""
    script = Path(bit_cases.__file__)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), "2"],
        capture_output=True,
        text=True,
        cwd=script.parent,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@every_case
def test_threads_and_processes_change_no_bit(name, elsewhere):
    found = {f"{threads} threads": bits(name, threads) for threads in (1, 2, 3)}
    found["another process"] = elsewhere[name]
    assert len(set(found.values())) == 1, found


@pytest.mark.skipif(not native_backend.available(), reason="the core is not built")
@every_case
def test_all_products_are_the_engines(name):
    """The last bits of torch's own may differ; a profiler sees them."""
    with torch.autograd.profiler.profile() as profile:
        used(*trained(name))
    names = {event.key for event in profile.key_averages() if event.key.startswith("aten::")}
    assert "aten::embedding" in names
    assert not {name for name in names if re.search("mm|matmul|linear|dot|mv|conv|einsum", name)}
