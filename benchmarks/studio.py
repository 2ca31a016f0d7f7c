"""How long the studio takes to open, and to answer a filter, in a real browser.

    python benchmarks/studio.py
    python benchmarks/studio.py --folder material --times 9 --browser /usr/bin/chromium

A folder with 200 runs and a study of 20,000 trials is made (`studio_material.py`), the server is
started as a process of its own, and Chromium is driven by a script. Opening is from the request to
the moment when the table of all trials is painted; filtering from the keystroke to the next paint.
Needs playwright and a Chromium.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from studio_material import write_folder  # noqa: E402

RUNS, TRIALS = 200, 20_000

FILTER = """([selector, text, done]) => new Promise((resolve) => {
  const field = document.querySelector(selector);
  const begun = performance.now();
  field.value = text;
  field.dispatchEvent(new Event("input"));
  requestAnimationFrame(() => setTimeout(() =>
    resolve([performance.now() - begun, document.querySelector(done).textContent]), 0));
})"""
"""Type into a field; the milliseconds until it is painted, and what a line then says."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a studio that watches a folder."""
    command = [sys.executable, "-u", "-m", "cellwright", "studio", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            match = re.search(r"http://\S+", line)
            if match is not None:
                break
        else:
            raise SystemExit("the studio did not start")
        try:
            yield match[0]
        finally:
            process.terminate()


def opened(browser: Any, address: str) -> tuple[float, Any]:
    """Seconds until all trials are there, in a browser that has never seen the page."""
    page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    begun = time.perf_counter()
    page.goto(f"{address}#/item/studies.db%3A1")
    page.wait_for_selector(f"[data-trials='{TRIALS}'] .grid-row", timeout=60_000)
    return time.perf_counter() - begun, page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, help="made before; made anew unless said")
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    given = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with contextlib.ExitStack() as stack:
        folder = given.folder
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if not (folder / "studies.db").exists():
            write_folder(folder, RUNS, TRIALS)
        address = stack.enter_context(served(folder))
        driver = stack.enter_context(sync_playwright())
        browser = driver.chromium.launch(executable_path=given.browser, args=["--no-sandbox"])
        times: dict[str, list[float]] = {}
        for _ in range(given.times):
            seconds, page = opened(browser, address)
            times.setdefault(f"open a study of {TRIALS:,} trials", []).append(seconds)
            for text in ("state:failed", "value<80 changed", "memory", "from:77", ""):
                took, said = page.evaluate(
                    FILTER, [".trial-filter", text, ".with-panel [role=status]"]
                )
                assert said.endswith(f"of {TRIALS:,}"), said
                times.setdefault(f"filter trials by {text!r}", []).append(took / 1000)
            for text in ("lstm", "state:running", ""):
                took, said = page.evaluate(FILTER, ["#search", text, "#count"])
                assert said.endswith(f"of {RUNS + 1:,}"), said
                times.setdefault(f"search {RUNS} runs for {text!r}", []).append(took / 1000)
            page.context.close()
        browser.close()
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print(f"seconds, {given.times} times each; {load}")
    print(f"{'':44} {'best':>7} {'median':>7} {'worst':>7}")
    for name, found in times.items():
        print(f"{name:44} {min(found):7.3f} {statistics.median(found):7.3f} {max(found):7.3f}")


if __name__ == "__main__":
    main()
