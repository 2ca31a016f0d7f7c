"""What happens when a command fails: one red line on standard error, never a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from cellwright.base.errors import UserError
from cellwright.base.signals import Terminated
from cellwright.cli.help import Group
from cellwright.cli.output import printable, stderr

FAILED = 1
"""Exit code: something that the command was given, or met, is wrong."""

USAGE = 2
"""Exit code: the command line itself is wrong."""

INTERRUPTED = 130
"""Exit code: Ctrl-C."""


TERMINATED = 143
"""Exit code: the signal TERM."""


class RootGroup(Group):
    """The root command, which turns every expected failure into a line and an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Parse the arguments, run the command and exit."""
        _make_streams_safe()
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
            sys.stdout.flush()
        except BrokenPipeError:
            _leave_quietly()
        except (UserError, OSError, UnicodeError, MemoryError) as error:
            _fail(describe(error), FAILED, details(error))
        except Exception as error:
            # click's exceptions come from click or from the copy inside typer, by version.
            if not hasattr(error, "format_message"):
                raise
            _fail_usage(error)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; here, because what becomes of Ctrl-C above differs by version."""
        try:
            return super().invoke(ctx)
        except Terminated:
            _fail("terminated", TERMINATED)
        except KeyboardInterrupt:
            _fail("interrupted", INTERRUPTED)


def describe(error: BaseException) -> str:
    """One line for people: where, then what."""
    if isinstance(error, MemoryError):
        return "not enough memory"
    if isinstance(error, OSError) and error.strerror:
        reason = error.strerror[0].lower() + error.strerror[1:]
        where = error.filename2 or error.filename
        return f"{where}: {reason}" if where is not None else reason
    first, *rest = str(error).splitlines() or [type(error).__name__]
    return first.rpartition("; ")[0] if rest and first.endswith(":") else first


def details(error: BaseException) -> list[str]:
    """The further lines of an error that has them, such as examples of what would be right."""
    first, *rest = str(error).splitlines() or [""]
    return [first.rpartition("; ")[2], *rest] if rest and first.endswith(":") else rest


def _fail(message: str, code: int, more: Sequence[str] = ()) -> NoReturn:
    stderr().print(f"error: {printable(message)}", style="red", soft_wrap=True)
    for line in more:
        stderr().print(printable(line), soft_wrap=True)
    sys.exit(code)


def _fail_usage(error: Any) -> NoReturn:
    if type(error).__name__ == "NoArgsIsHelpError":  # it has printed, or is, the help text
        error.show()
        sys.exit(USAGE)
    message = " ".join(error.format_message().split()).rstrip(".")
    stderr().print(f"error: {printable(message)}", style="red", soft_wrap=True)
    if getattr(error, "ctx", None) is not None:
        stderr().print(f"try: {error.ctx.command_path} --help", soft_wrap=True)
    sys.exit(getattr(error, "exit_code", USAGE))


def _make_streams_safe() -> None:
    """Print what a terminal's encoding cannot say as an escape; cope with closed streams."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _leave_quietly() -> NoReturn:
    """The reader of our output has gone (`… | head`): nobody is left to tell."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(FAILED)
