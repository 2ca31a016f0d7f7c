"""What the store raises, and how a database's own words become a sentence for people."""

from __future__ import annotations

import sqlite3
from typing import Literal

from sqlalchemy import exc

from cellwright.base.errors import UserError


class StoreError(UserError):
    """A store cannot be opened, read or written, or does not have what was asked for.

    The message names the store and says what to do.
    """


class StoreAwayError(StoreError):
    """A store that was there before did not answer, or could not be written, for as long as it was
    tried."""


class UnreadableError(StoreError):
    """A database cannot make sense of what it holds itself."""


class DamagedError(StoreError):
    """Something in a store is not what was written there.

    Args:
        why: what is wrong.
        what: of the study: "trial 3"; the study itself if nothing is named.
        study: its name, once somebody knows it.
    """

    def __init__(self, why: str, what: str = "", study: str | None = None) -> None:
        self.why, self.what, self.study = why, what, study
        of = "a study" if study is None else f"study {study!r}"
        who = f"{what} of {of}" if what else of
        super().__init__(f"{who} is damaged: {why}; restore a copy of the store")

    def of(self, study: str) -> DamagedError:
        """The same, with the study's name."""
        return DamagedError(self.why, self.what, study)


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

Trouble = Literal["away", "full", "locked"]
"""What may be over a moment later: a server that is gone or restarts, a full disk, and others who
keep locked what a transaction needs."""

_AWAY, _LOCKED = ("57P01", "57P02", "57P03"), ("40001", "40P01")
"""PostgreSQL's codes for three forms of a restarting server, and for two transactions that are in
each other's way."""


# By their words, since Python 3.10 does not pass on SQLite's codes.
_SQLITE: tuple[tuple[str, Trouble], ...] = (
    ("database is locked", "locked"),
    ("database table is locked", "locked"),
    ("disk is full", "full"),
    ("disk i/o error", "full"),
)


def said(error: exc.SQLAlchemyError) -> str:
    """What a database said, in one line, with a hint."""
    original = getattr(error, "orig", None)
    lines = str(original or error).strip().splitlines() or [type(error).__name__]
    first = next((line for line in lines if line.strip()), lines[0]).strip()
    everything = " ".join(lines).lower()
    hint = next((hint for words, hint in _HINTS if words in everything), "")
    return f"{first}{f' ({hint})' if hint else ''}"


def is_unreadable(error: exc.SQLAlchemyError) -> bool:
    """Whether a database stumbles over what a row holds."""
    state = str(getattr(getattr(error, "orig", None), "sqlstate", None) or "")
    text = str(getattr(error, "orig", None) or error).lower()
    return state.startswith("22") or any(words in text for words in _UNREADABLE)


_UNREADABLE = ("malformed json", "bad json path", "could not decode to utf-8")


def trouble(error: exc.SQLAlchemyError) -> Trouble | None:
    """What keeps a database from a transaction that may succeed later; None if it never will."""
    if not isinstance(error, exc.DBAPIError):
        return None
    original = error.orig
    if isinstance(original, sqlite3.OperationalError):
        text = str(original).lower()
        return next((found for words, found in _SQLITE if words in text), None)
    state = str(getattr(original, "sqlstate", None) or "")
    if state in _LOCKED:
        return "locked"
    if error.connection_invalidated or state in _AWAY or state.startswith("08"):
        return "away"
    if state.startswith("53"):  # no room on its disk, no memory, too many connections
        return "full" if state == "53100" else "away"
    # psycopg gives no code where it could not connect at all.
    unreached = type(original).__module__.startswith("psycopg") and not state
    return "away" if unreached and isinstance(error, exc.OperationalError) else None
