"""The agent's end of an event simulator's wire: the server that the simulator calls.

Source: protocol page formula-trend, sections 1, 2 and 9. The simulator sends one telemetry per command, and a few more
when it has just called. Of telemetries that arrive together only the newest is answered, so that in the end one is in
flight and every command is computed from the newest state; without an answer to it the stream would run dry.

Where no telemetry comes for a while the car still has the last command. Then the link sends stops without being
requested, a few: each is a command, and brings a telemetry when the simulator goes on.

`DeadTime`: how long a command takes from the state that it answers to its effect, on a wire that answers commands.

The simulator sends one telemetry for each command, and at most two more when it has just called (protocol page
formula-trend, section 1). So the newest telemetry shows the effect of the last command but two or of a newer one, and
the time since that command is not less than the dead time. Counting works whatever is in flight.
"""

import math
from abc import ABC, abstractmethod
from collections import deque
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from trailbrake.errors import SimulatorError, WireError
from trailbrake.event_sims.agent_door import MANUAL, STEER, TELEMETRY, UNREADABLE, AgentDoor
from trailbrake.event_sims.one_pedal import OnePedal, PedalCar
from trailbrake.event_sims.options import COMMAND_STEPS, STEP_S, EventLiveOptions, parse_origins
from trailbrake.event_sims.relay_door import RelayDoor
from trailbrake.event_sims.telemetry_clock import TelemetryClock
from trailbrake.roles import LinkCounters
from trailbrake.simulator_tools import Doors, Idle
from trailbrake.state import CarState, Controls, Image, Phase, SimCommand
from trailbrake.transport import rendezvous
from trailbrake.transport.client_notices import print_to_stderr
from trailbrake.transport.image_codec import ImageDecoder
from trailbrake.transport.json_values import find_decimal_mark, write_decimal_commas
from trailbrake.transport.udp import parse_address

STALE_AFTER_S = 1.0  # s of wall time without a telemetry after which the simulator counts as gone
SILENT_AFTER_S = 0.25  # s without a telemetry after which stops are sent unrequested: the loop's dead-man
STOP_INTERVAL_S = 0.1  # s between such stops, for the first second
LATE_STOP_INTERVAL_S = 1.0  # s between later ones: each brings a telemetry when the simulator goes on
LEAST_LIVE_DEAD_TIME_S = 0.2  # s from a state to the effect of its command that a stop allows for in a game
REPEAT_INTERVAL_S = 0.02  # s that a telemetry repeated more than once waits for its answer: a physics step
UNPROMPTED = 2  # telemetries that come without a command, at most
UNKNOWN_S = 0.3  # s, before the first measurement
LONGEST_S = 0.5  # s that are believed: a simulator that stops for a while is no slow wire
FADING = 0.98  # of a measurement with each newer telemetry: the longest of about the last second counts
MOST_IN_FLIGHT = 64


class DeadTime:
    """Measures the dead time of one link, in the simulator's time.

    Attributes:
        seconds: the longest of the newest measurements.
    """

    def __init__(self) -> None:
        self.seconds = UNKNOWN_S
        self._commands: deque[float] = deque(maxlen=MOST_IN_FLIGHT)  # when each was sent whose effect is not seen yet
        self._is_measured = False

    def begin_call(self, commands: int, time: float) -> None:
        """A simulator has called, and has been greeted with so many commands at `time`, s."""
        self._commands.clear()
        self._commands.extend([time] * (UNPROMPTED + commands))
        self._is_measured = False

    def note_command(self, time: float) -> None:
        """A command is sent that answers the state of `time`, s."""
        self._commands.append(time)

    def note_telemetry(self, time: float) -> None:
        """A telemetry has come: the state of `time`, s."""
        if not self._commands:
            return
        passed = time - self._commands.popleft()
        if not 0.0 < passed < LONGEST_S:  # a restart, or a stop
            return
        self.seconds = max(passed, FADING * self.seconds) if self._is_measured else passed
        self._is_measured = True


class TimedTelemetry(Protocol):
    """The fields of a telemetry that every link reads."""

    @property
    def time(self) -> float | None:
        """Simulator time, s; None where the wire has no clock."""

    @property
    def lap(self) -> int | None:
        """Number of the lap under way, from 1; None where the wire has none."""


T = TypeVar("T", bound=TimedTelemetry)


class EventLink(ABC, Generic[T]):
    """Waits for the simulator's call and drives its car.

    A simulator's own Link translates its messages: `_decode_telemetry`, `_build_state`, `_encode_steer`.

    Args:
        options: where to listen, and how long `open` waits for a call.
        doors: a folder that only the other end knows: the link takes any free port and writes it down there.
        idle: called by `open` while it waits; lets time pass and returns the new `now`. Without it `open` does not
            wait: the phase is LOST until the simulator calls.

    Attributes:
        counters: what arrived.
        unreadable: telemetries, frames and images that could not be read; a damaged image shows the last good one.
    """

    NAME: ClassVar[str]
    SUPPLIES: frozenset[str]
    ACCEPTS: frozenset[str]
    RESTART: ClassVar[str] = ""  # the event that sends the car back to the start; "" where there is none
    GREETING: ClassVar[tuple[tuple[str, Any], ...]] = ()  # events for a simulator that has just called
    # What the pedal does. A stop without telemetry brakes no longer than a car that brakes so well would roll: a pedal
    # below 0 sends a standing car backwards.
    PEDAL_CAR: ClassVar[PedalCar]
    IMAGE_SIZE: ClassVar[tuple[int, int]] = (0, 0)  # height and width of the camera's images, pixels; 0: no camera
    period = STEP_S * COMMAND_STEPS

    def __init__(self, options: EventLiveOptions, *, doors: Doors = None, idle: Idle | None = None) -> None:
        self._options, self._doors, self._idle = options, doors, idle
        if options.connect:  # an agent drives
            self.ACCEPTS = frozenset()
        self.counters = LinkCounters()
        self.unreadable = 0
        self._clock = TelemetryClock(self.counters, STALE_AFTER_S)
        self._image_decoder = ImageDecoder(*self.IMAGE_SIZE, self._count_unreadable)
        self._door: AgentDoor | RelayDoor | None = None
        self._calls = 0  # simulators so far
        self._now = self._opened_at = 0.0
        self._pedal = OnePedal(self.PEDAL_CAR)
        self._dead_time = DeadTime()
        self._steer_data = self._encode_steer(Controls(), None)  # newest command
        self._is_braking = False  # by that command
        self._repeat_due = math.inf  # s, when a repeated telemetry gets its answer
        self._has_answered_repeat = False  # since the newest sample
        self._next_stop_at = self._braking_since = math.nan  # s, of the stops of this silence; NaN: none so far
        self._awaits_answer = False  # the newest telemetry has no answer yet
        self._decimal_mark = "."  # of the simulator's numbers, and so of the answers
        self._newest_message: T | None = None
        self._is_fresh = self._is_driven_by_hand = False

    @abstractmethod
    def _decode_telemetry(self, data: Any) -> T | None:
        """Return the telemetry in an event's data, None where a person drives the car; WireError if unreadable."""

    @abstractmethod
    def _build_state(self, message: T) -> CarState:
        """Return the state of a telemetry; this class fills in time, laps, sequence and age."""

    @abstractmethod
    def _encode_steer(self, controls: Controls, message: T | None) -> dict[str, Any]:
        """Return the data of the `steer` event for `controls`, given the newest telemetry, if there is one."""

    def _combine_pedals(self, controls: Controls, speed: float) -> float:
        """Return the pedal for `controls` of a car at `speed` m/s; a speed below 0 is one backwards."""
        if speed < 0.0:
            self._pedal.direction.note_motion(speed)
        # A simulator that does not wait goes on with a command while this machine is busy with something else.
        least = LEAST_LIVE_DEAD_TIME_S if self._doors is None else 0.0
        return self._pedal.combine(controls, abs(speed), max(self._dead_time.seconds, least))

    def _count_unreadable(self) -> None:
        self.unreadable += 1

    def _make_image(self, data: bytes) -> Image:
        """Return the image in a telemetry; it is decoded when it is first used."""
        return self._image_decoder.make_image(data)

    @property
    def dialect(self) -> str:
        """The simulator's dialect; "" while it is unknown."""
        call = self._door.newest_call if self._door is not None else None
        return (call.session.dialect if call is not None and call.session is not None else None) or ""

    @property
    def refused(self) -> int:
        """Callers that were refused: a second simulator, a page of another site."""
        return self._door.refused if self._door is not None else 0

    @property
    def _is_connected(self) -> bool:
        return self._door is not None and self._door.call is not None

    def open(self, now: float) -> None:
        """Listen, and wait for the simulator's first telemetry."""
        bind = ("127.0.0.1", 0) if self._doors is not None else parse_address(self._options.listen, where="--listen")
        origins = parse_origins(self._options.origin)
        self._door = (
            RelayDoor(bind, parse_address(self._options.connect, where="--connect"), origins)
            if self._options.connect
            else AgentDoor(bind, greeting=self.GREETING, origins=origins, is_silent=self._is_silent)
        )
        self._now = self._opened_at = now
        self._clock.note_arrival(now)
        if self._doors is not None:
            rendezvous.publish_port(self._doors, self.NAME, self._door.address[1])
        if self._idle is None:
            return
        deadline = now + self._options.wait
        while not self.has_new_sample():
            if self._now > deadline:
                waiting = self._door.newest_call
                self.close()
                raise SimulatorError(
                    "no simulator has called" if waiting is None else "it has called and sends no telemetry",
                    where=f"{bind[0]}:{bind[1]}",
                    expected=f"a call within {self._options.wait:g} s",
                    hint="start it with --ip and --port of this address",
                )
            self._now = self._idle()

    def _is_silent(self) -> bool:
        return self._clock.measure_age(self._now) > STALE_AFTER_S

    def has_new_sample(self) -> bool:
        """Return whether a telemetry newer than the last read() is there."""
        if isinstance(self._door, RelayDoor):
            return self._door.has_telemetry(self._now)
        self._poll_simulator()
        return self._is_fresh

    def _poll_simulator(self) -> None:
        door = self._door
        if door is None:
            return
        events = door.poll_events(self._now)
        if door.warnings:
            print_to_stderr(f"{self.NAME}: {door.warnings.pop(0)}")
        if door.calls != self._calls:
            self._calls = door.calls
            self._awaits_answer, self._repeat_due = False, math.inf
            self._dead_time.begin_call(len(self.GREETING), self._clock.time)
            if self._newest_message is not None:
                self.counters.resyncs += 1
        is_damaged = False
        for event in events:
            if event.name == TELEMETRY:
                is_damaged |= not self._handle_telemetry(event.data)
            elif event is UNREADABLE:
                self.unreadable += 1
                is_damaged = True
        if is_damaged and not self._awaits_answer:
            self._send_steer()  # the simulator waits for a command after each telemetry, damaged or not; one will do
        elif self._now >= self._repeat_due:
            self._send_steer()

    def _emit(self, name: str, data: Any) -> None:
        if self._door is not None and self._door.call is not None:
            self._dead_time.note_command(self._clock.time)
            self._door.call.emit(name, write_decimal_commas(data) if self._decimal_mark == "," else data)

    def _send_steer(self) -> None:
        """Send the newest command."""
        self._awaits_answer, self._repeat_due = False, math.inf
        self._emit(STEER, self._steer_data)

    def _handle_telemetry(self, data: Any) -> bool:
        """Take in a telemetry; return whether it could be read. One that could not ends no silence."""
        try:
            message = self._decode_telemetry(data)
        except WireError:
            self.unreadable += 1
            self._dead_time.note_telemetry(self._clock.time)
            return False
        self._decimal_mark = find_decimal_mark(data) or self._decimal_mark
        self._clock.note_arrival(self._now)
        self._next_stop_at = self._braking_since = math.nan
        self._is_driven_by_hand = message is None
        if message is None:
            self._dead_time.note_telemetry(self._clock.time)
            self._emit(MANUAL, {})
        elif self._accept_message(message):
            self._awaits_answer, self._repeat_due = True, math.inf  # an older one that was never read gets no answer
            self._has_answered_repeat = False
        elif not self._awaits_answer and (self._doors is not None or not self._has_answered_repeat):
            self._has_answered_repeat = True
            self._send_steer()  # nothing has moved: the driver need not act
        elif not self._awaits_answer and self._repeat_due == math.inf:
            # Where each telemetry comes twice, each would bring a command, and each command a telemetry.
            self._repeat_due = self._now + REPEAT_INTERVAL_S
        return True

    def _accept_message(self, message: T) -> bool:
        """Count a telemetry and keep it as the newest sample; return whether it is a new one."""
        self.counters.received += 1
        # Where the wire has no clock, the link's stands in for it: then every telemetry is a new one.
        time = message.time if message.time is not None else self._now - self._opened_at
        self._dead_time.note_telemetry(time)
        if message.time is not None and self._clock.is_repeated(time):
            return False
        last = self._newest_message
        if not self._clock.accept_sample(time) and last is not None and _has_advanced(message.lap, last.lap):
            self._clock.complete_lap(time)
        self._newest_message, self._is_fresh = message, True
        return True

    def read(self, now: float) -> CarState:
        """Return the newest telemetry as a state."""
        self._now = now
        self._poll_simulator()
        self._is_fresh = False
        message = self._newest_message
        if message is None:
            state = CarState(phase=Phase.LOST)
        else:
            return self._complete_state(message, now, is_connected=self._is_connected)
        self._clock.fill_age(state, now, is_connected=self._is_connected)
        return state

    def _complete_state(self, message: T, now: float, *, is_connected: bool) -> CarState:
        state = self._build_state(message)
        state.time = self._clock.time
        if message.lap is not None:
            state.lap = message.lap
            self._clock.fill_laps(state)
        if self._is_driven_by_hand:
            state.phase = Phase.PAUSED
        self._clock.fill_age(state, now, is_connected=is_connected)
        return state

    def write(self, controls: Controls) -> None:
        """Answer the newest telemetry; where it has been answered already, the command waits for the next.

        A stop does not wait when telemetry stays away: it is sent, at a limited rate.
        """
        self._steer_data = self._encode_steer(controls, self._newest_message)
        if self._awaits_answer:
            self._is_braking = controls.brake > 0.0
            self._send_steer()
        elif controls.throttle == 0.0 and self._clock.measure_age(self._now) > SILENT_AFTER_S:
            self._stop_unrequested(controls)

    def _stop_unrequested(self, controls: Controls) -> None:
        """Send a stop if one is due. It brakes while the unseen car must still roll, then lets it roll out."""
        message, now = self._newest_message, self._now
        if message is None or self._door is None or self._door.call is None:
            return
        age = self._clock.measure_age(now)
        is_first = math.isnan(self._next_stop_at)
        if is_first:
            self._braking_since = now - age if self._is_braking else now
            self._next_stop_at = now
        rolls = (now - self._braking_since) * self.PEDAL_CAR.deceleration < self._build_state(message).speed
        if not rolls:
            self._steer_data = self._encode_steer(Controls(steer=controls.steer), message)
        if (now < self._next_stop_at and rolls == self._is_braking) or self._door.call.unsent_bytes:
            return
        self._is_braking = rolls
        self._next_stop_at = now + (STOP_INTERVAL_S if age < SILENT_AFTER_S + 1.0 else LATE_STOP_INTERVAL_S)
        self._emit(STEER, self._steer_data)

    def send_command(self, command: SimCommand) -> None:
        """Send the car back to the start, clock and laps reset, where the simulator knows how to."""
        if command.restart and self.RESTART:
            self._emit(self.RESTART, {})

    def release(self) -> None:
        """Let the car roll out with straight wheels: nothing acts on the pedal any more."""
        self._steer_data = self._encode_steer(Controls(), self._newest_message)
        self._emit(STEER, self._steer_data)

    def close(self) -> None:
        """Hang up and stop listening."""
        if self._door is None:
            return
        self.release()
        self._door.close()
        if self._doors is not None:
            rendezvous.withdraw_port(self._doors, self.NAME)
        self._door = None


def _has_advanced(lap: int | None, last: int | None) -> bool:
    return lap is not None and last is not None and lap > last
