"""The simulator's end of an event simulator's wire: calls the agent, sends it the car's state, applies its commands.

Source: protocol page formula-trend, sections 1.2, 2 and 9. One telemetry per command, and one or two to begin with.

In lockstep commands are processed in the order of their arrival: each advances the world and brings one telemetry. What
the agent receives depends on the order of its commands alone, not on when they arrive. An agent may keep several
telemetries in flight, leave some without an answer, or answer the newest only; without any answer the world stands
still. A command advances two steps where it answers the only telemetry in flight, else one: with four in flight it
comes three telemetries late.
"""

import math
from abc import ABC, abstractmethod
from collections import deque
from http import HTTPStatus
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from trailbrake.errors import WireError
from trailbrake.event_sims.agent_door import MANUAL, STEER, TELEMETRY
from trailbrake.event_sims.options import COMMAND_STEPS, EventServeOptions
from trailbrake.roles import Plant
from trailbrake.simulator_tools import Doors
from trailbrake.state import CarState, Controls, SimCommand
from trailbrake.transport import plain_events, rendezvous, socketio
from trailbrake.transport.client_notices import ClientNotices
from trailbrake.transport.tcp import TcpCaller, wait_readable, wait_writable
from trailbrake.transport.udp import Address, parse_address
from trailbrake.transport.websocket import WebSocketChannel, call_websocket

# s of silence after which the host requests the modern dialect of an agent.
_MODERN_AFTER_S = {"auto": socketio.CONNECT_S, "legacy": math.inf, "modern": 0.0}
_RECALL_DELAY_S = 0.02  # between calls of an agent that is not there
_REFUSED_DELAY_S = 1.0  # between calls of an agent that answers, and refuses
_HANDSHAKE_S = 10.0  # s that an agent may take for the handshake, if `patience` is not shorter
_MAX_COMMANDS = 256  # received and not yet processed; more of them wait in the system's buffers, and the agent too
_MAX_COMMANDS_PER_TICK = 16  # in real time; each brings a telemetry
_MAX_UNSENT_BYTES = 4 << 20  # bytes that may wait for an agent which does not read, before its commands wait too
_SUSPENDED_S = 2.0  # s between two ticks after which this process, or its machine, counts as having been suspended
_LOCKSTEP_WAIT_S = 0.02  # s of wall time that a tick in lockstep sleeps for the agent's next message
_CATCH_UP_S = 0.25  # s of an agent's delays that a world in lockstep at real speed makes up for with quicker steps

P = TypeVar("P", bound=Plant)
ClientSession: TypeAlias = socketio.SocketIoClient | plain_events.PlainClient


class EventHost(ABC, Generic[P]):
    """Sends the agent telemetry of the first car of `plant` and drives that car by the agent's commands.

    A simulator's own Host translates its messages: `_encode_telemetry`, `_decode_controls`.

    Args:
        plant: the world.
        options: of this simulator.
        doors: a folder that only the other end knows, where the agent writes down its port.

    Attributes:
        is_done: the laps of the options are driven.
    """

    NAME: ClassVar[str]
    RESTART: ClassVar[str] = ""  # the event that sends the car back to the start; "" where there is none

    def __init__(self, plant: P, options: EventServeOptions, *, doors: Doors = None) -> None:
        self._plant, self._call_options, self._doors = plant, options, doors
        self._address: Address | None = None
        self._caller: TcpCaller[WebSocketChannel] | None = None
        self._channel: WebSocketChannel | None = None
        self._session: ClientSession | None = None
        self._engine_version = 3 if options.dialect == "legacy" else 4
        self._next_call_at = self._called_at = self._received_at = self._ticked_at = self._suspended_s = 0.0
        self._handshake_s = min(options.patience, _HANDSHAKE_S)
        self._stepped_at = self._next_step_at = 0.0  # the newest step in lockstep, and when real speed has the next
        self._has_started = self.is_done = False
        self._controls = Controls()
        self._commands: deque[socketio.SocketIoEvent] = deque()  # received and not yet processed
        self._last_failures: set[str] = set()  # why the newest calls were in vain
        self._unanswered = 0  # telemetries sent beyond the commands processed
        self._is_lockstep = options.pace == "lockstep"
        waiting = "" if doors is not None else f"no agent answers at {options.connect} yet; it goes on calling"
        self._notices = ClientNotices(self.NAME, waiting)
        self._only_receives = False  # whether the next tick leaves commands to the one after it
        self._counts = dict.fromkeys(
            ("messages_in", "messages_out", "bytes_in", "bytes_out", "rejected", "calls", "timeouts"), 0
        )

    @abstractmethod
    def _encode_telemetry(self, state: CarState) -> dict[str, Any]:
        """Return the data of the telemetry event that shows `state`."""

    @abstractmethod
    def _decode_controls(self, data: Any) -> Controls:
        """Return the controls behind the data of a `steer` event; WireError if unreadable."""

    def open(self, now: float) -> None:
        """Read the agent's address."""
        if self._doors is None:
            self._address = parse_address(self._call_options.connect, where="--connect")
        self._next_call_at = self._ticked_at = now

    def tick(self, now: float) -> None:
        """Process the agent's commands, step the world, and answer each command with a telemetry.

        In lockstep the next command alone; without one it sleeps briefly for the agent's next message.
        """
        only_receives, self._only_receives = self._only_receives, False
        now = self._find_awake_time(now)
        if not self._has_started:
            self._notices.note_waiting(now)
        if self._channel is None and not self._call_agent(now):
            return
        channel = self._channel
        assert channel is not None
        if self._is_lockstep and self._session is not None and not self._commands and not only_receives:
            wait_readable([channel], _LOCKSTEP_WAIT_S)
        is_choked = len(self._commands) >= _MAX_COMMANDS or channel.unsent_bytes > _MAX_UNSENT_BYTES
        texts = channel.send_waiting() if is_choked else channel.poll_texts()
        session = self._session or self._shake_hands(channel, now)
        if session is not None:
            self._receive_texts(texts, session, now)
            if session.is_connected:
                self._advance_drive(session, now, only_receives=only_receives)
            self._send_frames(channel, session)
        self._hang_up_if_ended(channel, session, now)

    def _find_awake_time(self, now: float) -> float:
        """Return `now` less the time for which this process was suspended: that is no silence of the agent."""
        gap, self._ticked_at = now - self._ticked_at, now
        if gap > _SUSPENDED_S:
            self._suspended_s += gap
        return now - self._suspended_s

    @property
    def waits(self) -> bool:
        """Whether nothing can happen before the agent does something: be there, or send a command in lockstep."""
        return self._channel is None or (self._is_lockstep and not self._commands)

    @property
    def wall_period(self) -> float:
        """Wall time, s, from the newest step to the next at real speed."""
        if not self._is_lockstep:
            return self._plant.period
        return min(max(self._next_step_at - self._stepped_at, 0.0), COMMAND_STEPS * self._plant.period)

    def wait(self, seconds: float) -> None:
        """Sleep until the agent does something, at most `seconds`; the next tick receives and does not step."""
        if self._channel is not None:
            self._only_receives = True
            wait_readable([self._channel], seconds)
        else:
            wait_writable(self._caller, min(seconds, _RECALL_DELAY_S))

    def _call_agent(self, now: float) -> bool:
        """Go on calling the agent; return whether there is a channel now."""
        if self._caller is None:
            if now < self._next_call_at:
                return False
            if self._doors is not None:
                port = rendezvous.lookup_port(self._doors, self.NAME)
                self._address = ("127.0.0.1", port) if port else None
            if self._address is None:
                return False
            bare = self._call_options.dialect == "bare"
            path = plain_events.REQUEST_PATH if bare else socketio.request_path(self._engine_version)
            self._caller, self._called_at = call_websocket(self._address, path), now
        self._channel = self._caller.poll_channel()
        if self._channel is None and not self._caller.failure and now - self._called_at > self._handshake_s:
            self._caller.close()
            self._caller, self._next_call_at = None, now + _REFUSED_DELAY_S
        elif self._caller.failure:
            self._caller, self._next_call_at = None, now + _RECALL_DELAY_S
        elif self._channel is not None:
            self._caller, self._called_at = None, now
            self._counts["calls"] += 1
        return self._channel is not None

    def _shake_hands(self, channel: WebSocketChannel, now: float) -> ClientSession | None:
        dialect = self._call_options.dialect
        if channel.is_open:
            bare = dialect == "bare"
            self._session = (
                plain_events.PlainClient() if bare else socketio.SocketIoClient(now, _MODERN_AFTER_S[dialect])
            )
            self._received_at, self._has_started = now, False
            self._notices.note_client()
            self._commands.clear()
            self._unanswered = 0
            self._controls = Controls()
        elif channel.http_status == HTTPStatus.BAD_REQUEST and dialect == "auto":
            # A server of one generation refuses the other's number.
            self._engine_version = 3 if self._engine_version == 4 else 4
        return self._session

    def _receive_texts(self, texts: list[str], session: ClientSession, now: float) -> None:
        for text in texts:
            self._counts["messages_in"] += 1
            self._counts["bytes_in"] += len(text)
            rejected = session.rejected
            event = session.receive_frame(text, now)
            if event is not None:
                self._received_at = now
                self._handle_event(event)
            elif session.rejected > rejected:
                self._note_rejected(f"no event, got {text[:40]}")
        session.check_timers(now)

    def _handle_event(self, event: socketio.SocketIoEvent) -> None:
        known = [name for name in (STEER, MANUAL, self.RESTART) if name]
        if event.name in known:
            self._commands.append(event)
        else:
            self._note_rejected(f"no such event, expected {', '.join(known)}, got {event.name[:40]}")

    def _note_rejected(self, detail: str) -> None:
        self._counts["rejected"] += 1
        self._notices.note_unreadable(detail, self._channel.peer if self._channel is not None else "")

    def _advance_drive(self, session: ClientSession, now: float, *, only_receives: bool) -> None:
        """Process commands: in lockstep one, at the start all that there are; in real time all, and one step."""
        count = len(self._commands)
        if not self._has_started:
            # The Unity client opens twice, once for the socket and once for the engine, and sends telemetry each time.
            self._has_started = True
            self._emit_telemetry(session, 2 if session.dialect == "legacy" and session.is_opened else 1)
        elif self._is_lockstep:
            count = 0 if only_receives else min(count, 1)
        if self._is_lockstep:
            for _ in range(count):
                self._process_in_lockstep(self._commands.popleft(), now)
                self._emit_telemetry(session, 1)
            return
        count = min(count, _MAX_COMMANDS_PER_TICK)
        for _ in range(count):
            self._execute(self._commands.popleft())
        self._step_world(1)
        self._emit_telemetry(session, count)

    def _process_in_lockstep(self, command: socketio.SocketIoEvent, now: float) -> None:
        # Our own link, at the other end of a private wire, answers only the newest telemetry.
        is_only_one = self._unanswered <= 1 or self._doors is not None
        self._unanswered = max(self._unanswered - 1, 0)
        steps = 0 if self._execute(command) else COMMAND_STEPS if is_only_one else 1
        self._step_world(steps)
        self._stepped_at = now
        self._next_step_at = max(self._next_step_at, now - _CATCH_UP_S) + steps * self._plant.period

    def _execute(self, command: socketio.SocketIoEvent) -> bool:
        """Take the controls of a command, or restart the drive; return whether it restarts."""
        if command.name == STEER:
            try:
                self._controls = self._decode_controls(command.data)
            except WireError as error:
                self._note_rejected(str(error))
        elif command.name != MANUAL:
            self._plant.execute_command(0, SimCommand(restart=True))
            self._controls = Controls()
            self.is_done = False
            return True
        return False

    def _step_world(self, steps: int) -> None:
        for _ in range(steps):
            if self.is_done:
                return
            self._plant.step([self._controls])
            laps = self._call_options.laps
            self.is_done = bool(laps) and self._plant.car_state(0).lap > laps

    def _emit_telemetry(self, session: ClientSession, count: int) -> None:
        self._unanswered += count
        if count:
            data = self._encode_telemetry(self._plant.car_state(0))
            for _ in range(count):
                session.emit(TELEMETRY, data)

    def _send_frames(self, channel: WebSocketChannel, session: ClientSession) -> None:
        for text in session.pop_frames():
            self._counts["messages_out"] += 1
            self._counts["bytes_out"] += len(text)
            channel.send_text(text)

    def _hang_up_if_ended(self, channel: WebSocketChannel, session: ClientSession | None, now: float) -> None:
        reason = channel.close_reason
        if session is None and not channel.is_closed and now - self._called_at > self._handshake_s:
            reason = f"what answers does not shake hands within {self._handshake_s:g} s: no agent?"
            self._counts["timeouts"] += 1
        elif session is not None and not channel.is_closed:
            reason = session.end_reason if session.is_over else self._timeout_reason(now)
        if not reason:
            return
        has_driven = self._has_started and now - self._called_at > _REFUSED_DELAY_S
        if has_driven:
            self._last_failures.clear()
        if reason not in self._last_failures:  # calls that fail again and again are named once, in each of their ways
            self._notices.note_end(reason)
            self._last_failures.add(reason)
        channel.close()
        switches = channel.http_status == HTTPStatus.BAD_REQUEST and self._call_options.dialect == "auto"
        self._next_call_at = now + (_RECALL_DELAY_S if has_driven or switches else _REFUSED_DELAY_S)
        self._has_started = False
        self._channel = self._session = None

    def _timeout_reason(self, now: float) -> str:
        patience = self._call_options.patience
        if not self._has_started or now - self._received_at <= patience:
            return ""
        self._counts["timeouts"] += 1
        return f"the agent has not answered for {patience:g} s"

    def read_counters(self) -> dict[str, Any]:
        """Return messages and bytes in and out, unreadable commands, calls, timeouts, and the car's contacts.

        The wire carries no contacts.
        """
        return self._counts | {"contacts": self._plant.car_state(0).contacts}

    def close(self) -> None:
        """Hang up."""
        if self._channel is not None:
            self._channel.close()
        if self._caller is not None:
            self._caller.close()
        self._channel = self._session = self._caller = None
