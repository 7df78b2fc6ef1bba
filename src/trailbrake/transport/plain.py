"""Events without Engine.IO: what Udacity's C++ agents and its simulators for the browser speak; pure, no clock.

Two framings without any handshake (protocol page formula-trend, section 9): "raw" is Socket.IO's `42["name",{...}]`
alone, both ways; "bare" is `{"name":{...}}` from the simulator and `["name",{...}]` from the agent.
"""

from typing import Any, Literal

import msgspec

from trailbrake.transport.socketio import EVENT, Event, decode_event, encode_event

PATH = "/"  # what the browser builds ask for


class _Plain:
    """What both ends have in common; the methods are those of `socketio.Session`.

    Attributes:
        dialect: what is spoken; None until it is known.
        is_connected: events flow.
        rejected: frames that were not understood.
    """

    is_opened = False  # there is no engine
    is_greeted = True  # nor a greeting to wait for
    is_over = False  # nobody says goodbye here, and silence means nothing
    why = ""

    def __init__(self) -> None:
        self.dialect: Literal["raw", "bare"] | None = None
        self.rejected = 0
        self._out: list[str] = []
        self._held: list[tuple[str, Any]] = []  # events emitted before it is known how to write them

    @property
    def is_connected(self) -> bool:
        """Whether events flow."""
        return self.dialect is not None

    def take(self) -> list[str]:
        """Return the frames to send, in order, and forget them."""
        out, self._out = self._out, []
        return out

    def emit(self, name: str, data: Any) -> None:
        """Send an event; it is held until the dialect is known."""
        if self.dialect is None:
            self._held.append((name, data))
        else:
            self._out.append(encode_event(name, data) if self.dialect == "raw" else self._encode(name, data))

    def tick(self, now: float) -> None:
        """Do nothing: there are no pings."""

    def _encode(self, name: str, data: Any) -> str:
        return encode_event(name, data)[len(EVENT) :]

    def _speak(self, dialect: Literal["raw", "bare"]) -> None:
        self.dialect = dialect
        held, self._held = self._held, []
        for name, data in held:
            self.emit(name, data)


class Server(_Plain):
    """The agent's end: speaks as the simulator does."""

    def receive(self, text: str, now: float) -> Event | None:
        """Take one frame; return the event in it, if it holds one."""
        raw = text.startswith(EVENT)
        event = decode_event(text) if raw else _from_object(text)
        if event is None:
            self.rejected += 1
        elif self.dialect is None:
            self._speak("raw" if raw else "bare")
        return event


class Client(_Plain):
    """The end of a simulator for the browser: begins at once."""

    def __init__(self) -> None:
        super().__init__()
        self._speak("bare")

    def receive(self, text: str, now: float) -> Event | None:
        """Take one frame; return the event in it, if it holds one."""
        event = decode_event(EVENT + text) if text.lstrip().startswith("[") else None
        if event is None:
            self.rejected += 1
        return event

    def _encode(self, name: str, data: Any) -> str:
        return msgspec.json.encode({name: data}).decode()


def _from_object(text: str) -> Event | None:
    # The event in {"name": data}.
    try:
        parts = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(parts, dict) or len(parts) != 1:
        return None
    ((name, data),) = parts.items()
    return Event(name, data)
