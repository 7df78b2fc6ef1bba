"""The agent's open port: who calls, who is the simulator, who is refused.

The simulator is the first caller that sends a telemetry. A silent one holds no place: several may wait at a time, each
with a session and a greeting of its own. While one drives, others are refused by HTTP 503; pages of other sites always,
by 403.
"""

import itertools
import socket
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from trailbrake.transport import plain_events, socketio
from trailbrake.transport.tcp import MAX_MESSAGE, RECEIVE_SIZE, PendingCalls, TcpListener
from trailbrake.transport.udp import Address
from trailbrake.transport.websocket import ServerRules, WebSocketChannel, is_loopback, make_server_protocol

TELEMETRY, STEER, MANUAL = "telemetry", "steer", "manual"  # the events that all of these simulators know
UNREADABLE = socketio.SocketIoEvent("")  # stands for a frame that could not be read
BUSY = "another simulator drives here"
_MAX_FRAMES_BEFORE_TELEMETRY = 100  # of a caller; simulators send three or four
_MAX_NAMED = 3  # pages that were refused and are named

AgentSession: TypeAlias = socketio.SocketIoServer | plain_events.PlainServer


class SimulatorCall(WebSocketChannel):
    """One connection of a caller, and its session once the handshake is done.

    Args:
        connection: the socket.
        rules: which requests are accepted.
        greeting: events that go first.
        session_id: a name for the session.

    Attributes:
        session: None before the handshake is done.
        frames: received ones.
    """

    def __init__(
        self, connection: socket.socket, rules: ServerRules, greeting: Sequence[tuple[str, Any]], session_id: str
    ) -> None:
        super().__init__(connection, make_server_protocol(), "", rules)
        self._greeting, self._session_id = greeting, session_id
        self.session: AgentSession | None = None
        self.frames = 0
        self.bytes_per_poll = RECEIVE_SIZE  # of a caller; more of the simulator

    @property
    def is_over(self) -> bool:
        """Whether no more events will come."""
        return self.is_closed or (self.session is not None and self.session.is_over)

    def poll_events(self, now: float, *, receives: bool = True) -> list[socketio.SocketIoEvent]:
        """Receive and send what is possible; return the events, `UNREADABLE` for each frame that cannot be read.

        Args:
            now: s, any steady clock.
            receives: whether to look for bytes; else only timers run.
        """
        texts = self.poll_texts() if receives else self.send_waiting()
        if self.session is None:
            if not self.is_open:
                return []
            self.session = self._begin_session(now)
        session, events = self.session, []
        for text in texts:
            rejected = session.rejected
            event = session.receive_frame(text, now)
            if event is not None:
                events.append(event)
            elif session.rejected > rejected:
                events.append(UNREADABLE)
        self.frames += len(texts)
        session.check_timers(now)
        self.flush_frames()
        return events

    def _begin_session(self, now: float) -> AgentSession:
        session: AgentSession
        if self.path.startswith(socketio.REQUEST_PATH):
            session = socketio.SocketIoServer(self.path, now, self._session_id)
        else:
            session = plain_events.PlainServer()
        for name, data in self._greeting:
            session.emit(name, data)
        return session

    def emit(self, name: str, data: Any) -> None:
        """Send an event at once."""
        if self.session is not None:
            self.session.emit(name, data)
            self.flush_frames()

    def flush_frames(self) -> None:
        """Send the frames that the session has for the other end."""
        if self.session is not None:
            for text in self.session.pop_frames():
                self.send_text(text)


class AgentDoor:
    """Listens for simulators.

    Args:
        bind: the address.
        greeting: events for a simulator that has just called.
        origins: pages that may be the simulator.
        is_silent: returns whether the present simulator has sent nothing for long; then another may take its place.

    Attributes:
        call: the simulator's connection; None while there is none.
        calls: simulators so far.
        refused: callers that were hung up on while another one drove, and pages of other sites.
        warnings: lines for the user; the reader removes them.

    Raises:
        SimulatorError: the port is taken, or the address is not this machine's.
    """

    def __init__(
        self,
        bind: Address,
        *,
        greeting: Sequence[tuple[str, Any]],
        origins: tuple[str, ...],
        is_silent: Callable[[], bool],
    ) -> None:
        rules = ServerRules(origins, is_loopback(bind[0]), self._find_busy_reason)
        numbers = itertools.count(1)

        def make_call(connection: socket.socket) -> SimulatorCall:
            return SimulatorCall(connection, rules, greeting, f"trailbrake{next(numbers)}")

        self._listener: TcpListener[SimulatorCall] = TcpListener(make_call, bind, where="--listen")
        self._pending = PendingCalls(self._listener)
        self._is_silent = is_silent
        self.call: SimulatorCall | None = None
        self.calls = self.refused = 0
        self.warnings: list[str] = []
        self._named: set[str] = set()  # lines about pages that were refused
        if not rules.is_local:
            self.warnings.append(f"any program that reaches {bind[0]}:{bind[1]} may be the simulator: no password here")

    @property
    def address(self) -> Address:
        """Where it listens."""
        return self._listener.address

    @property
    def newest_call(self) -> SimulatorCall | None:
        """The simulator's connection, or that of the last caller with a session."""
        waiting = [call for call in self._pending.channels if call.session is not None]
        return self.call or (waiting[-1] if waiting else None)

    def _find_busy_reason(self) -> str:
        return BUSY if self._is_taken() else ""

    def _is_taken(self) -> bool:
        return self.call is not None and not self.call.is_over and not self._is_silent()

    def poll_events(self, now: float) -> list[socketio.SocketIoEvent]:
        """Receive and send what is possible; return the simulator's events, oldest first. `now`: s."""
        call, events = self.call, []
        if call is not None:
            events = call.poll_events(now)
            if call.is_over:
                call.close()
                self.call = None
        self._pending.accept_calls(now)
        ready = self._pending.find_ready()
        for waiting in self._pending.channels:
            is_taken = bool(events) or self._is_taken()
            heard = self._poll_waiting(waiting, now, receives=waiting in ready, is_taken=is_taken)
            if heard:
                return heard
        return events

    def _poll_waiting(
        self, call: SimulatorCall, now: float, *, receives: bool, is_taken: bool
    ) -> list[socketio.SocketIoEvent]:
        """Return the events of a caller if it has become the simulator by them, else none."""
        events = call.poll_events(now, receives=receives)
        speaks = any(event.name == TELEMETRY for event in events)
        if speaks and not is_taken:
            if self.call is not None:
                self.call.close()
            self.call = self._pending.release(call)
            self.call.bytes_per_poll = MAX_MESSAGE
            self.calls += 1
            return events
        if speaks:
            self.refused += 1
            call.close(BUSY)
        elif call.refusal is not None and call.unsent_bytes == 0:
            self._note_refusal(call)
        elif call.is_over or call.frames > _MAX_FRAMES_BEFORE_TELEMETRY:
            call.close()
        return []

    def _note_refusal(self, call: SimulatorCall) -> None:
        """Count a refused request once and say which page it was; the connection ends when its peer hangs up."""
        reason = call.refusal.reason if call.refusal is not None else ""
        call.refusal = None
        self.refused += 1
        line = f"refused {reason}; --origin names a page that may be the simulator"
        if reason != BUSY and line not in self._named and len(self._named) < _MAX_NAMED:
            self._named.add(line)
            self.warnings.append(line)

    def close(self) -> None:
        """Hang up and stop listening."""
        self._pending.close()
        if self.call is not None:
            self.call.close()
            self.call = None
        self._listener.close()
