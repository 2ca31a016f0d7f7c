"""Where a store is: a file's name or a URL, and how it is shown without what is secret in it.

A store's URL may hold a password, and what is printed or written ends in logs, reports and screen
shots. So nothing but `shown_place` ever shows one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

from sqlalchemy import URL, exc, make_url

from cellwright.base.errors import shown
from cellwright.trials.store.errors import StoreError

SQLITE, POSTGRESQL = "sqlite", "postgresql"

_SHOWN = {
    "application_name", "channel_binding", "client_encoding", "connect_timeout", "dbname",
    "fallback_application_name", "gssencmode", "host", "hostaddr", "keepalives",
    "keepalives_count", "keepalives_idle", "keepalives_interval", "krbsrvname",
    "load_balance_hosts", "options", "passfile", "port", "require_auth", "requirepeer", "service",
    "sslcert", "sslcertmode", "sslcrl", "sslcrldir", "sslkey", "sslmode", "sslnegotiation",
    "sslrootcert", "sslsni", "ssl_max_protocol_version", "ssl_min_protocol_version",
    "target_session_attrs", "tcp_user_timeout", "user",
}  # fmt: skip
"""The parameters of PostgreSQL's that say where and how, and nothing secret. All others are left
out where a URL is shown: what is misspelt may be a password too."""

_SHAPE = "one looks like postgresql://user:password@host:5432/name"
_ESCAPES = "in a user's name or a password, @ is written %40, : is %3A, / is %2F and % is %25"


def parse(place: str | Path) -> URL:
    """The URL of a store: a file's name is a SQLite database.

    >>> parse("studies.db").database
    'studies.db'
    >>> parse("postgresql://me@host/lab").drivername
    'postgresql+psycopg'

    Raises:
        StoreError: it is neither. The message does not repeat it, since a password may be in it.
    """
    text = os.fspath(place)
    if "://" not in text:
        return _file(text)
    text = text.strip()
    try:
        url = make_url(text)
    except (exc.ArgumentError, ValueError):
        raise StoreError(_malformed(text)) from None
    kind = url.drivername.partition("+")[0].lower()
    if kind in ("postgres", POSTGRESQL):
        _check_separators(text, url)
        return url.set(drivername="postgresql+psycopg")
    if kind != SQLITE:
        raise StoreError(f"a store is SQLite or PostgreSQL, not {shown(kind)}")
    if not url.database or url.database == ":memory:":
        raise StoreError("a SQLite store needs a file: sqlite:///studies.db, or just studies.db")
    return url.set(drivername=url.drivername.lower())


def shown_place(place: str | Path | URL) -> str:
    """A store for people: its file, or its URL without anything secret.

    Given back as `--store`, it is the same store for who has the password elsewhere: libpq, which
    psycopg stands on, takes one that the URL lacks from PGPASSWORD or ~/.pgpass.

    >>> shown_place("postgresql://me:secret@host/lab?sslmode=require&sslpassword=secret")
    'postgresql://me@host/lab?sslmode=require'
    """
    url = place if isinstance(place, URL) else parse(place)
    if url.get_backend_name() == SQLITE:
        return str(url.database)
    harmless = {name: value for name, value in url.query.items() if name in _SHOWN}
    bare = URL.create(POSTGRESQL, url.username, None, url.host, url.port, url.database, harmless)
    return bare.render_as_string(hide_password=False)


def has_secrets(place: str | Path | URL) -> bool:
    """Whether `shown_place` leaves something out."""
    return any(_secrets(place if isinstance(place, URL) else parse(place)))


def cleaned(message: str, url: URL) -> str:
    """A database's message without what is secret in the URL."""
    for secret in sorted(_secrets(url), key=len, reverse=True):
        for form in (secret, quote(secret, safe=""), quote_plus(secret)):
            message = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", "***", message)
    return message


def _file(text: str) -> URL:
    # A URL that lacks its slashes, or a connection string, would become a file's name.
    if re.match(r"\s*postgres(ql)?(\+\w+)?:", text, re.IGNORECASE):
        raise StoreError(_malformed(text))
    if re.search(r"password\s*=", text, re.IGNORECASE):
        raise StoreError(f"a store is a file, or a URL, and no connection string; {_SHAPE}")
    if not text.strip() or text == ":memory:":
        raise StoreError("a store is a file, such as studies.db, or a postgresql:// URL")
    return URL.create(SQLITE, database=text)


def _malformed(text: str) -> str:
    several = (
        "; several hosts are written as postgresql://user@/name?host=a:5432&host=b:5432"
        if re.search(r":\d+,", text)
        else ""
    )
    return f"what was given as the store is not a database URL; {_SHAPE}; {_ESCAPES}{several}"


def _check_separators(text: str, url: URL) -> None:
    """Refuse a URL in which a part of the password would be taken for the host or the database.

    SQLAlchemy takes the first @ for the end of the password; whoever has an @ in a password means
    the last.
    """
    rest = text.partition("://")[2]
    behind = rest.partition("@")[2] if url.username is not None else rest
    place, _, query = behind.partition("?")
    names = [part.partition("=")[0] for part in query.split("&") if "@" in part]
    if "@" in place or any(name not in {*_SHOWN, "password", "sslpassword"} for name in names):
        raise StoreError(f"the store's URL has an @ too many; {_SHAPE}; {_ESCAPES}")


def _secrets(url: URL) -> Iterator[str]:
    if url.password:
        yield str(url.password)
    if url.get_backend_name() == SQLITE:
        return
    for name, value in url.query.items():
        if name not in _SHOWN:
            yield from (word for word in ([value] if isinstance(value, str) else value) if word)
