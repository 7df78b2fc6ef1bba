"""Engine.IO and Socket.IO as text, both ends, as far as driving simulators use them; pure and without a clock.

Two dialects are spoken (protocol page formula-trend, section 1): "legacy", Engine.IO 3 under Socket.IO 2, where the
client pings; and "modern", Engine.IO 4 under Socket.IO 5, where the server pings. A peer's dialect is told by how it
behaves, not by the EIO number in its query: the Unity clients ask for 4 and speak 3.

WebSocket only, namespace "/", text events without acknowledgements. What is not understood is counted, never raised.
Public descriptions: the Engine.IO and Socket.IO protocol documents of the Socket.IO project.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import msgspec

Dialect = Literal["legacy", "modern"]
PATH = "/socket.io/"
GRACE_S = 0.25  # s of silence after which an EIO=4 client counts as legacy (section 1.1: 200 to 300 ms)
CONNECT_S = 0.5  # s that a client waits for a legacy server to speak first (section 1.2)
HANDSHAKE_S = 0.5  # s after which a client takes a server that says nothing at all for one that never will
PING_INTERVAL_S = 25.0
PING_TIMEOUT_S = 60.0
_LEAST_INTERVAL_S = 0.1  # whatever a server asks for

_OPEN, _CLOSE, _PING, _PONG, _MESSAGE = "01234"
EVENT = "42"
_CONNECT, _DISCONNECT, _REFUSED = "40", "41", "44"
_NOTHING = "6"  # Engine.IO's no-op


class _Opening(msgspec.Struct):
    """What a server's first packet says about pings, ms."""

    pingInterval: float = PING_INTERVAL_S * 1e3  # noqa: N815 the wire's names
    pingTimeout: float = PING_TIMEOUT_S * 1e3  # noqa: N815


@dataclass(frozen=True, slots=True)
class Event:
    """One Socket.IO event: its name, and its first argument (None where there is none)."""

    name: str
    data: Any = None


def query(eio: int) -> str:
    """Return the path and query of a WebSocket request that asks for Engine.IO `eio`."""
    return f"{PATH}?EIO={eio}&transport=websocket"


def encode_event(name: str, data: Any) -> str:
    """Return the frame of an event, without spaces."""
    return EVENT + msgspec.json.encode([name, data]).decode()


def decode_event(text: str) -> Event | None:
    """Return the event in a frame `42...`; None where it is none that a simulator could have meant."""
    body = text[len(EVENT) :].lstrip("0123456789")  # an acknowledgement's number; nobody waits for one
    try:
        parts = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(parts, list) or not parts or not isinstance(parts[0], str):
        return None
    return Event(parts[0], parts[1] if len(parts) > 1 else None)


class Session(ABC):
    """What both ends have in common: frames in, frames out, counters.

    Attributes:
        dialect: what is spoken; None until it is known.
        is_connected: events flow.
        is_over: the other end said goodbye, or has been silent for too long; `why` says which.
        rejected: frames that were not understood.
    """

    def __init__(self, now: float) -> None:
        self.dialect: Dialect | None = None
        self.is_connected = self.is_over = False
        self.why = ""
        self.rejected = 0
        self._out: list[str] = []
        self._held: list[str] = []  # events emitted while there was nobody to hear them
        self._heard_at = self._pinged_at = now

    def take(self) -> list[str]:
        """Return the frames to send, in order, and forget them."""
        out, self._out = self._out, []
        return out

    def emit(self, name: str, data: Any) -> None:
        """Send an event; before the connection is there it is held, and goes first when it is."""
        (self._out if self.is_connected else self._held).append(encode_event(name, data))

    def receive(self, text: str, now: float) -> Event | None:
        """Take one frame; return the event in it, if it holds one."""
        self._heard_at = now
        kind = text[:2] if text.startswith(_MESSAGE) else text[:1]
        if kind == EVENT:
            event = decode_event(text)
            if event is None:
                self.rejected += 1
            else:
                self._heard_event(now)
            return event
        if kind == _CONNECT:
            self._heard_connect(text[2:], now)
        elif kind == _PING:
            self._heard_ping(text[1:], now)
        elif kind == _OPEN:
            self._heard_open(text[1:], now)
        elif kind in (_CLOSE, _DISCONNECT):
            self._end("the other end said goodbye")
        elif kind == _REFUSED:
            self._end(f"the other end refused: {text[2:200]}")
        elif kind != _PONG and text != _NOTHING:
            self.rejected += 1
        return None

    @abstractmethod
    def tick(self, now: float) -> None:
        """Do what time asks for: decide on silence, ping, give up."""

    @abstractmethod
    def _heard_open(self, body: str, now: float) -> None: ...

    @abstractmethod
    def _heard_connect(self, body: str, now: float) -> None: ...

    @abstractmethod
    def _heard_ping(self, body: str, now: float) -> None: ...

    @abstractmethod
    def _heard_event(self, now: float) -> None: ...

    def _flow(self, dialect: Dialect) -> None:
        self.dialect, self.is_connected = dialect, True
        self._out += self._held
        self._held = []

    def _ping_every(self, interval: float, now: float) -> None:
        if now - self._pinged_at >= interval:
            self._pinged_at = now
            self._out.append(_PING)

    def _give_up_after(self, seconds: float, now: float) -> None:
        if now - self._heard_at > seconds:
            self._end(f"nothing heard for {seconds:g} s")

    def _end(self, why: str) -> None:
        if not self.is_over:
            self.is_over, self.why, self.is_connected = True, why, False


class Server(Session):
    """The answering end, for one client: decides its dialect by what it does first (section 1.1).

    Args:
        path: of the client's request, query included.
        now: s, any steady clock; so in all methods.
        sid: a name for the session.
    """

    def __init__(self, path: str, now: float, sid: str) -> None:
        super().__init__(now)
        self._sid, self._opened_at = sid, now
        opening = {"sid": sid, "upgrades": [], "pingTimeout": int(PING_TIMEOUT_S * 1e3),
                   "pingInterval": int(PING_INTERVAL_S * 1e3)}  # fmt: skip
        self._out.append(_OPEN + msgspec.json.encode(opening).decode())
        if parse_qs(urlsplit(path).query).get("EIO", ["4"])[-1] in ("2", "3"):
            self._legacy()

    def tick(self, now: float) -> None:
        """Take silence for a legacy client, ping a modern one, give a dead one up."""
        if self.dialect is None and now - self._opened_at >= GRACE_S:
            self._legacy()
        if self.dialect == "modern":
            self._ping_every(PING_INTERVAL_S, now)
        self._give_up_after(PING_INTERVAL_S + PING_TIMEOUT_S, now)

    def _legacy(self) -> None:
        self._flow("legacy")  # what the connect handler emits goes before the connect packet, as old servers do it
        self._out.append(_CONNECT)

    def _heard_connect(self, body: str, now: float) -> None:
        if self.dialect is None:
            # Never a bare 40 to a modern client: some report a version error.
            self._out.append(_CONNECT + msgspec.json.encode({"sid": f"{self._sid}-0"}).decode())
            self._pinged_at = now
            self._flow("modern")

    def _heard_ping(self, body: str, now: float) -> None:
        if self.dialect is None:
            self._legacy()
        if self.dialect == "legacy":
            self._out.append(_PONG + body)

    def _heard_event(self, now: float) -> None:
        if self.dialect is None:
            self._legacy()

    def _heard_open(self, body: str, now: float) -> None:
        self.rejected += 1


class Client(Session):
    """The calling end, as a simulator does it in front of a bot of any age (section 1.2).

    Args:
        now: s, any steady clock; so in all methods.
        patience: s that the server may be silent before it is asked for the modern dialect; 0 asks at once, infinity
            never.

    Attributes:
        is_greeted: the server's connect packet has come.
    """

    def __init__(self, now: float, patience: float = CONNECT_S) -> None:
        super().__init__(now)
        self._patience, self._called_at = patience, now
        self._opened_at: float | None = None
        self._asked = False
        self.is_greeted = False
        self._interval, self._timeout = PING_INTERVAL_S, PING_TIMEOUT_S

    @property
    def is_opened(self) -> bool:
        """Whether the server has opened its end; those that speak frames alone never do."""
        return self._opened_at is not None

    def tick(self, now: float) -> None:
        """Ask a silent server for the modern dialect, ping a legacy one, give a dead one up.

        A server that does not even open its end (Udacity's C++ agents) is shown events all the same: as the Unity
        client does, which waits for nothing.
        """
        if self._opened_at is None and self.dialect is None:
            if now - self._called_at >= HANDSHAKE_S:
                self._legacy(now)
        elif self._opened_at is not None and not self._asked and self.dialect is None:
            if now - self._opened_at >= self._patience:
                self._asked = True
                self._out.append(_CONNECT)
        elif self.dialect == "legacy":
            self._ping_every(self._interval, now)
        self._give_up_after(self._interval + self._timeout, now)

    def _heard_open(self, body: str, now: float) -> None:
        if self._opened_at is not None:
            self.rejected += 1
            return
        self._opened_at = now
        try:
            opening = msgspec.json.decode(body, type=_Opening)
        except (msgspec.DecodeError, RecursionError):
            self.rejected += 1
            return
        self._interval = max(opening.pingInterval * 1e-3, _LEAST_INTERVAL_S)
        self._timeout = max(opening.pingTimeout * 1e-3, _LEAST_INTERVAL_S)

    def _heard_connect(self, body: str, now: float) -> None:
        self.is_greeted = True
        if self.is_connected:
            return
        if self._asked and body:
            self._flow("modern")
        else:
            self._legacy(now)

    def _heard_event(self, now: float) -> None:
        # Old servers emit from their connect handler first; modern ones, once asked, may too.
        if not self.is_connected and not self._asked:
            self._legacy(now)

    def _legacy(self, now: float) -> None:
        self._flow("legacy")
        self._pinged_at = now
        self._out.insert(0, _PING)

    def _heard_ping(self, body: str, now: float) -> None:
        self._out.append(_PONG + body)
