"""The `cellwright` command, and `python -m cellwright`.

Ctrl-C is heard from here on. Importing what the commands are made of takes most of the time of a
short one, and an exception in the middle of that would be a traceback; so until the command itself
begins (`cli/errors.py`), the process just ends, with a line.
"""

import os
import signal
from types import FrameType


def main() -> None:
    """The entry point."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` leaves it
            signal.signal(number, _leave)
    from cellwright.cli import app

    try:
        app(prog_name="cellwright")
    finally:  # an exception in what others do at the end of the process would be a traceback too
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, b"error: interrupted\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
