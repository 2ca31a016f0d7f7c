"""What happens when a command fails: one red line on standard error, never a traceback."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from cellwright.base.errors import UserError
from cellwright.base.memory import is_shortage, shortage
from cellwright.base.signals import interruptible
from cellwright.cli.help import Group
from cellwright.cli.output import forget_no_width, say, stderr

FAILED = 1
"""Exit code: something that the command was given, or met, is wrong."""

USAGE = 2
"""Exit code: the command line itself is wrong."""

INTERRUPTED = 130
"""Exit code: Ctrl-C."""


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
        forget_no_width()
        if "" in (sys.argv[1:] if args is None else args):  # as "$CELL" is without a value
            _fail("an argument is empty: say what is meant, or leave it out", USAGE)
        with interruptible() as heard:
            try:
                code = super().main(
                    args, prog_name, complete_var, False, windows_expand_args, **extra
                )
                sys.stdout.flush()
            except BaseException as error:
                heard.over = True  # nothing is left but to say so
                if heard.signal is not None and not isinstance(error, SystemExit):
                    _fail("interrupted", 128 + heard.signal)
                _fail_with(error)
        sys.exit(code if isinstance(code, int) else 0)

    def make_context(self, *arguments: Any, **extra: Any) -> Any:
        """Parse the arguments; Ctrl-C is met here, and below, because what becomes of it above
        differs by version."""
        with _interruption():
            return super().make_context(*arguments, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _interruption():
            return super().invoke(ctx)


class _Interrupted(Exception):  # noqa: N818
    """Ctrl-C, in a form that click hands on."""


@contextlib.contextmanager
def _interruption() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise _Interrupted from None


def _fail_with(error: BaseException) -> NoReturn:
    """Say in a line what went wrong; what nobody expected is raised."""
    if isinstance(error, BrokenPipeError):
        _leave_quietly()
    if isinstance(error, UserError | OSError | UnicodeError):
        _fail(describe(error), FAILED, details(error))
    if is_shortage(error):
        _fail(shortage(error), FAILED)
    if isinstance(error, _Interrupted | KeyboardInterrupt):
        _fail("interrupted", INTERRUPTED)
    # click's exceptions come from click or from the copy inside typer, by version.
    if not hasattr(error, "format_message"):
        raise error
    _fail_usage(error)


def describe(error: BaseException) -> str:
    """One line for people: where, then what."""
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
    say(f"error: {message}", "red", stderr())
    for line in more:
        say(line, "", stderr())
    sys.exit(code)


def _fail_usage(error: Any) -> NoReturn:
    if type(error).__name__ == "NoArgsIsHelpError":  # it has printed, or is, the help text
        error.show()
        sys.exit(USAGE)
    message = " ".join(error.format_message().split()).rstrip(".")
    say(f"error: {message}", "red", stderr())
    if getattr(error, "ctx", None) is not None:
        say(f"try: {error.ctx.command_path} --help", "", stderr())
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
