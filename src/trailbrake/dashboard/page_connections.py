"""The connections of the live page's server: from where, how many, how long without a request, with which headers.

A program of this machine may open connections without end. Each costs the process a descriptor, and a drive without
descriptors cannot write its recording.
"""

import asyncio
import secrets
from ipaddress import ip_address
from typing import Any

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 64  # without a page on them; the oldest goes first. A browser opens up to 6
REQUEST_S = 5.0  # s that a connection may take for its first request
MAX_PAGES = 32  # open at a time
BACKLOG = 32  # connections that the system holds until the server accepts them, and that one turn of it accepts
LOOPBACK = "127.0.0.1"
OWN_NAMES = (LOOPBACK, "localhost")  # by which this machine's browsers call it
REFUSAL = "trailbrake: no page of this drive at this address: open the one that the terminal shows, with its token\n"
# The page loads only from this server, which uses no network, and no other page may show it in a frame.
SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": SECURITY_POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class SecurityHeaders:
    """Adds `SECURITY_HEADERS` to every answer of `application`, refusals and missing pages among them."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application
        self._headers = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers]
            await send(message)

        await self._application(scope, receive, send_with_headers)


class AccessGate:
    """Admits to `application` pages of this machine, and those of other devices whose path begins with the token.

    Own pages have a local address at both ends; a foreign name for this machine must not open the page. The scope of
    an admitted request says "may_control".

    Args:
        application: what is shown.
        token: "" admits this machine alone.
        control: whether other devices may control, too.
    """

    def __init__(self, application: ASGIApp, token: str, control: bool) -> None:
        self._application, self._token, self._control = application, token, control

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        connection = HTTPConnection(scope)
        host = connection.headers.get("host", "").rpartition(":")[0] or connection.headers.get("host", "")
        is_own = host in OWN_NAMES and connection.client is not None and ip_address(connection.client.host).is_loopback
        first = scope["path"].split("/")[1]
        if self._token and secrets.compare_digest(first.encode(), self._token.encode()):
            scope = {**scope, "root_path": f"/{first}"}
        elif not is_own:
            await PlainTextResponse(REFUSAL, 403)(scope, receive, send)
            return
        await self._application({**scope, "may_control": is_own or self._control}, receive, send)


class OpenConnections:
    """The connections without a page, the oldest first."""

    def __init__(self) -> None:
        self._connections: dict[H11Protocol, None] = {}

    def add_connection(self, connection: H11Protocol) -> None:
        """Count one; hang up on the oldest where they are too many."""
        self._connections[connection] = None
        if len(self._connections) > MAX_CONNECTIONS:
            oldest = next(iter(self._connections))
            self.remove_connection(oldest)
            oldest.transport.abort()

    def remove_connection(self, connection: H11Protocol) -> None:
        """Count one no more."""
        self._connections.pop(connection, None)


class LimitedProtocol(H11Protocol):
    """One connection: hung up on where its first request does not come, or too many others have come since."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin."""
        super().connection_made(transport)
        self._open_connections.add_connection(self)
        self._deadline = self.loop.call_later(REQUEST_S, self._abort_without_request)

    @property
    def _open_connections(self) -> OpenConnections:
        connections = self.app_state.setdefault("open_connections", OpenConnections())
        assert isinstance(connections, OpenConnections)
        return connections

    def _abort_without_request(self) -> None:
        if self.cycle is None:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._forget()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Hand the connection over to a page."""
        self._forget()
        super().handle_websocket_upgrade(event)

    def _forget(self) -> None:
        self._deadline.cancel()
        self._open_connections.remove_connection(self)
