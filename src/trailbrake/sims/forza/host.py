"""The game's end of the Forza wire: sends a Plant's car as Data Out, and drives it with a pad's reports.

Source: protocol page forza-data-out, sections 3, 6.6 and 8. As in the games, Start pauses and resumes, and Y rewinds. A
pad without reports for a second counts as neutral. The pad assists limit the steering by the speed, and
engage reverse where a brake is held at rest: the triggers swap until the car is at rest again.

The road fields of Forza's packets: offset from the driving line, rumble strips, brake advice.

Source: protocol page forza-data-out, sections 3.4 and 3.5. The games' formulas are not documented; these are ours.
"""

import math
from collections import deque
from dataclasses import replace
from typing import Any, NamedTuple

from trailbrake.cars.params import CarParams, Tyre
from trailbrake.errors import SimulatorError, UsageError, WireError
from trailbrake.planning.course import Course
from trailbrake.roles import RoadPlant
from trailbrake.sims.forza import codec, convert, spec
from trailbrake.sims.forza.convert import RaceStatus, TurboPressure
from trailbrake.simulator_tools import Doors
from trailbrake.state import CarState, Pose, SimCommand
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track import Track
from trailbrake.transport import pad_report, rendezvous
from trailbrake.transport.client_notices import ClientNotices
from trailbrake.transport.network_faults import FaultOptions, FaultyQueue
from trailbrake.transport.pad_report import NEUTRAL, PadButton
from trailbrake.transport.udp import Address, UdpSocket, parse_address
from trailbrake.units import G

FULL_STICK_LATERAL = 8.0  # m/s^2, lateral acceleration of a full stick at speed
FULL_STICK_S = 0.25  # s from centre to full
STANDING_SPEED = 0.3  # m/s
PRESSED_LEVEL = 0.05  # trigger level above which it counts as pressed
REVERSE_S = 0.3  # s that a trigger must be held at rest until the gearbox changes direction
PAD_TIMEOUT_S = 1.0  # s without a report after which the pad counts as neutral
REWIND_S = 3.0  # s that one press of Y rewinds
_REWIND_BUFFER_S = 30.0  # s that can be rewound
_MAX_REPORTS_PER_TICK = 128  # a pad sends a few; so that a flooded port does not hold a tick
_LOOKUP_EVERY = 30  # ticks between look-ups of the link's port in the rendezvous folder
_QUANTUM_MS = 15.625  # resolution of the recorded session's clock (section 3.2)
_CLUTCH_OPEN = 0.99  # clutch above which a moving car has no gear engaged
_ROLLING_SPEED = 1.0  # m/s
FULL_BRAKE_GAIN = 1.0  # 1/s: extra deceleration of the reference per m/s above its speed


def cornering_compliance(tyre: Tyre) -> float:
    """Return the slip angle (rad) of an axle per m/s^2 of lateral acceleration, for small angles.

    The slope of the Magic Formula at 0 is D * B * C per normalised slip, here with D = mu * load: the load drops out.
    """
    return math.tan(tyre.peak_slip_angle) / (G * tyre.mu_y * tyre.stiffness_factor * tyre.shape)


class PadSteering:
    """Computes the steer (share of full lock, positive left) from the stick.

    Args:
        car: supplies lock, wheelbase and tyres.
        fades: whether the range shrinks with speed and the stick is rate-limited; else the stick is the steer.
    """

    def __init__(self, car: CarParams, *, fades: bool) -> None:
        self._max_angle, self._wheelbase, self._fades = car.steering.max_angle, car.body.wheelbase, fades
        self._understeer = cornering_compliance(car.tyre_front) - cornering_compliance(car.tyre_rear)
        self._stick = 0.0

    def max_steer(self, speed: float) -> float:
        """Return the steer of a full stick at `speed` (m/s): FULL_STICK_LATERAL by the linear single-track model."""
        turn = FULL_STICK_LATERAL * self._wheelbase / max(speed * speed, 1e-6)
        # A car that oversteers needs less than the kinematic angle, here at least half of it.
        return min(1.0, max(turn + FULL_STICK_LATERAL * self._understeer, 0.5 * turn) / self._max_angle)

    def filter_stick(self, stick: float, speed: float, dt: float) -> float:
        """Return the steer for a stick (-1..1, positive left) that is held for `dt` s at `speed` m/s."""
        if not self._fades:
            return stick
        reach = dt / FULL_STICK_S
        self._stick += max(-reach, min(reach, stick - self._stick))
        return self._stick * self.max_steer(speed)


class AutomaticReverse:
    """The automatic gearbox's choice between forward and reverse, and the pedals that follow from the triggers.

    Attributes:
        in_reverse: whether reverse is engaged.
    """

    def __init__(self) -> None:
        self.in_reverse = False
        self._held_s = 0.0

    def map_triggers(self, throttle: float, brake: float, speed: float, dt: float) -> tuple[float, float]:
        """Return (throttle, brake) of the car.

        Args:
            throttle: right trigger, 0..1.
            brake: left trigger, 0..1.
            speed: m/s over the ground.
            dt: s since the last call.
        """
        forward, backward = (brake, throttle) if self.in_reverse else (throttle, brake)
        reversing = speed < STANDING_SPEED and backward > PRESSED_LEVEL and forward <= PRESSED_LEVEL
        self._held_s = self._held_s + dt if reversing else 0.0
        if self._held_s >= REVERSE_S:
            self.in_reverse, self._held_s = not self.in_reverse, 0.0
            forward, backward = backward, forward
        return forward, backward


class _RaceLaps(NamedTuple):
    """What the wire shows of laps. Its clock is the race's, which a rewind sets back.

    Attributes:
        completed: laps.
        last_lap_time: s; 0 before one.
        best_lap_time: s, of valid laps without a rewind; NaN before one.
        start: s of the race clock at which the lap under way began.
    """

    completed: int = 0
    last_lap_time: float = 0.0
    best_lap_time: float = math.nan
    start: float = 0.0


class _RaceMoment(NamedTuple):
    """A moment to which the race can be set back: race clock, s; pose; distance driven, m; laps."""

    race_s: float
    pose: Pose
    distance: float
    laps: _RaceLaps


class Host:
    """Serves the car of `plant`.

    Args:
        plant: the world, one car; its period is that of the datagrams.
        options: options of `serve forza`.
        doors: rendezvous folder in which host and link publish their ports; None = the public ports.
    """

    def __init__(self, plant: RoadPlant, options: spec.ServeOptions | None = None, *, doors: Doors = None) -> None:
        options = options or spec.ServeOptions()
        spec.host_period(options)
        if not 0.0 <= options.dead_zone < 1.0:
            raise UsageError("no dead zone", where="--dead-zone", expected="0 to below 1", got=f"{options.dead_zone:g}")
        self._plant, self._options, self._doors = plant, options, doors
        self._car = plant.cars[0]
        self._format = codec.ALIASES.get(options.format, options.format)
        self._targets: list[Address] = []
        if doors is None:
            self._targets = [parse_address(part.strip(), where="--send") for part in options.send.split(",")]
        self._steering = PadSteering(self._car, fades=options.steering == "pad")
        self._direction = AutomaticReverse()
        self._turbo = TurboPressure(self._car.engine)
        self._track_ordinal = convert.name_ordinal(plant.track.name)
        self._faults = FaultyQueue(
            FaultOptions(loss=options.loss, duplicate=options.duplicate, reorder=options.reorder, delay=options.delay,
                         jitter=options.jitter)
        )  # fmt: skip
        self._road_sensor: RoadsideSensor | None = None
        waiting = f"no pad report has come to 127.0.0.1:{options.pad_port} yet; telemetry goes to {options.send}"
        self._notices = ClientNotices(spec.NAME, waiting if doors is None else "")
        self._telemetry_socket: UdpSocket | None = None
        self._pad_socket: UdpSocket | None = None
        self._report = NEUTRAL
        self._reported_at: float | None = None  # time of the newest report
        self._stick = 0.0
        self._state = plant.car_state(0)
        self._session_s = options.clock / 1000.0
        self._gear = 1
        self._start_race()
        self._is_driving = True
        self._ticks = 0
        self._counts = dict.fromkeys(
            ("messages_in", "messages_out", "bytes_in", "bytes_out", "rejected", "superseded", "pad_silent", "rewinds"),
            0,
        )

    def _start_race(self) -> None:
        self._race_s = self._distance = 0.0
        self._laps = _RaceLaps(start=-self._state.lap_time)
        self._crossed_at = self._state.time - self._state.lap_time  # s of the plant's clock, of the line
        self._rewind_buffer: deque[_RaceMoment] = deque(maxlen=round(_REWIND_BUFFER_S / self._plant.period))

    @staticmethod
    def stick_options(options: spec.ServeOptions) -> spec.ServeOptions:
        """Return the options with the games' steering, for a driver whose steer is the position of a stick."""
        return replace(options, steering="pad")

    @property
    def pad_port(self) -> int:
        """The port that receives pad reports; only while open."""
        assert self._pad_socket is not None
        return self._pad_socket.port

    def open(self, now: float) -> None:
        """Open the sockets; SimulatorError if another host has the pad's port."""
        if abs(self._plant.period / spec.host_period(self._options) - 1.0) > 0.01:
            raise SimulatorError(
                "the world's period is not that of the datagrams",
                expected=f"{spec.host_period(self._options):g} s", got=f"{self._plant.period:g} s",
            )  # fmt: skip
        self._road_sensor = RoadsideSensor(self._plant.track, self._car, self._options.ndl)
        port = self._options.pad_port if self._doors is None else 0
        self._pad_socket = UdpSocket(("127.0.0.1", port), where="--pad-port")
        # Telemetry has its own socket: a socket bound to 127.0.0.1 cannot send to other machines.
        self._telemetry_socket = UdpSocket(("0.0.0.0" if self._doors is None else "127.0.0.1", 0), where="--send")
        if self._doors is not None:
            rendezvous.publish_port(self._doors, spec.PAD_RENDEZVOUS, self._pad_socket.port)

    def tick(self, now: float) -> None:
        """Receive the newest pad report, step the plant once unless paused, and send a datagram."""
        assert self._pad_socket is not None
        assert self._telemetry_socket is not None
        if self._doors is not None and self._ticks % _LOOKUP_EVERY == 0:
            port = rendezvous.lookup_port(self._doors, spec.TELEMETRY_RENDEZVOUS)
            self._targets = [] if port is None else [("127.0.0.1", port)]
        self._ticks += 1
        self._receive_reports(now)
        period = self._plant.period
        self._session_s += period
        if self._is_driving:
            state = self._state
            stick = convert.stick_from_wire(self._report, self._options.dead_zone)
            self._stick = stick
            controls = convert.controls_from_wire(self._report, self._steering.filter_stick(stick, state.speed, period))
            controls.throttle, controls.brake = self._direction.map_triggers(
                controls.throttle, controls.brake, state.speed, period
            )
            controls.gear = -1 if self._direction.in_reverse else None
            self._plant.step([controls])
            self._state = state = self._plant.car_state(0)
            self._turbo.update(state.throttle, period)
            self._race_s += period
            self._distance += state.speed * period
            self._count_lap(state)
            pose = Pose(state.x, state.y, state.z, state.yaw)
            self._rewind_buffer.append(_RaceMoment(self._race_s, pose, self._distance, self._laps))
        data = self._encode_datagram()
        if data is not None:
            self._faults.push(data, now)
        for arrived in self._faults.pop(now):
            for target in self._targets:
                self._telemetry_socket.send(arrived, target)
                self._counts["messages_out"] += 1
                self._counts["bytes_out"] += len(arrived)

    def _count_lap(self, state: CarState) -> None:
        """Count a lap if the plant's lap clock has restarted at the line, and show the race's laps in the state."""
        crossed_at, laps = state.time - state.lap_time, self._laps
        if crossed_at > self._crossed_at + 1e-6:  # beyond rounding
            start = self._race_s - state.lap_time
            last, known = start - laps.start, self._plant.laps(0)[-1:]
            best = min((lap.time_s for lap in known if lap.valid and abs(lap.time_s - last) < 1e-3), default=math.nan)
            best = laps.best_lap_time if best != best or laps.best_lap_time <= best else best
            self._laps = _RaceLaps(laps.completed + 1, last, best, start)
            self._crossed_at = crossed_at
        state.lap_time, state.best_lap_time = self._race_s - self._laps.start, self._laps.best_lap_time

    # ---- Pad in ----

    def _receive_reports(self, now: float) -> None:
        assert self._pad_socket is not None
        pressed = 0  # buttons since the last tick
        for _ in range(_MAX_REPORTS_PER_TICK):
            got = self._pad_socket.receive()
            if got is None:
                break
            data = got[0]
            self._counts["messages_in"] += 1
            self._counts["bytes_in"] += len(data)
            try:
                report = pad_report.decode_report(data)
            except WireError as error:
                self._counts["rejected"] += 1
                self._notices.note_unreadable(str(error), f"{got[1][0]}:{got[1][1]}")
                continue
            if self._reported_at == now:
                self._counts["superseded"] += 1
            self._notices.note_sender(got[1])
            pressed |= report.buttons & ~self._report.buttons
            self._report, self._reported_at = report, now
        if pressed:
            self._handle_buttons(pressed)
        if self._reported_at is not None and now - self._reported_at >= PAD_TIMEOUT_S:
            self._reported_at, self._report = None, NEUTRAL
            self._counts["pad_silent"] += 1
        if self._counts["messages_in"] == 0:
            self._notices.note_waiting(now)

    def _handle_buttons(self, pressed: int) -> None:
        """Act on newly pressed buttons, on each once a tick: to rewind takes longer than to receive."""
        if pressed & PadButton.START:
            self.apply_command(SimCommand(pause=self._is_driving))
        if pressed & PadButton.Y:
            self.rewind_race()

    # ---- Race ----

    def apply_command(self, command: SimCommand) -> None:
        """Pause or resume, restart the race, or teleport the car."""
        if command.pause is not None:
            self._is_driving = not command.pause
        if command.restart or command.to_pits or command.teleport is not None:
            self._plant.execute_command(0, command)
            self._state = state = self._plant.car_state(0)
            self._direction = AutomaticReverse()
            if command.restart:
                self._start_race()
            elif command.to_pits:
                self._laps = self._laps._replace(start=self._race_s)
            self._crossed_at = state.time - state.lap_time
            state.lap_time, state.best_lap_time = self._race_s - self._laps.start, self._laps.best_lap_time

    def rewind_race(self, seconds: float = REWIND_S) -> None:
        """Set car, race clock and laps back by `seconds`, at standstill. The session's clock runs on."""
        wanted = self._race_s - seconds
        while len(self._rewind_buffer) > 1 and self._rewind_buffer[-1].race_s > wanted:
            self._rewind_buffer.pop()
        if self._rewind_buffer:
            self._race_s, pose, self._distance, self._laps = self._rewind_buffer[-1]
            self.apply_command(SimCommand(teleport=pose))
            self._counts["rewinds"] += 1

    # ---- Telemetry out ----

    def _encode_datagram(self) -> bytes | None:
        options = self._options
        ms = self._session_s * 1000.0 + 1e-6  # whole ms stay whole
        clock = int(ms // _QUANTUM_MS * _QUANTUM_MS if options.preset == "fh5" else ms) & 0xFFFFFFFF
        if not self._is_driving:
            if options.preset == "fh6":
                return None
            return codec.encode_packet(convert.make_paused_packet(clock, self._format))
        assert self._road_sensor is not None
        state = self._state
        side = self._road_sensor.sense_road(state)
        status = RaceStatus(
            timestamp_ms=clock,
            race_time=self._race_s,
            distance=self._distance,
            last_lap=self._laps.last_lap_time,
            laps=self._laps.completed,
            position=1,
            line=convert.line_to_wire(side.line, options.ndl_wrap),
            ai_brake=side.ai_brake,
            strips=side.strips,
            gear=self._wire_gear(state),
            stick=self._stick,
            turbo_share=self._turbo.share,
            track_ordinal=self._track_ordinal,
        )
        return codec.encode_packet(convert.state_to_wire(state, self._car, status, self._format))

    def _wire_gear(self, state: CarState) -> int:
        """Return the wire's gear: 0 is reverse; neutral has no code, so that the gear before it stays."""
        if state.gear:
            self._gear = max(state.gear, 0)
        if self._options.preset == "fh6" and state.clutch > _CLUTCH_OPEN and state.speed > _ROLLING_SPEED:
            return spec.SHIFTING
        return self._gear

    def read_counters(self) -> dict[str, Any]:
        """Return counts of messages and bytes, of rejected and superseded reports, and of simulated network faults."""
        faults = {"lost": self._faults.lost, "duplicated": self._faults.duplicated, "reordered": self._faults.reordered}
        return {**self._counts, **faults, "unsent": self._telemetry_socket.unsent if self._telemetry_socket else 0}

    def close(self) -> None:
        """Close the sockets."""
        for udp in (self._pad_socket, self._telemetry_socket):
            if udp is not None:
                udp.close()
        if self._doors is not None:
            rendezvous.withdraw_port(self._doors, spec.PAD_RENDEZVOUS)


class Roadside(NamedTuple):
    """The road fields at one position.

    Attributes:
        line: distance from the driving line over half the road's width, positive left; not limited.
        ai_brake: brake of the reference minus brake of the player, -1..1.
        strips: whether each wheel is on a rumble strip.
    """

    line: float = 0.0
    ai_brake: float = 0.0
    strips: tuple[bool, bool, bool, bool] = (False, False, False, False)


class RoadsideSensor:
    """Computes the road fields for one car.

    Args:
        track: the track of the car.
        car: for the racing line and its speeds.
        ndl: driving line: "centre" of the road, "racing" line (planning it takes a second), or "off" as in free roam.
    """

    def __init__(self, track: Track, car: CarParams, ndl: str) -> None:
        self._road, self._ndl = track.road, ndl
        self._wheel_rows = [-1] * 4
        self._row = self._line_row = -1
        self._line: Road = self._road
        self._speeds = self._accelerations = None
        if ndl == "racing":
            course = Course(track, car)
            self._line, self._full_deceleration = course.line, car.full_brake_force / car.body.mass
            self._speeds, self._accelerations = course.profile.speed, course.profile.acceleration

    def sense_road(self, state: CarState) -> Roadside:
        """Return the road fields at the position of `state`."""
        road = self._road
        table = road.table
        _, offset, self._row = road.locate(state.x, state.y, self._row)
        half = 0.5 * float(table[self._row, RoadColumn.WIDTH_LEFT] + table[self._row, RoadColumn.WIDTH_RIGHT])
        middle = 0.5 * float(table[self._row, RoadColumn.WIDTH_LEFT] - table[self._row, RoadColumn.WIDTH_RIGHT])
        strips = tuple(self._is_on_strip(i, wheel.x, wheel.y) for i, wheel in enumerate(state.wheels))
        if self._ndl == "off":
            return Roadside(strips=strips)  # type: ignore[arg-type]
        ai_brake = 0.0
        if self._speeds is None or self._accelerations is None:
            offset -= middle  # from the road's reference line to the middle between its edges
        else:
            line = self._line
            _, offset, self._line_row = line.locate(state.x, state.y, self._line_row)
            i = min(self._line_row, len(self._speeds) - 1)
            wanted = self._accelerations[i] + FULL_BRAKE_GAIN * (self._speeds[i] - state.speed)
            ai_brake = max(0.0, min(1.0, -float(wanted) / self._full_deceleration)) - state.brake
        return Roadside(offset / half, ai_brake, strips)  # type: ignore[arg-type]

    def _is_on_strip(self, wheel: int, x: float, y: float) -> bool:
        if x != x:  # NaN: unknown
            return False
        road = self._road
        _, offset, row = road.locate(x, y, self._wheel_rows[wheel])
        self._wheel_rows[wheel] = row
        at = road.table[row]
        left, right = offset - at[RoadColumn.WIDTH_LEFT], -offset - at[RoadColumn.WIDTH_RIGHT]
        return bool(0.0 < left <= at[RoadColumn.KERB_LEFT] or 0.0 < right <= at[RoadColumn.KERB_RIGHT])
