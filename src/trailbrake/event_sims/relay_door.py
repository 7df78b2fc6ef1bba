"""The agent's open port where another agent drives: the relay of a link that only watches.

The simulator calls the relay as it would call its agent; the relay calls the agent and passes every text on as it
came, so that both speak their own dialect with each other. It reads the telemetry that passes and changes nothing.
"""

from collections import deque
from typing import Any

from trailbrake.errors import UsageError
from trailbrake.event_sims.agent_door import TELEMETRY
from trailbrake.transport import plain_events, socketio
from trailbrake.transport.tcp import PendingCalls, TcpCaller
from trailbrake.transport.udp import Address
from trailbrake.transport.websocket import WebSocketChannel, call_websocket, listen_for_websockets

_RECALL_DELAY_S = 0.1  # between calls of an agent that is not there
_MAX_HELD_TEXTS = 1000  # texts of a simulator that wait for its agent


class RelayDoor:
    """Passes texts between a simulator that calls and the agent that it means; has what a link wants of an `AgentDoor`.

    Args:
        bind: where the simulator calls.
        agent: where the agent listens.
        origins: pages that may be the simulator.

    Attributes:
        session: None: the dialect is between the two ends.
        unsent_bytes: 0: nothing is sent but theirs.
        calls: simulators so far.
        refused: simulators that called while another one was connected, and pages of other sites.
        warnings: lines for the user; the reader removes them.

    Raises:
        UsageError: the agent and the relay have one address.
    """

    session: None = None
    unsent_bytes = 0

    def __init__(self, bind: Address, agent: Address, origins: tuple[str, ...]) -> None:
        if bind == agent:
            raise UsageError("the agent and its relay at one address", where="--connect", got=f"{agent[0]}:{agent[1]}")
        self._agent_address = agent
        self._listener = listen_for_websockets(
            bind, where="--listen", allowed_origins=origins, find_busy_reason=self._find_busy_reason
        )
        self._pending = PendingCalls(self._listener)
        self._simulator: WebSocketChannel | None = None
        self._agent: WebSocketChannel | None = None
        self._caller: TcpCaller[WebSocketChannel] | None = None
        self._held: deque[str] = deque(maxlen=_MAX_HELD_TEXTS)  # texts of the simulator before the agent has answered
        self._telemetries: deque[socketio.SocketIoEvent] = deque()  # that are not read yet
        self._next_call_at = 0.0
        self._engine_fallback = False
        self._has_reported_wait = False
        self.calls = self.refused = 0
        self.warnings = [f"only watches: the agent at {agent[0]}:{agent[1]} drives"]

    @property
    def address(self) -> Address:
        """HOST and port that it listens on."""
        return self._listener.address

    @property
    def call(self) -> "RelayDoor | None":
        """Itself while a simulator is there: what a link sends goes nowhere."""
        return None if self._simulator is None else self

    newest_call = call

    def emit(self, name: str, data: Any) -> None:
        """Send nothing: the agent drives."""

    def has_telemetry(self, now: float) -> bool:
        """Pass on what has come; return whether `poll_events` has a telemetry. `now`: s, any steady clock."""
        self._pass_texts(now)
        return bool(self._telemetries)

    def poll_events(self, now: float) -> list[socketio.SocketIoEvent]:
        """Pass on what has come; return the next telemetry alone: each is a sample of its own."""
        return [self._telemetries.popleft()] if self.has_telemetry(now) else []

    def _pass_texts(self, now: float) -> None:
        self._accept_simulator(now)
        simulator = self._simulator
        if simulator is None:
            return
        texts = simulator.poll_texts()
        self._held += texts
        events = (event for text in texts if (event := _decode_text(text)) is not None)
        self._telemetries += [event for event in events if event.name == TELEMETRY]
        if simulator.is_open and self._agent is None:
            self._call_agent(simulator.path, now)
        agent = self._agent
        if agent is not None:
            answers = agent.poll_texts()
            if agent.is_open:
                while self._held:
                    agent.send_text(self._held.popleft())
            for text in answers:
                simulator.send_text(text)
        self._part_if_ended()

    def _find_busy_reason(self) -> str:
        return "" if self._simulator is None or self._simulator.is_closed else "another simulator drives here"

    def _accept_simulator(self, now: float) -> None:
        """Take the first caller that has shaken hands; a silent one holds no place."""
        self._pending.accept_calls(now)
        for called in self._pending.find_ready():
            if not called.is_open:
                called.poll_handshake()
            if called.refusal is not None and not called.unsent_bytes:
                self.refused += 1
                called.refusal = None
            if called.is_open and self._simulator is None:
                self._simulator, self._has_reported_wait = self._pending.release(called), False
                self._held.clear()
                self._telemetries.clear()
                self.calls += 1
            elif called.is_open:
                self.refused += 1
                called.close()

    def _call_agent(self, path: str, now: float) -> None:
        if self._caller is None:
            if now < self._next_call_at:
                return
            if self._engine_fallback:  # an old agent refuses the newer number that the simulator has requested
                path = path.replace("EIO=4", "EIO=3")
            self._caller = call_websocket(self._agent_address, path)
        self._agent = self._caller.poll_channel()
        if self._caller.failure:
            self._caller, self._next_call_at = None, now + _RECALL_DELAY_S
            if not self._has_reported_wait:
                self._has_reported_wait = True
                host, port = self._agent_address
                self.warnings.append(f"the simulator has called; no agent answers at {host}:{port} yet")
        elif self._agent is not None:
            self._caller = None

    def _part_if_ended(self) -> None:
        simulator, agent = self._simulator, self._agent
        if agent is not None and agent.is_closed and agent.http_status == 400 and not self._engine_fallback:
            self._engine_fallback, self._agent = True, None
            return
        for name, channel in (("simulator", simulator), ("agent", agent)):
            if channel is not None and channel.is_closed:
                self.warnings.append(f"the {name} has left: {channel.close_reason}")
                self.close_channels()
                return

    def close_channels(self) -> None:
        """Hang up on both ends."""
        for end in (self._simulator, self._agent, self._caller):
            if end is not None:
                end.close()
        self._simulator = self._agent = self._caller = None

    def close(self) -> None:
        """Hang up and stop listening."""
        self.close_channels()
        self._pending.close()
        self._listener.close()


def _decode_text(text: str) -> socketio.SocketIoEvent | None:
    """Return the event in a text of either end, in any of the framings; None where it is none."""
    if text.startswith(socketio.EVENT):
        return socketio.decode_event(text)
    if text.startswith("{"):
        return plain_events.PlainServer().receive_frame(text, 0.0)
    return socketio.decode_event(socketio.EVENT + text) if text.startswith("[") else None
