"""A command on a terminal of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from types import TracebackType


class Terminal:
    """Runs `cellwright` with these arguments as on a terminal; `seen` is what it showed so far.

    With `typed`, its standard input is the terminal, too.
    """

    def __init__(self, *arguments: str, columns: int = 90, typed: bool = False) -> None:
        import pty

        self._ours, theirs = pty.openpty()
        self.seen = ""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "cellwright", *arguments],
            stdin=theirs if typed else None,
            stdout=theirs,
            stderr=theirs,
            env={
                **os.environ,
                "TERM": "xterm",
                "COLUMNS": str(columns),
                "OMP_NUM_THREADS": "1",
            },
        )
        os.close(theirs)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        os.close(self._ours)

    def read_until(self, pattern: str) -> None:
        """Wait until it has shown this."""
        while not re.search(pattern, self.seen):
            text = os.read(self._ours, 2**16).decode(errors="replace")
            self.seen += re.sub(r"\x1b\[[\d;]*m", "", text)

    def type(self, text: str) -> None:
        """As a person would."""
        os.write(self._ours, text.encode())

    def press_ctrl_c(self) -> None:
        """As a person would."""
        self.send(signal.SIGINT)

    def send(self, number: int) -> None:
        """Send it this signal."""
        self._process.send_signal(number)

    def exit_code(self) -> int:
        """Wait for its end."""
        return self._process.wait(timeout=60)
