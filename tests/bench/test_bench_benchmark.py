"""The benchmark of benchmarks runs."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "bench.py"


def test_it_prints_what_was_wanted_and_what_was_measured():
    arguments = ("--architectures", "8", "--epochs", "3", "--runs", "2", "--calls", "50",
                 "--times", "1")  # fmt: skip
    done = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "8 architectures, 3 epochs, seeds: 2" in done.stdout
    for part in ("opening:", "memory of the process:", "train:", "trials of an evaluator:"):
        assert part in done.stdout
    wrong = subprocess.run([sys.executable, SCRIPT, "--calls", "0"], capture_output=True, text=True)
    assert wrong.returncode == 2
    assert "at least 1" in wrong.stderr
