"""What the store raises, and how a database's own words become a sentence for people."""

from __future__ import annotations

from sqlalchemy import exc

from cellwright.base.errors import UserError


class StoreError(UserError):
    """A store cannot be opened, read or written, or does not have what was asked for.

    The message names the store and says what to do.
    """


class OvertakenError(Exception):
    """Another driver has moved a study on since this one looked; nothing was written."""


_HINTS = (
    ("unable to open database file", "the folder is missing or must not be written to"),
    ("readonly database", "the file or its folder must not be written to"),
    ("file is not a database", "the file is something else, or damaged"),
    ("disk image is malformed", "the file is damaged; restore a copy of it"),
    ("database is locked", "another process has kept it locked for too long; end that one first"),
    ("disk is full", "make room and try again"),
    ("disk i/o error", "the disk failed, or is full"),
    ("connection refused", "no server listens there: is it running, and is the port right?"),
    ("password authentication failed", "check the user and the password in the URL"),
    ("no password supplied", "say it in PGPASSWORD, in ~/.pgpass or in the URL"),
    ("does not exist", "create it first, with 'createdb' or 'createuser'"),
    ("translate host name", "check the host in the URL"),
    ("resolve host", "check the host in the URL"),
    ("permission denied", "the user lacks the right to do this"),
)

_TRANSIENT_STATES = ("40001", "40P01", "57P01", "57P02", "57P03")
"""PostgreSQL's codes for: could not serialise, deadlock, and three forms of a restarting server."""


def said(error: exc.SQLAlchemyError) -> str:
    """What a database said, in one line, with a hint."""
    original = getattr(error, "orig", None)
    lines = str(original or error).strip().splitlines() or [type(error).__name__]
    first = next((line for line in lines if line.strip()), lines[0]).strip()
    everything = " ".join(lines).lower()
    hint = next((hint for words, hint in _HINTS if words in everything), "")
    return f"{first}{f' ({hint})' if hint else ''}"


def passing(error: exc.SQLAlchemyError) -> bool:
    """Whether the same transaction may succeed a moment later."""
    if not isinstance(error, exc.DBAPIError):
        return False
    state = str(getattr(error.orig, "sqlstate", None) or "")
    if error.connection_invalidated or state in _TRANSIENT_STATES or state.startswith("08"):
        return True
    # psycopg gives no code where it could not connect at all.
    return type(error.orig).__module__.startswith("psycopg") and (
        isinstance(error, exc.OperationalError) and not state
    )
