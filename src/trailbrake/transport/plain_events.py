"""Events without Engine.IO, for Udacity's C++ agents and its simulators for the browser; pure, no clock.

Two framings without any handshake (protocol page formula-trend, section 9): "raw" is Socket.IO's `42["name",{...}]`
alone, both ways; "bare" is `{"name":{...}}` from the simulator and `["name",{...}]` from the agent.
"""

from typing import Any, Literal

import msgspec

from trailbrake.errors import WireError
from trailbrake.transport.json_values import decode_json
from trailbrake.transport.socketio import EVENT, SocketIoEvent, decode_event, encode_event

REQUEST_PATH = "/"  # the path that the browser builds request


class _PlainSession:
    """The common part of both ends; the methods are those of `socketio.SocketIoSession`.

    Attributes:
        dialect: None until it is known.
        is_connected: events flow.
        rejected: unreadable frames.
    """

    is_opened = False  # there is no engine
    is_greeted = True  # nor a greeting to wait for
    is_over = False  # these framings have no farewell, and silence means nothing
    end_reason = ""

    def __init__(self) -> None:
        self.dialect: Literal["raw", "bare"] | None = None
        self.rejected = 0
        self._outgoing: list[str] = []
        self._held_events: list[tuple[str, Any]] = []  # events emitted before it is known how to write them

    @property
    def is_connected(self) -> bool:
        """Whether events flow."""
        return self.dialect is not None

    def pop_frames(self) -> list[str]:
        """Return the frames to send, in order, and remove them from the queue."""
        out, self._outgoing = self._outgoing, []
        return out

    def emit(self, name: str, data: Any) -> None:
        """Send an event; it is held until the dialect is known."""
        if self.dialect is None:
            self._held_events.append((name, data))
        else:
            self._outgoing.append(encode_event(name, data) if self.dialect == "raw" else self._encode_event(name, data))

    def check_timers(self, now: float) -> None:
        """Do nothing: there are no pings."""

    def _encode_event(self, name: str, data: Any) -> str:
        return encode_event(name, data)[len(EVENT) :]

    def _set_dialect(self, dialect: Literal["raw", "bare"]) -> None:
        self.dialect = dialect
        held, self._held_events = self._held_events, []
        for name, data in held:
            self.emit(name, data)


class PlainServer(_PlainSession):
    """The agent's end: speaks as the simulator does."""

    def receive_frame(self, text: str, now: float) -> SocketIoEvent | None:
        """Process one frame; return its event, if it holds one."""
        raw = text.startswith(EVENT)
        event = decode_event(text) if raw else _decode_object(text)
        if event is None:
            self.rejected += 1
        elif self.dialect is None:
            self._set_dialect("raw" if raw else "bare")
        return event


class PlainClient(_PlainSession):
    """The end of a simulator for the browser: begins at once."""

    def __init__(self) -> None:
        super().__init__()
        self._set_dialect("bare")

    def receive_frame(self, text: str, now: float) -> SocketIoEvent | None:
        """Process one frame; return its event, if it holds one."""
        event = decode_event(EVENT + text) if text.lstrip().startswith("[") else None
        if event is None:
            self.rejected += 1
        return event

    def _encode_event(self, name: str, data: Any) -> str:
        return msgspec.json.encode({name: data}).decode()


def _decode_object(text: str) -> SocketIoEvent | None:
    # The event in {"name": data}.
    try:
        parts = decode_json(text)
    except WireError:
        return None
    if not isinstance(parts, dict) or len(parts) != 1:
        return None
    ((name, data),) = parts.items()
    return SocketIoEvent(name, data)
