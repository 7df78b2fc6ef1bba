"""Engine.IO and Socket.IO as text, both ends, as far as driving simulators use them; pure and without a clock.

Two dialects are spoken (protocol page formula-trend, section 1): "legacy", Engine.IO 3 under Socket.IO 2, where the
client pings; and "modern", Engine.IO 4 under Socket.IO 5, where the server pings. A peer's dialect follows from how it
behaves, not by the EIO number in its query: the Unity clients ask for 4 and speak 3.

WebSocket only, namespace "/", text events without acknowledgements. Unreadable frames are counted, never raised.
Public descriptions: the Engine.IO and Socket.IO protocol documents of the Socket.IO project.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qs

import msgspec

from trailbrake.errors import WireError
from trailbrake.transport.json_values import decode_json

Dialect = Literal["legacy", "modern"]
REQUEST_PATH = "/socket.io/"
LEGACY_AFTER_S = 0.25  # s of silence after which an EIO=4 client counts as legacy (section 1.1: 200 to 300 ms)
CONNECT_S = 0.5  # s that a client waits for a legacy server to speak first (section 1.2)
HANDSHAKE_S = 0.5  # s of complete silence after which a client goes on without an answer
PING_INTERVAL_S = 25.0
PING_TIMEOUT_S = 60.0
_PING_SHARE = 0.5  # of the interval that was agreed on: a machine that is busy pings in time still
_MIN_INTERVAL_S = 0.1  # even if a server requests a shorter one

_OPEN, _CLOSE, _PING, _PONG, _MESSAGE = "01234"
EVENT = "42"
_CONNECT, _DISCONNECT, _REFUSED = "40", "41", "44"
_NOOP = "6"  # Engine.IO's no-op


class _OpenPacket(msgspec.Struct):
    """What a server's first packet says about pings, ms."""

    pingInterval: float = PING_INTERVAL_S * 1e3  # noqa: N815 the wire's names
    pingTimeout: float = PING_TIMEOUT_S * 1e3  # noqa: N815


@dataclass(frozen=True, slots=True)
class SocketIoEvent:
    """One Socket.IO event: its name, and its first argument (None where there is none)."""

    name: str
    data: Any = None


def request_path(engine_version: int) -> str:
    """Return the path and query of a WebSocket request for Engine.IO `engine_version`."""
    return f"{REQUEST_PATH}?EIO={engine_version}&transport=websocket"


def encode_event(name: str, data: Any) -> str:
    """Return the frame of an event, without spaces."""
    return EVENT + msgspec.json.encode([name, data]).decode()


def decode_event(text: str) -> SocketIoEvent | None:
    """Return the event in a frame `42...`; None where it holds none."""
    body = text[len(EVENT) :].lstrip("0123456789")  # an acknowledgement's number; no peer here waits for one
    try:
        parts = decode_json(body)
    except WireError:
        return None
    if not isinstance(parts, list) or not parts or not isinstance(parts[0], str):
        return None
    return SocketIoEvent(parts[0], parts[1] if len(parts) > 1 else None)


class SocketIoSession(ABC):
    """The common part of both ends: frames in, frames out, counters.

    Attributes:
        dialect: None until it is known.
        is_connected: events flow.
        is_over: the other end said goodbye, or has been silent for too long; `why` says which.
        rejected: unreadable frames.
    """

    def __init__(self, now: float) -> None:
        self.dialect: Dialect | None = None
        self.is_connected = self.is_over = False
        self.end_reason = ""
        self.rejected = 0
        self._outgoing: list[str] = []
        self._held_frames: list[str] = []  # events emitted before the connection stood
        self._received_at = self._pinged_at = now

    def pop_frames(self) -> list[str]:
        """Return the frames to send, in order, and remove them from the queue."""
        out, self._outgoing = self._outgoing, []
        return out

    def emit(self, name: str, data: Any) -> None:
        """Send an event; before the connection stands it is held, and goes first afterwards."""
        (self._outgoing if self.is_connected else self._held_frames).append(encode_event(name, data))

    def receive_frame(self, text: str, now: float) -> SocketIoEvent | None:
        """Process one frame; return its event, if it holds one."""
        self._received_at = now
        kind = text[:2] if text.startswith(_MESSAGE) else text[:1]
        if kind == EVENT:
            event = decode_event(text)
            if event is None:
                self.rejected += 1
            else:
                self._handle_event(now)
            return event
        if kind == _CONNECT:
            self._handle_connect(text[2:], now)
        elif kind == _PING:
            self._handle_ping(text[1:], now)
        elif kind == _OPEN:
            self._handle_open(text[1:], now)
        elif kind in (_CLOSE, _DISCONNECT):
            self._end_session("the other end said goodbye")
        elif kind == _REFUSED:
            self._end_session(f"the other end refused: {text[2:200]}")
        elif kind != _PONG and text != _NOOP:
            self.rejected += 1
        return None

    @abstractmethod
    def check_timers(self, now: float) -> None:
        """Act on elapsed time: decide on silence, ping, end a dead session."""

    @abstractmethod
    def _handle_open(self, body: str, now: float) -> None: ...

    @abstractmethod
    def _handle_connect(self, body: str, now: float) -> None: ...

    @abstractmethod
    def _handle_ping(self, body: str, now: float) -> None: ...

    @abstractmethod
    def _handle_event(self, now: float) -> None: ...

    def _connect_as(self, dialect: Dialect) -> None:
        self.dialect, self.is_connected = dialect, True
        self._outgoing += self._held_frames
        self._held_frames = []

    def _ping_if_due(self, interval: float, now: float) -> None:
        if now - self._pinged_at >= interval:
            self._pinged_at = now
            self._outgoing.append(_PING)

    def _end_if_silent(self, seconds: float, now: float) -> None:
        if now - self._received_at > seconds:
            self._end_session(f"nothing heard for {seconds:g} s")

    def _end_session(self, why: str) -> None:
        if not self.is_over:
            self.is_over, self.end_reason, self.is_connected = True, why, False


class SocketIoServer(SocketIoSession):
    """The answering end, for one client: decides its dialect by what it does first (section 1.1).

    Args:
        path: of the client's request, query included.
        now: s, any steady clock; so in all methods.
        session_id: a name for the session.
    """

    def __init__(self, path: str, now: float, session_id: str) -> None:
        super().__init__(now)
        self._sid, self._opened_at = session_id, now
        opening = {"sid": session_id, "upgrades": [], "pingTimeout": int(PING_TIMEOUT_S * 1e3),
                   "pingInterval": int(PING_INTERVAL_S * 1e3)}  # fmt: skip
        self._outgoing.append(_OPEN + msgspec.json.encode(opening).decode())
        if parse_qs(path.partition("?")[2]).get("EIO", ["4"])[-1] in ("2", "3"):  # urlsplit raises on some paths
            self._connect_legacy()

    def check_timers(self, now: float) -> None:
        """Treat silence as a legacy client's, ping a modern one, end a dead session."""
        if self.dialect is None and now - self._opened_at >= LEGACY_AFTER_S:
            self._connect_legacy()
        if self.dialect == "modern":
            self._ping_if_due(PING_INTERVAL_S, now)
        self._end_if_silent(PING_INTERVAL_S + PING_TIMEOUT_S, now)

    def _connect_legacy(self) -> None:
        self._connect_as(
            "legacy"
        )  # what the connect handler emits goes before the connect packet, as old servers do it
        self._outgoing.append(_CONNECT)

    def _handle_connect(self, body: str, now: float) -> None:
        if self.dialect is None:
            # Never a bare 40 to a modern client: some report a version error.
            self._outgoing.append(_CONNECT + msgspec.json.encode({"sid": f"{self._sid}-0"}).decode())
            self._pinged_at = now
            self._connect_as("modern")

    def _handle_ping(self, body: str, now: float) -> None:
        if self.dialect is None:
            self._connect_legacy()
        if self.dialect == "legacy":
            self._outgoing.append(_PONG + body)

    def _handle_event(self, now: float) -> None:
        if self.dialect is None:
            self._connect_legacy()

    def _handle_open(self, body: str, now: float) -> None:
        self.rejected += 1


class SocketIoClient(SocketIoSession):
    """The calling end, as a simulator does it in front of a bot of any age (section 1.2).

    Args:
        now: s, any steady clock; so in all methods.
        modern_after_s: s of the server's silence after which the modern dialect is requested; 0 = at once, infinity =
            never.

    Attributes:
        is_greeted: the server's connect packet has come.
    """

    def __init__(self, now: float, modern_after_s: float = CONNECT_S) -> None:
        super().__init__(now)
        self._patience, self._called_at = modern_after_s, now
        self._opened_at: float | None = None
        self._has_requested_modern = False
        self.is_greeted = False
        self._ping_interval_s, self._ping_timeout_s = PING_INTERVAL_S, PING_TIMEOUT_S

    @property
    def is_opened(self) -> bool:
        """Whether the server has opened its end; those that speak frames alone never do."""
        return self._opened_at is not None

    def check_timers(self, now: float) -> None:
        """Request the modern dialect of a silent server, ping a legacy one, end a dead session.

        A server that does not even open its end (Udacity's C++ agents) gets events all the same: so does the Unity
        client, which waits for nothing.
        """
        if self._opened_at is None and self.dialect is None:
            if now - self._called_at >= HANDSHAKE_S:
                self._connect_legacy(now)
        elif self._opened_at is not None and not self._has_requested_modern and self.dialect is None:
            if now - self._opened_at >= self._patience:
                self._has_requested_modern = True
                self._outgoing.append(_CONNECT)
        elif self.dialect == "legacy":
            self._ping_if_due(_PING_SHARE * self._ping_interval_s, now)
        self._end_if_silent(self._ping_interval_s + self._ping_timeout_s, now)

    def _handle_open(self, body: str, now: float) -> None:
        if self._opened_at is not None:
            self.rejected += 1
            return
        self._opened_at = now
        try:
            opening = msgspec.json.decode(body, type=_OpenPacket)
        except (msgspec.DecodeError, RecursionError):
            self.rejected += 1
            return
        self._ping_interval_s = max(opening.pingInterval * 1e-3, _MIN_INTERVAL_S)
        self._ping_timeout_s = max(opening.pingTimeout * 1e-3, _MIN_INTERVAL_S)

    def _handle_connect(self, body: str, now: float) -> None:
        self.is_greeted = True
        if self.is_connected:
            return
        if self._has_requested_modern and body:
            self._connect_as("modern")
        else:
            self._connect_legacy(now)

    def _handle_event(self, now: float) -> None:
        # Old servers emit from their connect handler first; modern ones may too, after the request.
        if not self.is_connected and not self._has_requested_modern:
            self._connect_legacy(now)

    def _connect_legacy(self, now: float) -> None:
        self._connect_as("legacy")
        self._pinged_at = now
        self._outgoing.insert(0, _PING)

    def _handle_ping(self, body: str, now: float) -> None:
        self._outgoing.append(_PONG + body)
