"""The agent's end of such a wire: the server that the simulator calls.

Source: protocol page formula-trend, sections 1, 2 and 9. The simulator sends one telemetry per command, so each
telemetry is answered exactly once: fewer answers would let the stream run dry, more would set a second one going.
"""

import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from trailbrake.errors import SimulatorError, WireError
from trailbrake.roles import LinkCounters
from trailbrake.state import CarState, Controls, Phase, SimCommand
from trailbrake.transport import plain, rendezvous, socketio
from trailbrake.transport.udp import address
from trailbrake.transport.websocket import Channel, Listener

TELEMETRY, STEER, MANUAL = "telemetry", "steer", "manual"  # the events that all of these simulators know
STALE_S = 1.0  # s of wall time without a telemetry after which the simulator counts as gone


class Timed(Protocol):
    """A telemetry, as far as it is looked at here."""

    @property
    def time(self) -> float | None:
        """Simulator time, s; None where the wire has no clock."""

    @property
    def lap(self) -> int | None:
        """Number of the lap under way, from 1; None where the wire does not tell."""


class ListenOptions(Protocol):
    """What every such simulator's LiveOptions have: where to listen, HOST:PORT, and s to wait for a call."""

    listen: str
    wait: float


T = TypeVar("T", bound=Timed)


class EventLink(ABC, Generic[T]):
    """Waits for the simulator's call and drives its car.

    A simulator's own Link says what its messages mean: `_decode`, `_state`, `_answer`.

    Args:
        options: where to listen, and how long `open` waits for a call.
        doors: a folder known to nobody but the other end: any free port is taken and written down there.
        idle: called by `open` between looks; lets time pass and returns the new `now`. Without it `open` does not
            wait: the phase is LOST until the simulator calls.

    Attributes:
        counters: what came.
        refused: simulators that called while another one was there, and were hung up on.
        unreadable: telemetries and pictures that could not be read; the last good picture is shown again.
    """

    NAME: ClassVar[str]
    SUPPLIES: ClassVar[frozenset[str]]
    ACCEPTS: ClassVar[frozenset[str]]
    RESTART: ClassVar[str] = ""  # the event that sends the car back to the start; "" where there is none
    GREETING: ClassVar[tuple[tuple[str, Any], ...]] = ()  # events for a simulator that has just called
    period: float

    def __init__(
        self,
        options: ListenOptions,
        *,
        doors: "str | os.PathLike[str] | None" = None,
        idle: Callable[[], float] | None = None,
    ) -> None:
        self._options, self._doors, self._idle = options, doors, idle
        self.counters = LinkCounters()
        self.refused = self.unreadable = 0
        self._listener: Listener | None = None
        self._channel: Channel | None = None
        self._session: socketio.Server | plain.Server | None = None
        self._calls = itertools.count(1)
        self._now = self._opened_at = 0.0
        self._steer = self._answer(Controls(), None)  # newest command
        self._unanswered = False
        self._message: T | None = None
        self._time = 0.0  # s, of that message
        self._is_fresh = self._by_hand = False
        self._heard_at: float | None = None
        self._stale = False
        self._sequence = -1
        self._lap_began = 0.0
        self._best = float("nan")

    @abstractmethod
    def _decode(self, data: Any) -> T | None:
        """Return the telemetry in an event's data, None where the car is driven by hand; WireError if unreadable."""

    @abstractmethod
    def _state(self, message: T) -> CarState:
        """Return the state behind a telemetry; time, laps, sequence and age are filled in here."""

    @abstractmethod
    def _answer(self, controls: Controls, message: T | None) -> dict[str, Any]:
        """Return the data of the `steer` event for `controls`, given the newest telemetry, if there is one."""

    @property
    def dialect(self) -> str:
        """The dialect that the simulator speaks, "" while it is not known."""
        return (self._session.dialect if self._session else None) or ""

    def open(self, now: float) -> None:
        """Listen, and wait for the simulator's first telemetry."""
        bind = ("127.0.0.1", 0) if self._doors is not None else address(self._options.listen, where="--listen")
        self._listener = Listener(bind, where="--listen")
        self._now = self._heard_at = self._opened_at = now
        if self._doors is not None:
            rendezvous.publish(self._doors, self.NAME, self._listener.address[1])
        if self._idle is None:
            return
        deadline = now + self._options.wait
        while not self.fresh():
            if self._now > deadline:
                self.close()
                raise SimulatorError(
                    "no simulator has called",
                    where=f"{bind[0]}:{bind[1]}",
                    expected=f"a call within {self._options.wait:g} s",
                    hint="start it with --ip and --port of this address",
                )
            self._now = self._idle()

    def fresh(self) -> bool:
        """Return whether a telemetry newer than the last read() is there."""
        self._look()
        return self._is_fresh

    def _look(self) -> None:
        self._answer_calls()
        channel = self._channel
        if channel is None:
            return
        texts = channel.poll()
        if self._session is None and channel.is_open:
            self._greet(channel.path)
        session = self._session
        if session is not None:
            for text in texts:
                event = session.receive(text, self._now)
                if event is not None and event.name == TELEMETRY:
                    self._hear(event.data, session)
            session.tick(self._now)
            self._flush()
        if channel.is_closed or (session is not None and session.is_over):
            channel.close()
            self._channel = self._session = None

    def _answer_calls(self) -> None:
        assert self._listener is not None
        called = self._listener.accept()
        if called is None:
            return
        # A caller that is silent, or was hung up on and does not know it yet, does not hold the line.
        held = self._channel is not None and not self._stale and (self._session is None or self._channel.is_open)
        if held:
            self.refused += 1
            called.close()
            return
        if self._channel is not None:
            self._channel.close()
        self._channel, self._session = called, None

    def _greet(self, path: str) -> None:
        if path.startswith(socketio.PATH):
            self._session = socketio.Server(path, self._now, f"trailbrake{next(self._calls)}")
        else:
            self._session = plain.Server()
        for name, data in self.GREETING:
            self._session.emit(name, data)
        self._unanswered = False
        if self._message is not None:
            self.counters.resyncs += 1

    def _hear(self, data: Any, session: socketio.Server | plain.Server) -> None:
        self._heard_at = self._now
        try:
            message = self._decode(data)
        except WireError:
            self.unreadable += 1
            session.emit(STEER, self._steer)
            return
        self._by_hand = message is None
        if message is None:
            session.emit(MANUAL, {})
            return
        self.counters.received += 1
        if self._unanswered:  # an older one that nobody has read: repeat the command, keep its loop alive
            session.emit(STEER, self._steer)
        self._unanswered = True
        last, before = self._message, self._time
        # Where the wire has no clock, ours stands in for it: every telemetry is a new one then.
        time = message.time if message.time is not None else self._now - self._opened_at
        if last is not None and message.time is not None and time == before:
            if not self._is_fresh:  # nothing has moved: the driver need not look
                session.emit(STEER, self._steer)
                self._unanswered = False
            return
        if last is not None and time < before:
            self.counters.resyncs += 1
            self._lap_began, self._best = 0.0, float("nan")
        elif last is not None and message.lap is not None and last.lap is not None and message.lap > last.lap:
            took = time - self._lap_began
            self._lap_began = time
            self._best = took if not took >= self._best else self._best
        self._sequence += 1
        self._message, self._time, self._is_fresh = message, time, True

    def read(self, now: float) -> CarState:
        """Return the newest telemetry as a state."""
        self._now = now
        self._look()
        self._is_fresh = False
        if self._message is None:
            state = CarState(phase=Phase.LOST)
        else:
            state = self._state(self._message)
            state.time = self._time
            if self._message.lap is not None:
                state.lap = self._message.lap
                state.lap_time = self._time - self._lap_began
                state.best_lap_time = self._best
        state.sequence = self._sequence
        state.age = now - (self._heard_at if self._heard_at is not None else now)
        if self._by_hand:
            state.phase = Phase.PAUSED
        stale = state.age > STALE_S or self._channel is None
        if stale:
            state.phase = Phase.LOST
            self.counters.stale += not self._stale
        self._stale = stale
        return state

    def write(self, controls: Controls) -> None:
        """Answer the newest telemetry; where it has been answered already, the command waits for the next."""
        self._steer = self._answer(controls, self._message)
        if self._unanswered and self._session is not None:
            self._unanswered = False
            self._session.emit(STEER, self._steer)
            self._flush()

    def _flush(self) -> None:
        if self._session is not None and self._channel is not None:
            for text in self._session.take():
                self._channel.send(text)

    def command(self, command: SimCommand) -> None:
        """Send the car back to the start, clock and laps reset, where the simulator knows how to."""
        if command.restart and self.RESTART and self._session is not None:
            self._session.emit(self.RESTART, {})
            self._flush()

    def release(self) -> None:
        """Let the car roll out with straight wheels: nothing acts on the pedal any more."""
        self._steer = self._answer(Controls(), self._message)
        if self._session is not None:
            self._session.emit(STEER, self._steer)
            self._flush()

    def close(self) -> None:
        """Hang up and stop listening."""
        if self._listener is None:
            return
        self.release()
        if self._channel is not None:
            self._channel.close()
        self._listener.close()
        if self._doors is not None:
            rendezvous.withdraw(self._doors, self.NAME)
        self._channel = self._session = self._listener = None
