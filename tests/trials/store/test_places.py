"""Where a store is: names and URLs, and that no password of one is ever shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from cellwright.cli.store_option import password_note, with_store
from cellwright.trials.store import Store, StoreError, list_studies, open_store
from cellwright.trials.store.urls import cleaned, has_secrets, parse, shown_place
from trials.postgres import LOCKED

NOWHERE = "127.0.0.1:1/lab"
"""Where no server listens."""


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:geheim@host/lab", "postgresql://me@host/lab"),
        ("postgresql://me:ge%40h%3Aeim@host:5433/lab", "postgresql://me@host:5433/lab"),
        ("postgresql://me:ge/he:im?@host/lab", "postgresql://me@host/lab"),
        ("POSTGRESQL://me:geheim@host/lab", "postgresql://me@host/lab"),
        ("postgres+psycopg://me:geheim@host/lab", "postgresql://me@host/lab"),
        ("  postgresql://me:geheim@host/lab\n", "postgresql://me@host/lab"),
        ("postgresql://host/lab?user=me&password=geheim", "postgresql://host/lab?user=me"),
        ("postgresql://me@host/lab?sslpassword=geheim", "postgresql://me@host/lab"),
        ("postgresql://me@host/lab?pasword=geheim", "postgresql://me@host/lab"),
        ("postgresql://me@host/lab?password=ge@heim", "postgresql://me@host/lab"),
        ("postgresql://me@host/lab?oauth_client_secret=geheim", "postgresql://me@host/lab"),
        (
            "postgresql://me:geheim@/lab?host=a:1&host=b:2&sslmode=require",
            "postgresql://me@/lab?host=a%3A1&host=b%3A2&sslmode=require",
        ),
    ],
)
def test_what_is_shown_of_a_url_is_not_secret_and_is_the_same_store(url: str, shown: str):
    assert shown_place(url) == shown
    assert has_secrets(url)
    assert not has_secrets(shown)
    assert shown_place(shown) == shown
    assert with_store("studies list", url).startswith("studies list --store ")
    assert "heim" not in with_store("studies list", url)
    assert "PGPASSWORD or ~/.pgpass" in (password_note(url) or "")


@pytest.mark.parametrize("place", ["studies.db", "postgresql://me@host/lab?passfile=%2Fmy%2Ffile"])
def test_what_has_nothing_secret_is_shown_whole(place: str):
    assert shown_place(place) == place
    assert password_note(place) is None


@pytest.mark.parametrize(
    "place",
    [
        "postgresql://me:ge@heim@host/lab",
        "postgresql://me:ge@heim/geheim@host/lab",
        "postgresql://me:ge@heim?geheim@host/lab",
        "postgresql://me:ge@heim?geheim=geheim@host/lab",
        "postgresql://m/e:geheim@host/lab",
        "postgresql://me:geheim",
        "postgresql://me:geheim@host:port/lab",
        "postgresql://me:geheim@a:5432,b:5432/lab",
        "postgresql:me:geheim@host/lab",
        Path("postgresql://me:geheim@host/lab"),
        "PostgreSQL:/me:geheim@host/lab",
        "host=127.0.0.1 user=me password=geheim",
        "me:geheim@host://lab",
    ],
)
def test_what_is_no_store_is_not_repeated(place: str | Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match="one looks like postgresql://user:password@") as caught:
        open_store(place)
    assert "heim" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:geheim@{NOWHERE}",
        f"postgresql://me:geheim@{NOWHERE}?sslmode=geheim",
        f"postgresql://me@{NOWHERE}?password=geheim&sslpassword=geheim",
        f"postgresql://me@{NOWHERE}?pasword=geheim",
    ],
)
def test_no_error_of_a_database_has_the_password(url: str):
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match=r"cannot use the store postgresql://me@127\.0") as caught:
        open_store(url)
    assert "geheim" not in str(caught.value).replace("sslmode=geheim", "")


def test_a_message_loses_every_form_of_what_is_secret():
    url = parse("postgresql://me:g%20h%40@host/lab?sslpassword=more")
    said = "no g h@, no g%20h%40, no g+h%40, no 'more', but moreover"
    assert cleaned(said, url) == "no ***, no ***, no ***, no '***', but moreover"


def test_a_password_is_taken_from_where_the_note_says(
    postgres: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """What is printed as a command works for who has set one of them."""
    if not store.title.startswith("postgresql"):
        pytest.skip("files have no passwords")
    make = f"CREATE ROLE {LOCKED} LOGIN SUPERUSER PASSWORD 'g@:/%heim'"
    store.write(lambda connection: connection.execute(text(make)))
    try:
        url = postgres.replace("tester@", f"{LOCKED}:g%40%3A%2F%25heim@")
        open_store(url).close()
        shown = shown_place(url)
        with pytest.raises(StoreError, match=r"say it in PGPASSWORD, in ~/.pgpass or in the URL"):
            open_store(shown)
        with monkeypatch.context() as patch:
            patch.setenv("PGPASSWORD", "g@:/%heim")
            with open_store(shown) as opened:
                assert list_studies(opened) == []
        file = tmp_path / "pgpass"
        file.write_text(f"*:*:*:{LOCKED}:g@\\:/%heim\n")
        file.chmod(0o600)
        monkeypatch.setenv("PGPASSFILE", str(file))
        open_store(shown).close()
    finally:
        store.write(lambda connection: connection.execute(text(f"DROP ROLE {LOCKED}")))
