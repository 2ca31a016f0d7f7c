"""Damages every kind of file that the program reads, and runs the commands that read it.

    python tests/fuzz_files.py --variants 5000 --seed 1 --minutes 10
    python tests/fuzz_files.py --only 1234 --seed 1          # one variant again, with all details

Commands run in this process, which is fast. Each has to end with an exit code and, if it fails,
with an error for people. A failure is: any other exception, a command that does not end, memory
beyond a bound, or another file changed by a command that only reads. If this process itself dies,
the file `variant` in its folder says which variant it was.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import hashlib
import os
import random
import resource
import shutil
import signal
import stat
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from cellwright.base.errors import UserError
from cellwright.cli import app
from fuzz_damage import damages
from fuzz_fixtures import KINDS, Command, build, commands

HANG_SECONDS = 60.0
MORE_MEMORY = 4 * 2**30
"""How many bytes of addresses a command may take beyond those that the process had before."""

WEIGHTS = {"truncated": 3, "flipped": 4, "inserted": 2, "value": 12, "header": 6, "forged": 12}
"""How often a file is damaged in some ways; all others count 1."""

_LARGE = 10 * 2**20


class Hang(BaseException):
    """A command takes too long."""


@dataclass(frozen=True)
class Failure:
    """What went wrong; `place` is where in the program, to count alike failures once."""

    variant: str
    command: str
    what: str
    place: str = ""


class Bench:
    """The folder in which all happens: whole files beside, and a copy that is damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.work, self.whole = folder, folder / "work", folder / "whole"
        self.work.mkdir()
        os.environ["CELLWRIGHT_CACHE"] = str(self.work / "cache")
        os.chdir(self.work)
        build(self.work)
        for command in commands():
            failure = attempt(command, "fixtures")
            assert failure is None, failure
        os.chdir(folder)
        self.work.rename(self.whole)

    def fresh(self) -> None:
        """Have whole files again."""
        os.chdir(self.folder)
        _remove(self.work)
        shutil.copytree(self.whole, self.work, symlinks=True)
        os.chdir(self.work)

    def variant(self, seed: int, number: int, kinds: list[str]) -> list[Failure]:
        """Make one variant, and run what reads it."""
        rng = random.Random(f"{seed}/{number}")
        name = kinds[number % len(kinds)]
        kind = KINDS[name]
        self.fresh()
        files = sorted(
            path for pattern in kind.files for path in self.work.glob(pattern) if path.is_file()
        )
        assert files, name
        path = rng.choice(files)
        ways = damages(path)
        [way] = rng.choices(list(ways), [WEIGHTS.get(name, 1) for name in ways])
        damage = ways[way]
        said = f"{number}: {name}, {path.relative_to(self.work)} {way}"
        (self.folder / "variant").write_text(said)
        if not damage(path, rng):
            return []
        found = []
        before = contents(self.work)
        for command in kind.reads:
            found.append(attempt(command, said))
            if contents(self.work) != before:
                found.append(Failure(said, str(command), "files were changed"))
                before = contents(self.work)
        if kind.works:
            found.append(attempt(rng.choice(kind.works), said))
        return [failure for failure in found if failure is not None]


def attempt(command: Command, variant: str) -> Failure | None:
    """Run a command; what is wrong with how it ended, if something is."""
    told = " ".join(command) if isinstance(command, tuple) else "a call"
    try:
        with limited():
            error, output = _run(command)
    except Hang as hang:
        return Failure(variant, told, "does not end", _place(hang))
    if error is not None:
        what = "".join(traceback.format_exception(error))
        return Failure(variant, told, what, _place(error))
    if "Traceback" in output or "not enough memory" in output:
        return Failure(variant, told, output)
    return None


def _run(command: Command) -> tuple[BaseException | None, str]:
    if isinstance(command, tuple):
        result = CliRunner().invoke(app, list(command), prog_name="cellwright")
        error = result.exception
        return None if isinstance(error, SystemExit) else error, result.output
    try:
        command()
    except UserError:
        pass
    except Exception as error:
        return error, ""
    return None, ""


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Within bounds of time and memory."""

    def ring(number: int, frame: Any) -> None:
        raise Hang

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = signal.signal(signal.SIGALRM, ring)
    faulthandler.dump_traceback_later(3 * HANG_SECONDS, exit=True)
    resource.setrlimit(resource.RLIMIT_AS, (now + MORE_MEMORY, hard))
    signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)


def contents(folder: Path) -> dict[str, Any]:
    """What is in a folder, but for caches, and what SQLite writes when it reads."""
    found: dict[str, Any] = {}
    for place, folders, names in os.walk(folder):
        if Path(place) == folder:
            folders[:] = [name for name in folders if name != "cache"]
        for name in names:
            path = Path(place, name)
            if name.startswith("studies.db"):
                continue
            status = path.lstat()
            kind = stat.S_IFMT(status.st_mode)
            if stat.S_ISREG(kind) and status.st_size < _LARGE:
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
            else:
                found[str(path)] = (kind, status.st_size)
    return found


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "cellwright" in frame.filename]
    last = ours[-1] if ours else frames[-1]
    return f"{Path(last.filename).name}:{last.lineno} {type(error).__name__}"


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def fuzz(
    folder: Path, variants: range, seed: int, seconds: float, kinds: list[str], loud: bool = False
) -> tuple[list[Failure], Counter[str]]:
    """Try variants until they, or the time, are used up; failures, and how many of each kind."""
    here, cache = os.getcwd(), os.environ.get("CELLWRIGHT_CACHE")
    until = time.monotonic() + seconds
    failures: list[Failure] = []
    done: Counter[str] = Counter()
    fsync = os.fsync
    os.fsync = lambda handle: None  # nothing here has to outlive a power cut
    try:
        bench = Bench(folder)
        for number in variants:
            if time.monotonic() > until:
                break
            found = bench.variant(seed, number, kinds)
            done[kinds[number % len(kinds)]] += 1
            failures += found
            for failure in found if loud else ():
                print(f"{failure.variant}\n  {failure.command}\n  {failure.what}", flush=True)
    finally:
        os.fsync = fsync
        os.chdir(here)
        if cache is not None:
            os.environ["CELLWRIGHT_CACHE"] = cache
    return failures, done


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--variants", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--kind", action="append", choices=sorted(KINDS))
    parser.add_argument("--only", type=int, help="this variant alone")
    parser.add_argument("--first", type=int, default=0, help="the number of the first variant")
    given = parser.parse_args()
    first = given.first if given.only is None else given.only
    numbers = range(first, first + (given.variants if given.only is None else 1))
    kinds = given.kind or list(KINDS)
    with tempfile.TemporaryDirectory() as folder:
        failures, done = fuzz(
            Path(folder), numbers, given.seed, 60 * given.minutes, kinds, loud=True
        )
    places = Counter(failure.place or failure.what[-300:] for failure in failures)
    print(f"{sum(done.values())} variants: {dict(done)}")
    print(f"{len(failures)} failures at {len(places)} places")
    for place, count in places.most_common():
        print(f"{count:6}  {place}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
