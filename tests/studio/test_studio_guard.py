"""The server answers the page of this machine, reads its own folder, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from studio_server import api, ask, serving

import cellwright as cw
from cellwright.studio.guard import Guard


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from studio_material import write_run

    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_text("secret words")
    inside = outside / "inside"
    write_run(inside / "gru", cw.zoo["gru"], epochs=2, seed=0)
    (inside / "link.txt").symlink_to(outside / "secret.txt")
    (inside / "links").symlink_to(outside)
    (inside / ".hidden.txt").write_text("secret words")
    (inside / "weights.safetensors").write_text("secret words")
    (inside / "evil.html").write_text("<script>alert(1)</script>")
    return inside


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as found:
        yield found


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8700", "127.0.0.1.evil.example", "", "[::1", "a b"]
)
@pytest.mark.parametrize("path", ["/", "/api/list", "/files/gru/cell.json"])
def test_a_foreign_host_is_refused(address: str, host: str, path: str):
    answer = ask(address, path, headers={"Host": host})
    assert answer.status in (400, 421)
    assert b"gru" not in answer.body


def test_this_machine_is_known_by_its_names(address: str):
    port = address.rsplit(":")[-1].strip("/")
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", "localhost", f"[::1]:{port}"):
        assert ask(address, "/api/list", headers={"Host": host}).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize("path", ["/", "/api/list", "/nowhere", "/files/gru/cell.json"])
def test_nothing_but_reading_is_answered(address: str, method: str, path: str):
    origin = {"Origin": "http://evil.example", "Content-Length": "0"}
    assert ask(address, path, method, origin).status == 405


def test_a_page_of_another_site_gets_nothing(address: str):
    foreign = {"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"}
    answer = ask(address, "/api/list", headers=foreign)
    assert answer.status == 403
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/files/../secret.txt",
        "/files/..%2fsecret.txt",
        "/files/%2e%2e/secret.txt",
        "/files/gru/..%2f..%2fsecret.txt",
        "/files/link.txt",
        "/files/links/secret.txt",
        "/files//etc/passwd",
        "/files/%2fetc%2fpasswd",
        "/files/.hidden.txt",
        "/files/weights.safetensors",
        "/files/gru",
        "/files/",
        "/files/a%00.txt",
        "/page/..%2fserver.py",
        "/page/../server.py",
        "/page/server.py",
    ],
)
def test_no_other_file_is_given_out(address: str, path: str):
    answer = ask(address, path)
    assert answer.status == 404
    assert b"secret" not in answer.body


def test_a_file_of_the_folder_is_given_out(address: str, folder: Path):
    answer = ask(address, "/files/gru/cell.json")
    assert answer.status == 200
    assert answer.body == (folder / "gru" / "cell.json").read_bytes()


@pytest.mark.parametrize("identity", ["../outside", "/etc", "gru/../gru", "nothing", ""])
def test_only_what_was_found_has_an_answer(address: str, identity: str):
    for name in ("item", "trials", "cell"):
        assert ask(address, f"/api/{name}?id={identity}").status == 404


@pytest.mark.parametrize("path", ["/", "/page/app.js", "/api/list", "/nowhere", "/files/evil.html"])
def test_every_answer_has_its_headers(address: str, path: str):
    headers = ask(address, path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert ("script-src 'self'" in policy) is not path.startswith("/files")
    assert ("sandbox" in policy) is path.startswith("/files")


def test_the_page_names_nothing_outside(address: str):
    from cellwright.studio.server import page_files

    for name, data in page_files().items():
        text = data.decode().replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text, name
        assert "https:" not in text, name
        assert "innerHTML" not in text, name


def test_wrong_questions_get_an_answer(address: str):
    [row] = api(address, "list")["rows"]
    for query in ("number=x", "number=-1", f"number={10**30}", ""):
        assert ask(address, f"/api/trial?id={row['id']}&{query}").status == 404
    assert ask(address, f"/api/cell?id={row['id']}&seed=a").status == 404


@pytest.mark.parametrize(
    ("listening", "host", "ours"),
    [
        ("127.0.0.1", "127.0.0.1:80", True),
        ("127.0.0.1", "192.168.0.7:80", False),
        ("0.0.0.0", "192.168.0.7:80", True),
        ("0.0.0.0", "rebound.example:80", False),
        ("192.168.0.7", "192.168.0.7:80", True),
        ("192.168.0.7", "192.168.0.8:80", False),
        ("::", "[fe80::1]:80", True),
    ],
)
def test_names_by_which_a_server_is_asked(listening: str, host: str, ours: bool):
    assert Guard(lambda *given: None, listening).is_ours(host) is ours  # type: ignore[arg-type]
