"""Who may ask, and how: the page is for the browser of this machine, and for nobody else's page.

A page of somebody else's that is open in the same browser can send requests here. It must not be
able to read answers or to change anything: so only GET is answered, only under a host's name that
is ours (a name that was made to point here is not, which is DNS rebinding), and not across sites.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

FILE_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
)
"""Of files of the folder, such as a report: whatever stands in them runs no script and loads
nothing."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NAMED = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^:\[\]]+)(:(?P<port>\d{1,5}))?")


class Guard:
    """Answers what may not be asked, and puts the headers on what may.

    Args:
        app: what answers the rest.
        host: the address that is listened on.
    """

    def __init__(self, app: App, host: str) -> None:
        self._app, self._names = app, host_names(host)
        self._any_address = _is_wildcard(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        found = self._refusal(scope)
        if found is not None:
            await _answer(send, *found)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", []))
                known = {name.lower() for name, _ in headers}
                for name, value in {**HEADERS, "Content-Security-Policy": POLICY}.items():
                    if name.lower().encode() not in known:
                        headers.append((name.lower().encode(), value.encode()))
                message["headers"] = headers
            await send(message)

        await self._app(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Why a request is not answered, if it is not."""
        headers = [(name.lower(), value) for name, value in scope["headers"]]
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(hosts) != 1 or not self.is_ours(hosts[0]):
            return 421, "this is cellwright's studio, and it is not called by that name\n"
        if scope["method"] not in ("GET", "HEAD"):
            return 405, "the studio only shows: it answers GET\n"
        sites = [value for name, value in headers if name == b"sec-fetch-site"]
        if scope["path"] != "/" and any(site == b"cross-site" for site in sites):
            return 403, "not for pages of other sites\n"
        return None

    def is_ours(self, host: str) -> bool:
        """Whether a Host header names this server."""
        match = _NAMED.fullmatch(host.strip())
        if match is None:
            return False
        name = match["host"].strip("[]").lower().rstrip(".")
        if name in self._names:
            return True
        return self._any_address and _is_address(name)


def host_names(host: str) -> set[str]:
    """The names under which a server that listens on an address may be asked."""
    names = {host.lower().strip("[]"), *_LOOPBACK}
    if not is_loopback(host):
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return names


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_wildcard(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    """Whether it is an address and no name: only a name can be made to point elsewhere."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


async def _answer(send: Send, status: int, text: str) -> None:
    body = text.encode()
    headers = {**HEADERS, "Content-Security-Policy": POLICY, "Content-Type": "text/plain"}
    headers["Content-Length"] = str(len(body))
    if status == 405:
        headers["Allow"] = "GET, HEAD"
    made = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": made})
    await send({"type": "http.response.body", "body": body})
