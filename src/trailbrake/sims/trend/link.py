"""Our agent's end of the Formula Trend wire: the server that the simulator calls.

Source: protocol page formula-trend, sections 1 and 2. The simulator sends one telemetry per command, so each telemetry
is answered exactly once: fewer answers would let the stream run dry, more would set a second one going.
"""

import itertools
import os
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np

from trailbrake.errors import SimulatorError, WireError
from trailbrake.roles import LinkCounters
from trailbrake.sims.trend import codec, convert, spec
from trailbrake.state import CarState, Controls, Image, Phase, SimCommand
from trailbrake.transport import rendezvous, socketio
from trailbrake.transport.udp import address
from trailbrake.transport.websocket import Channel, Listener

_IDLE = codec.Steer(0.0, 0.0)


class Link:
    """Waits for the simulator's call and drives its car.

    Args:
        options: where to listen, and how long `open` waits for a call.
        doors: a folder known to nobody but the other end: any free port is taken and written down there.
        idle: called by `open` between looks; lets time pass and returns the new `now`. Without it `open` does not
            wait: the phase is LOST until the simulator calls.

    Attributes:
        counters: what came. A second simulator that calls is hung up on and counted in `refused`.
        unreadable: telemetries and pictures that could not be read; the last good picture is shown again.
        dialect: of Socket.IO, "" while nobody has called.
    """

    SUPPLIES = spec.SUPPLIES
    ACCEPTS = spec.ACCEPTS
    period = spec.STEP_S * spec.COMMAND_STEPS

    def __init__(
        self,
        options: spec.LiveOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
        idle: Callable[[], float] | None = None,
    ) -> None:
        self._options, self._doors, self._idle = options or spec.LiveOptions(), doors, idle
        self.counters = LinkCounters()
        self.refused = self.unreadable = 0
        self._listener: Listener | None = None
        self._channel: Channel | None = None
        self._session: socketio.Server | None = None
        self._calls = itertools.count(1)
        self._now = 0.0
        self._steer = _IDLE  # newest command
        self._unanswered = 0
        self._message: codec.Telemetry | None = None
        self._is_fresh = self._by_hand = False
        self._heard_at: float | None = None
        self._stale = False
        self._sequence = -1
        self._lap_began = 0.0
        self._best = float("nan")
        self._good: Any = np.zeros((240, 320, 3), np.uint8)  # newest readable picture

    @property
    def dialect(self) -> str:
        """The dialect that the simulator speaks, "" while it is not known."""
        return (self._session.dialect if self._session else None) or ""

    def open(self, now: float) -> None:
        """Listen, and wait for the simulator's first telemetry."""
        bind = ("127.0.0.1", 0) if self._doors is not None else address(self._options.listen, where="--listen")
        self._listener = Listener(bind, where="--listen")
        self._now = self._heard_at = now
        if self._doors is not None:
            rendezvous.publish(self._doors, spec.NAME, self._listener.address[1])
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
        channel, session = self._channel, self._session
        if channel is None or session is None:
            return
        for text in channel.poll():
            event = session.receive(text, self._now)
            if event is not None and event.name == codec.TELEMETRY:
                self._hear(event.data, session)
        session.tick(self._now)
        self._flush()
        if channel.is_closed or session.is_over:
            channel.close()
            self._channel = self._session = None

    def _answer_calls(self) -> None:
        assert self._listener is not None
        called = self._listener.accept()
        if called is not None:
            # A caller that is silent, or was hung up on and does not know it yet, does not hold the line.
            held = self._channel is not None and not self._stale and (self._session is None or self._channel.is_open)
            if not held:
                if self._channel is not None:
                    self._channel.close()
                self._channel, self._session = called, None
            else:
                self.refused += 1
                called.close()
        if self._session is None and self._channel is not None:
            self._channel.poll()  # no text comes before the handshake is answered
            if self._channel.is_open:
                self._greet(self._channel.path)
            elif self._channel.is_closed:
                self._channel = None

    def _greet(self, path: str) -> None:
        self._session = socketio.Server(path, self._now, f"trailbrake{next(self._calls)}")
        self._session.emit(codec.RESTART, {})
        self._session.emit(codec.STEER, codec.encode_steer(_IDLE))
        self._unanswered = 0
        if self._message is not None:
            self.counters.resyncs += 1

    def _hear(self, data: Any, session: socketio.Server) -> None:
        self._heard_at = self._now
        try:
            message = codec.decode_telemetry(data)
        except WireError:
            self.unreadable += 1
            session.emit(codec.STEER, codec.encode_steer(self._steer))
            return
        self._by_hand = message is None
        if message is None:
            session.emit(codec.MANUAL, {})
            return
        self.counters.received += 1
        last = self._message
        if self._unanswered:  # an older one that nobody has read: repeat the command, keep its loop alive
            session.emit(codec.STEER, codec.encode_steer(self._steer))
        self._unanswered = 1
        if last is not None and message.time == last.time:
            if not self._is_fresh:  # nothing has moved: the driver need not look
                session.emit(codec.STEER, codec.encode_steer(self._steer))
                self._unanswered = 0
            return
        if last is not None and message.time < last.time:
            self.counters.resyncs += 1
            self._lap_began, self._best = 0.0, float("nan")
        elif last is not None and message.lap > last.lap:
            took = message.time - self._lap_began
            self._lap_began = message.time
            self._best = took if not took >= self._best else self._best
        self._sequence += 1
        self._message, self._is_fresh = message, True

    def read(self, now: float) -> CarState:
        """Return the newest telemetry as a state."""
        self._now = now
        self._look()
        self._is_fresh = False
        if self._message is None:
            state = CarState(phase=Phase.LOST)
        else:
            state = convert.state_from_wire(self._message, Image(self._message.image, self._decode))
            state.lap_time = self._message.time - self._lap_began
            state.best_lap_time = self._best
        state.sequence = self._sequence
        state.age = now - (self._heard_at if self._heard_at is not None else now)
        if self._by_hand:
            state.phase = Phase.PAUSED
        stale = state.age > spec.STALE_S or self._channel is None
        if stale:
            state.phase = Phase.LOST
            self.counters.stale += not self._stale
        self._stale = stale
        return state

    def _decode(self, data: bytes) -> Any:
        """Return the picture's pixels, (height, width, 3) uint8 RGB; the last good ones where it is damaged."""
        from PIL import Image as Picture

        try:
            with Picture.open(BytesIO(data), formats=("JPEG", "PNG")) as picture:
                self._good = np.asarray(picture.convert("RGB"))
        except (OSError, ValueError, SyntaxError, Picture.DecompressionBombError):
            self.unreadable += 1
        return self._good

    def write(self, controls: Controls) -> None:
        """Answer the newest telemetry; where it has been answered already, the command waits for the next."""
        speed = self._message.speed if self._message else 0.0
        self._steer = convert.controls_to_wire(controls, speed)
        if self._unanswered and self._session is not None:
            self._unanswered = 0
            self._session.emit(codec.STEER, codec.encode_steer(self._steer))
            self._flush()

    def _flush(self) -> None:
        if self._session is not None and self._channel is not None:
            for text in self._session.take():
                self._channel.send(text)

    def command(self, command: SimCommand) -> None:
        """Send the car back to the start, clock and laps reset."""
        if command.restart and self._session is not None:
            self._session.emit(codec.RESTART, {})
            self._flush()

    def release(self) -> None:
        """Let the car roll out with straight wheels: nothing acts on the pedal any more."""
        self._steer = _IDLE
        if self._session is not None:
            self._session.emit(codec.STEER, codec.encode_steer(_IDLE))
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
            rendezvous.withdraw(self._doors, spec.NAME)
        self._channel = self._session = self._listener = None
