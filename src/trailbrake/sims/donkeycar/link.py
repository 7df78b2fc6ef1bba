"""Our end of the donkeycar simulator's wire: the client that calls it, loads a scene and drives.

Source: protocol page formula-trend, section 10.
"""

import math
import os
from collections.abc import Callable
from typing import Any

from trailbrake.errors import SimulatorError, UsageError, WireError
from trailbrake.roles import LinkCounters
from trailbrake.sims.donkeycar import codec, convert, spec
from trailbrake.state import CarState, Controls, Image, Phase, SimCommand
from trailbrake.transport import rendezvous
from trailbrake.transport.lines import LineCaller, LineChannel
from trailbrake.transport.numbers import number
from trailbrake.transport.picture import Pictures
from trailbrake.transport.udp import Address, address

_CALL_AGAIN_S = 0.2  # s between calls of a simulator that is not there
_STOPPED = codec.Control(0.0, 0.0, 1.0)


class Link:
    """Calls the simulator and drives a car in it.

    Args:
        options: where it listens, and what to ask it for.
        doors: a folder known to nobody but the other end, where it writes down its port.
        idle: called by `open` between looks; lets time pass and returns the new `now`. Without it `open` does not
            wait: the phase is LOST until a telemetry comes.

    Attributes:
        counters: what came.
        unreadable: messages and pictures that could not be read; the last good picture is shown again.
        scenes: what the simulator has, as far as it has been asked.
    """

    SUPPLIES = spec.SUPPLIES
    ACCEPTS = spec.ACCEPTS
    period = spec.PERIOD

    def __init__(
        self,
        options: spec.LiveOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
        idle: Callable[[], float] | None = None,
    ) -> None:
        self._options = options = options or spec.LiveOptions()
        if not options.half_width > 0.0:
            got = f"{options.half_width:g}"
            raise UsageError("no width of a road", where="--half-width", expected="> 0 m", got=got)
        self._doors, self._idle = doors, idle
        self.counters = LinkCounters()
        self.unreadable = 0
        self.scenes: list[str] = []
        self._address: Address | None = None
        self._caller: LineCaller | None = None
        self._channel: LineChannel | None = None
        self._call_at = self._now = 0.0
        self._refused = ""  # why a scene cannot be had
        self._message: codec.Telemetry | None = None
        self._is_fresh = self._stale = self._was_hit = False
        self._heard_at: float | None = None
        self._sequence, self._contacts = -1, 0
        self._lap, self._lap_began, self._line, self._best = 1, math.nan, -1.0, math.nan
        self._pictures = Pictures(spec.HEIGHT, spec.WIDTH, self._spoilt)

    def _spoilt(self) -> None:
        self.unreadable += 1

    @property
    def is_connected(self) -> bool:
        """Whether the simulator has answered the call."""
        return self._channel is not None

    def open(self, now: float) -> None:
        """Call the simulator, load the scene, and wait for the first telemetry."""
        if self._doors is None:
            self._address = address(self._options.connect, where="--connect")
        self._now = self._heard_at = self._call_at = now
        if self._idle is None:
            return
        deadline = now + self._options.wait
        while not self.fresh():
            if self._refused or self._now > deadline:
                said = "it has answered, and shows no car" if self.is_connected else "nobody answers there"
                self.close()
                raise SimulatorError(
                    self._refused or "no simulator",
                    where=self._options.connect,
                    expected="" if self._refused else f"telemetry within {self._options.wait:g} s",
                    got="" if self._refused else said,
                    hint=f"it has: {', '.join(self.scenes)}" if self._refused else "trailbrake doctor donkeycar",
                )
            self._now = self._idle()

    def fresh(self) -> bool:
        """Return whether a telemetry newer than the last read() is there."""
        self._look()
        return self._is_fresh

    def _look(self) -> None:
        if self._channel is None:
            self._call()
        channel = self._channel
        if channel is None:
            return
        for line in channel.poll():
            try:
                self._hear(*codec.decode(line))
            except WireError:
                self.unreadable += 1
        if channel.is_closed:
            self._channel, self._call_at = None, self._now + _CALL_AGAIN_S

    def _call(self) -> None:
        if self._caller is None:
            if self._now < self._call_at:
                return
            if self._doors is not None:
                port = rendezvous.lookup(self._doors, spec.NAME)
                self._address = ("127.0.0.1", port) if port else None
            if self._address is None:
                return
            self._caller = LineCaller(self._address)
        self._channel = self._caller.channel()
        if self._caller.failed:
            self._caller, self._call_at = None, self._now + _CALL_AGAIN_S
        elif self._channel is not None:
            self._caller = None
            if self._message is not None:
                self.counters.resyncs += 1

    def _hear(self, kind: str, data: dict[str, Any]) -> None:
        if kind == codec.TELEMETRY:
            self._see(codec.decode_telemetry(data))
        elif kind == codec.STARTING_LINE:
            self._cross(number(data.get("timeStamp"), "timeStamp"),
                        number(data.get("starting_line_index", 0.0), "starting_line_index"))  # fmt: skip
        elif kind == codec.SCENE_SELECTION_READY:
            self._say(codec.GET_SCENE_NAMES)
        elif kind == codec.SCENE_NAMES:
            self.scenes = codec.decode_scene_names(data)
            wanted = self._options.scene or (self.scenes[0] if self.scenes else "")
            if wanted in self.scenes:
                self._say(codec.LOAD_SCENE, {"scene_name": wanted})
            else:
                self._refused = f"no scene {wanted}"
        elif kind in (codec.CAR_LOADED, codec.NEED_CAR_CONFIG):
            self._say(codec.CAR_CONFIG, {"body_style": "donkey", "body_r": "40", "body_g": "90", "body_b": "200",
                                         "car_name": self._options.name, "font_size": "50"})  # fmt: skip

    def _see(self, message: codec.Telemetry) -> None:
        self._heard_at = self._now
        self.counters.received += 1
        last = self._message
        if last is not None and message.time == last.time:
            return
        if last is not None and message.time < last.time:
            self.counters.resyncs += 1
            self._lap, self._lap_began, self._line, self._best = 1, math.nan, -1.0, math.nan
            self._contacts = 0
        hit = message.hit != codec.NO_HIT
        self._contacts += hit and not self._was_hit
        self._sequence += 1
        self._was_hit, self._message, self._is_fresh = hit, message, True

    def _cross(self, at: float, line: float) -> None:
        # There may be several lines; the one that was crossed first is the start.
        if self._line < 0.0:
            self._line, self._lap_began = line, at
        elif line == self._line:
            took = at - self._lap_began
            self._lap, self._lap_began = self._lap + 1, at
            self._best = took if not took >= self._best else self._best

    def read(self, now: float) -> CarState:
        """Return the newest telemetry as a state."""
        self._now = now
        self._look()
        self._is_fresh = False
        if self._message is None:
            state = CarState(phase=Phase.LOST)
        else:
            message = self._message
            image = Image(message.image, self._pictures.decode)
            state = convert.state_from_wire(message, self._options.half_width, image)
            state.lap = self._lap
            state.lap_time = message.time - (0.0 if math.isnan(self._lap_began) else self._lap_began)
            state.best_lap_time = self._best
            state.contacts = self._contacts
        state.sequence = self._sequence
        state.age = now - (self._heard_at if self._heard_at is not None else now)
        stale = state.age > spec.STALE_S or self._channel is None
        if stale:
            state.phase = Phase.LOST
            self.counters.stale += not self._stale
        self._stale = stale
        return state

    def write(self, controls: Controls) -> None:
        """Send the command."""
        self._say(codec.CONTROL, codec.encode_control(convert.controls_to_wire(controls)))

    def _say(self, kind: str, data: dict[str, str] | None = None) -> None:
        if self._channel is not None:
            self._channel.send(codec.encode(kind, data))

    def command(self, command: SimCommand) -> None:
        """Send the car back to the start."""
        if command.restart:
            self._say(codec.RESET_CAR)

    def release(self) -> None:
        """Brake, straight wheels."""
        self._say(codec.CONTROL, codec.encode_control(_STOPPED))

    def close(self) -> None:
        """Brake and hang up."""
        self.release()
        if self._channel is not None:
            self._channel.close()
        if self._caller is not None:
            self._caller.close()
        self._channel = self._caller = None
