"""Records what passes between an event simulator and any agent, by standing between the two.

The simulator calls the recorder as it would call its agent; the recorder calls the agent and passes every text on as it
came, so that both speak their own dialect with each other. It reads the telemetry that passes and changes nothing.
"""

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from trailbrake.errors import DataError, UsageError, WireError, describe_os_error
from trailbrake.event_sims.agent_door import STEER, TELEMETRY
from trailbrake.event_sims.link import EventLink
from trailbrake.event_sims.options import EventRecordOptions, parse_origins
from trailbrake.simulator_tools import TextEvent, TextEventStream
from trailbrake.state import CarState, Signal
from trailbrake.transport import plain_events, socketio
from trailbrake.transport.tcp import PendingCalls, TcpCaller, wait_readable
from trailbrake.transport.udp import Address, parse_address
from trailbrake.transport.websocket import WebSocketChannel, call_websocket, listen_for_websockets
from trailbrake.user_files import open_user_file

SIMULATOR, AGENT = "simulator", "agent"
_RECALL_DELAY_S = 0.1  # between calls of an agent that is not there
_FLUSH_WAIT_S = 0.002  # s that a wait lasts while bytes wait for an end that reads slowly
_MAX_HELD_TEXTS = 1000  # texts of a simulator that wait for its agent
_LINES_PER_READ = 512
_MAX_LINE_BYTES = 64 << 20  # of a raw recording: more than any text that a wire accepts


class RelaySettings(NamedTuple):
    """Where the two ends are. There is no table: `export` makes one of a recording."""

    listen: Address
    connect: Address
    output_filename: Path | None = None
    origins: tuple[str, ...] = ()  # pages that may be the simulator


class RecordedText(msgspec.Struct):
    """A line of the raw recording."""

    time: float  # s since the recording began
    sender: str  # SIMULATOR or AGENT
    text: str


@dataclass
class ObservedStream(TextEventStream):
    """What has been read.

    Attributes:
        counts: texts and what could not be read, by the names that `record` prints.
    """

    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(
            ("received", "datagrams", "lost", "late", "duplicates", "rejected", "foreign", "paused", "commands"), 0
        )
    )


def build_relay_settings(options: EventRecordOptions, port: int | None, output: Path | None) -> RelaySettings:
    """Return the addresses; UsageError for a wrong one, for both the same, and for a table."""
    if output is not None:
        raise UsageError(
            "this simulator's sessions make no table", where=str(output), hint="trailbrake export RECORDING"
        )
    host, usual = parse_address(options.listen, where="--listen")
    listen = (host, usual if port is None else port)
    connect = parse_address(options.connect, where="--connect")
    if listen == connect:
        raise UsageError("the agent and the recorder at one address", where="--connect", got=options.connect)
    return RelaySettings(listen, connect, origins=parse_origins(options.origin))


class TextRelay:
    """Passes texts between a simulator that calls and the agent that it means.

    Args:
        settings: the addresses.

    Attributes:
        refused: simulators that called while another one was connected, and pages of other sites.
        warnings: lines for the user; the reader removes them.
    """

    def __init__(self, settings: RelaySettings) -> None:
        self._settings = settings
        self._listener = listen_for_websockets(
            settings.listen, where="--listen", allowed_origins=settings.origins, find_busy_reason=self._find_busy_reason
        )
        self._pending = PendingCalls(self._listener)
        self._simulator: WebSocketChannel | None = None
        self._agent: WebSocketChannel | None = None
        self._caller: TcpCaller[WebSocketChannel] | None = None
        self._held: deque[str] = deque(maxlen=_MAX_HELD_TEXTS)  # texts of the simulator before the agent has answered
        self._next_call_at = 0.0
        self._engine_fallback = False
        self._has_reported_wait = False
        self.refused = 0
        self.warnings: deque[str] = deque()

    def wait(self, seconds: float) -> None:
        """Sleep until an end sends something, at most `seconds`."""
        channels = [channel for channel in (self._simulator, self._agent) if channel is not None]
        if self._simulator is not None and self._agent is None:
            seconds = min(seconds, _RECALL_DELAY_S)
        if any(channel.unsent_bytes for channel in channels):
            seconds = min(seconds, _FLUSH_WAIT_S)
        wait_readable([self._listener, *self._pending.channels, *channels], seconds)

    def pass_texts(self, now: float) -> list[tuple[str, str]]:
        """Pass on what has come; return it as (sender, text), oldest first. `now`: s, any steady clock."""
        self._accept_simulator(now)
        simulator = self._simulator
        if simulator is None:
            return []
        texts = [(SIMULATOR, text) for text in simulator.poll_texts()]
        self._held += [text for _, text in texts]
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
            texts += [(AGENT, text) for text in answers]
        self._part_if_ended()
        return texts

    def _find_busy_reason(self) -> str:
        return "" if self._simulator is None or self._simulator.is_closed else "another simulator is recorded here"

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
            elif called.is_open:
                self.refused += 1
                called.close()

    def _call_agent(self, path: str, now: float) -> None:
        if self._caller is None:
            if now < self._next_call_at:
                return
            if self._engine_fallback:  # an old agent refuses the newer number that the simulator has requested
                path = path.replace("EIO=4", "EIO=3")
            self._caller = call_websocket(self._settings.connect, path)
        self._agent = self._caller.poll_channel()
        if self._caller.failure:
            self._caller, self._next_call_at = None, now + _RECALL_DELAY_S
            if not self._has_reported_wait:
                self._has_reported_wait = True
                host, port = self._settings.connect
                self.warnings.append(f"the simulator has called; no agent answers at {host}:{port} yet")
        elif self._agent is not None:
            self._caller = None

    def _part_if_ended(self) -> None:
        simulator, agent = self._simulator, self._agent
        if agent is not None and agent.is_closed and agent.http_status == 400 and not self._engine_fallback:
            self._engine_fallback, self._agent = True, None
            return
        for name, channel in ((SIMULATOR, simulator), (AGENT, agent)):
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


class EventRecordingSession:
    """A recording in progress; a context manager.

    Args:
        link: of the simulator, not open; it reads the telemetry.
        options: what to write.
        settings: the addresses.
        source: a raw recording to read instead of standing between the two.

    Attributes:
        stream: what has been read.
        ended: whether the whole file is read.
        warnings: lines for the user; the reader removes them.
        signals: none.
    """

    signals: tuple[Signal, ...] = ()

    def __init__(
        self, link: EventLink[Any], options: EventRecordOptions, settings: RelaySettings, source: Path | None = None
    ) -> None:
        self._link, self._options = link, options
        self.stream = ObservedStream()
        self.ended = False
        self.warnings: deque[str] = deque()
        self._relay = TextRelay(settings) if source is None else None
        if self._relay is not None:
            self.warnings = self._relay.warnings
        self._lines = _read_lines(source) if source is not None else iter(())
        self._began: float | None = None
        self._raw = options.raw.open("wb") if options.raw is not None else None

    def __enter__(self) -> "EventRecordingSession":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def wait(self, seconds: float) -> None:
        """Sleep until a message comes, at most `seconds`; return at once when reading a file."""
        if self._relay is not None:
            self._relay.wait(seconds)

    def record_available(self, now: float) -> Iterator[tuple[CarState, float]]:
        """Pass on and record what has come; yield each new sample, and NaN: these wires show no time of a last lap."""
        for at, sender, text in self._receive_texts(now):
            self.stream.counts["datagrams"] += 1
            if self._raw is not None:
                self._raw.write(msgspec.json.encode(RecordedText(at, sender, text)) + b"\n")
            event = _decode_text(text)
            if event is None:
                continue
            if sender == AGENT:
                self.stream.counts["commands"] += event.name == STEER
                if event.name != STEER:
                    self.stream.events.append(TextEvent(f"{sender}: {event.name}"))
            elif event.name == TELEMETRY:
                yield from self._record_telemetry(event.data, at)

    def _receive_texts(self, now: float) -> Iterator[tuple[float, str, str]]:
        if self._relay is None:
            count = 0
            for line in islice(self._lines, _LINES_PER_READ):
                count += 1
                yield line.time, line.sender, line.text
            self.ended = count < _LINES_PER_READ
            return
        if self._began is None:
            self._began = now
        for sender, text in self._relay.pass_texts(now):
            yield now - self._began, sender, text

    def _record_telemetry(self, data: Any, at: float) -> Iterator[tuple[CarState, float]]:
        counts = self.stream.counts
        try:
            state = self._link.observe_telemetry(data, at)
        except WireError:
            counts["rejected"] += 1
            return
        if state is None:
            counts["duplicates" if data else "paused"] += 1
            return
        counts["received"] += 1
        self.stream.sequence += 1
        yield state, math.nan

    def summary(self) -> dict[str, Any]:
        """Return counts, and the names of the written files."""
        if self._relay is not None:
            self.stream.counts["foreign"] = self._relay.refused
        raw = str(self._options.raw) if self._raw is not None else None
        return {"link": dict(self.stream.counts), "table": None, "rows": 0, "raw": raw}

    def close(self) -> None:
        """Hang up on both ends and close the file. A second call does nothing."""
        if self._relay is not None:
            self._relay.close()
        if self._raw is not None:
            self._raw.close()


def _decode_text(text: str) -> socketio.SocketIoEvent | None:
    """Return the event in a text of either end, in any of the framings; None where it is none."""
    if text.startswith(socketio.EVENT):
        return socketio.decode_event(text)
    if text.startswith("{"):
        return plain_events.PlainServer().receive_frame(text, 0.0)
    return socketio.decode_event(socketio.EVENT + text) if text.startswith("[") else None


def _read_lines(source: Path) -> Iterator[RecordedText]:
    try:
        with open_user_file(source, "raw recording") as file:
            number = 0
            while line := file.readline(_MAX_LINE_BYTES):
                number += 1
                try:
                    yield msgspec.json.decode(line, type=RecordedText)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    raise DataError(f"no line of a raw recording: {error}", where=f"{source}, line {number}") from None
    except OSError as error:
        raise DataError(f"cannot be read: {describe_os_error(error)}", where=str(source)) from None
