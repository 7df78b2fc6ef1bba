"""Packets of the Forza wire <-> CarState, and pad reports <-> Controls. Only this module changes signs and units.

Source: protocol page forza-data-out, section 3. Axes: `frames.py`. The page does not say which point `Position` is;
both directions assume the centre of mass.
"""

import math
import zlib
from functools import lru_cache
from typing import NamedTuple

from trailbrake.cars.drivetrain import Engine
from trailbrake.cars.params import CarParams, Tyre
from trailbrake.frames import Vector, left_handed_from_iso, left_handed_from_turn, up_vector
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, MotorsportBlock, Sled
from trailbrake.sims.forza.codec import SLED_SUBSET_SIZE, TAIL, Packet, StateSubset
from trailbrake.sims.forza.spec import SHIFTING
from trailbrake.state import CarState, Controls, Phase, WheelState
from trailbrake.state.fields import compile_record_calls
from trailbrake.transport import pad_report
from trailbrake.transport.pad_report import PadButton, PadReport
from trailbrake.units import FAHRENHEIT_PER_CELSIUS, FREEZING_F, PSI, RPM, fahrenheit_from_celsius

NAN = math.nan
DRIVING = Phase.DRIVING
STEER_MAX = 127  # largest value of the s8 fields; -128 counts as -127
PEDAL_MAX = 255
LINE_MAX = 127
ATMOSPHERE = 101_325.0  # Pa, standard; `Boost` of a closed throttle is minus this
_DRIVETRAINS = {"fwd": 0, "rwd": 1, "awd": 2}
# Largest performance index of each class but the last (section 3.7).
CLASS_LIMITS = {"horizon": (500, 600, 700, 800, 900, 998), "motorsport": (300, 400, 500, 600, 700, 800, 900, 998)}
PI_PER_W_KG = 2.6  # our fit: a GT3 car with about 300 W/kg gets an index near 880
STANDING = 0.5  # m/s below which the automatic gearbox takes a held brake for a request to reverse
_RUMBLE_ON_STRIP, _RUMBLE_OFF_TRACK = 0.12, 0.6  # SurfaceRumble of the recorded session (section 3.8)


# ---- Game to client ------------------------------------------------------------------------------------------


@compile_record_calls
def state_from_wire(subset: StateSubset, time: float = NAN, sequence: int = -1) -> CarState:
    """Return the CarState of a packet; fields that its format does not have are NaN or None.

    Gear 11, which FH6 sends while it shifts, is None here; `TelemetryStream` repeats the gear before it.

    Args:
        subset: the packet's fields, from `codec.decode_state_subset` or `codec.select_state_subset`; with IsRaceOn 0
            the other fields have no meaning.
        time: s of simulator time; see `telemetry_stream.PacketClock`.
        sequence: number of the sample.
    """
    # The axis map is written out instead of calling `frames`: this runs for every datagram. The tests compare both.
    if len(subset) == SLED_SUBSET_SIZE:
        return _state_from_sled(subset, time, sequence)
    (
        _, _, max_rpm, rpm, ax, ay, az, vx, vy, vz, wx, wy, wz, yaw, pitch, roll, spin_fl, spin_fr, spin_rl, spin_rr,
        slip_fl, slip_fr, slip_rl, slip_rr, px, py, pz, speed, temp_fl, temp_fr, temp_rl, temp_rr, fuel, best,
        lap_time, _, laps, throttle, brake, clutch, handbrake, gear, steer, line,
    ) = subset  # fmt: skip
    return CarState(
        time=time,
        sequence=sequence,
        age=NAN,
        phase=DRIVING,
        x=pz,
        y=-px,
        z=py,
        yaw=-yaw,
        pitch=pitch,
        roll=-roll,
        speed=speed,
        velocity_x=vz,
        velocity_y=-vx,
        velocity_z=vy,
        acceleration_x=az,
        acceleration_y=-ax,
        acceleration_z=ay,
        roll_rate=-wz,
        pitch_rate=wx,
        yaw_rate=-wy,
        steer=-steer / STEER_MAX if steer > -STEER_MAX else 1.0,
        throttle=throttle / PEDAL_MAX,
        brake=brake / PEDAL_MAX,
        clutch=clutch / PEDAL_MAX,
        handbrake=handbrake / PEDAL_MAX,
        gear=None if gear == SHIFTING else gear or -1,
        engine_speed=rpm * RPM,
        max_engine_speed=max_rpm * RPM,
        fuel=fuel,
        lap=laps + 1.0,
        lap_time=lap_time,
        best_lap_time=best if best > 0.0 else NAN,  # 0 and less before the first
        driving_line=line / LINE_MAX if line > -LINE_MAX else -1.0,
        wheels=[
            WheelState(
                angular_velocity=spin_fl, combined_slip=slip_fl,
                core_temperature=(temp_fl - FREEZING_F) / FAHRENHEIT_PER_CELSIUS,
            ),
            WheelState(
                angular_velocity=spin_fr, combined_slip=slip_fr,
                core_temperature=(temp_fr - FREEZING_F) / FAHRENHEIT_PER_CELSIUS,
            ),
            WheelState(
                angular_velocity=spin_rl, combined_slip=slip_rl,
                core_temperature=(temp_rl - FREEZING_F) / FAHRENHEIT_PER_CELSIUS,
            ),
            WheelState(
                angular_velocity=spin_rr, combined_slip=slip_rr,
                core_temperature=(temp_rr - FREEZING_F) / FAHRENHEIT_PER_CELSIUS,
            ),
        ],
    )  # fmt: skip


def _state_from_sled(subset: StateSubset, time: float, sequence: int) -> CarState:
    """Return the CarState of a packet without a dash: no position, pedals, gear or laps."""
    vx, vy, vz = subset[7:10]
    speed = math.sqrt(vx * vx + vy * vy + vz * vz)
    dash = (NAN, NAN, NAN, speed, *[NAN] * 7, 0.0, *[NAN] * 5, SHIFTING, NAN, NAN)
    state = state_from_wire((*subset, *dash), time, sequence)
    state.y = state.steer = state.driving_line = NAN
    return state


class RaceStatus(NamedTuple):
    """The fields of a packet that do not describe the car: clocks, laps and the road.

    Attributes:
        timestamp_ms: clock of the session, ms; wraps at 2^32.
        race_time: s since the start of the race.
        distance: m driven.
        last_lap: s; 0 = none.
        laps: number of completed laps.
        position: rank; 0 = no race.
        line: NormalizedDrivingLine, from `line_to_wire`.
        ai_brake: brake of the reference minus brake of the player, -1..1.
        strips: whether each wheel is on a rumble strip.
        gear: the wire's gear.
        stick: position of the stick after the dead zone, -1..1, positive left.
        turbo_share: share of the turbocharger's pressure that has built up.
        track_ordinal: number of the track.
    """

    timestamp_ms: int = 0
    race_time: float = 0.0
    distance: float = 0.0
    last_lap: float = 0.0
    laps: int = 0
    position: int = 1
    line: int = 0
    ai_brake: float = 0.0
    strips: tuple[bool, bool, bool, bool] = (False, False, False, False)
    gear: int = 1
    stick: float = NAN
    turbo_share: float = 0.0
    track_ordinal: int = 0


def make_paused_packet(timestamp_ms: int, form: str) -> Packet:
    """Return the packet that a title sends in menus: IsRaceOn 0, the clock, and zeros."""
    return _assemble_packet(Sled(timestamp_ms=timestamp_ms), Dash(), MotorsportBlock(), form)


def state_to_wire(state: CarState, car: CarParams, status: RaceStatus, form: str = "fh") -> Packet:
    """Return the packet that a title would send of `state`. Fields that the state does not supply (NaN) are 0.

    The relations that section 3.8 of the page found in a real recording hold: speed is the length of the velocity,
    power is torque times engine speed, combined slip is the length of (slip ratio, slip angle), and the suspension
    travel in m matches the normalised one.

    Args:
        state: of the car.
        car: supplies engine, tyres and suspension, for fields of the wire that CarState does not have.
        status: the fields that do not describe the car.
        form: sled, dash, fh or fm2023.
    """
    sled, dash = _sled_to_wire(state, car, status, form), _dash_to_wire(state, car, status)
    wear = [min(max(_zero_if_nan(wheel.wear), 0.0), 1.0) for wheel in state.wheels]
    extra = MotorsportBlock._make((*wear, status.track_ordinal))
    return _assemble_packet(sled, dash, extra, form)


def _sled_to_wire(s: CarState, car: CarParams, status: RaceStatus, form: str) -> Sled:
    pitch, yaw, roll = left_handed_from_turn(_zeros_if_nan(s.roll, s.pitch, s.yaw))
    tyres = (car.tyre_front, car.tyre_front, car.tyre_rear, car.tyre_rear)
    ratios, angles, combined = zip(*map(_slips_to_wire, s.wheels, tyres), strict=True)
    shares, travels = zip(*_suspension_travels(s, car), strict=True)
    return Sled._make((  # in the order of its fields: their names would take most of the time, for every datagram
        1, status.timestamp_ms & 0xFFFFFFFF,
        car.engine.limiter_rpm, car.engine.idle_rpm, _zero_if_nan(s.engine_speed) / RPM,
        *left_handed_from_iso(_zeros_if_nan(s.acceleration_x, s.acceleration_y, s.acceleration_z)),
        *_velocity_to_wire(s),
        *left_handed_from_turn(_zeros_if_nan(s.roll_rate, s.pitch_rate, s.yaw_rate)),
        yaw, pitch, roll, *shares, *ratios,
        *[_zero_if_nan(wheel.angular_velocity) for wheel in s.wheels],
        *map(int, status.strips),
        0.0, 0.0, 0.0, 0.0,  # puddles
        *map(_surface_rumble, s.wheels, status.strips),
        *angles, *combined, *travels, *_car_identity(car, form), 0,
    ))  # fmt: skip


def _dash_to_wire(s: CarState, car: CarParams, status: RaceStatus) -> Dash:
    torque = _engine_torque(s, car, status.turbo_share)
    throttle = max(0.0, min(1.0, _zero_if_nan(s.throttle)))
    fl, fr, rl, rr = (
        0.0 if math.isnan(wheel.core_temperature) else fahrenheit_from_celsius(wheel.core_temperature)
        for wheel in s.wheels
    )
    return Dash(
        *left_handed_from_iso((s.x, s.y, s.z)),
        math.hypot(*_velocity_to_wire(s)),
        torque * _zero_if_nan(s.engine_speed),
        torque,
        *(fl, fr, rl, rr),
        boost=boost_pressure(car.engine, throttle, status.turbo_share) / PSI,
        fuel=_zero_if_nan(s.fuel_litres) / car.fuel.capacity,
        dist_traveled=status.distance,
        best_lap_time=_zero_if_nan(s.best_lap_time),
        last_lap_time=status.last_lap,
        cur_lap_time=_zero_if_nan(s.lap_time),
        cur_race_time=status.race_time,
        lap_no=status.laps & 0xFFFF,
        race_pos=status.position,
        accel=_pedal_to_wire(s.throttle),
        brake=_pedal_to_wire(s.brake),
        clutch=_pedal_to_wire(s.clutch),
        handbrake=_pedal_to_wire(s.handbrake),
        gear=status.gear,
        steer=-round(_zero_if_nan(status.stick) * STEER_MAX),
        norm_driving_line=status.line,
        norm_ai_brake_diff=round(max(-1.0, min(1.0, status.ai_brake)) * LINE_MAX),
    )


def _velocity_to_wire(s: CarState) -> Vector:
    return left_handed_from_iso(_zeros_if_nan(s.velocity_x, s.velocity_y, s.velocity_z))


def _assemble_packet(sled: Sled, dash: Dash, extra: MotorsportBlock, form: str) -> Packet:
    """Return the packet of a format, made of those blocks that it has."""
    if form == "sled":
        return Packet(sled)
    if form == "dash":
        return Packet(sled, dash=dash)
    return Packet(sled, dash=dash, extra=extra) if form == "fm2023" else Packet(sled, HorizonBlock(), dash, tail=TAIL)


def _zero_if_nan(value: float) -> float:
    return value if value == value else 0.0  # NaN differs from itself


def _zeros_if_nan(x: float, y: float, z: float) -> Vector:
    return _zero_if_nan(x), _zero_if_nan(y), _zero_if_nan(z)


def _pedal_to_wire(value: float) -> int:
    return round(max(0.0, min(1.0, _zero_if_nan(value))) * PEDAL_MAX)


class _WireSlips(NamedTuple):
    """A wheel's slips on the wire: 1 is the tyre's slip at the peak of grip."""

    ratio: float
    angle: float
    combined: float


def _slips_to_wire(wheel: WheelState, tyre: Tyre) -> _WireSlips:
    """Return slip ratio and slip angle over those of the tyre at its peak of grip, and both combined.

    The wire's slip angle has the sign opposite to the wire's lateral velocity, which is positive to the right. So it
    has the sign of ISO 8855.
    """
    ratio = _zero_if_nan(wheel.slip_ratio) / tyre.peak_slip_ratio
    angle = math.tan(_zero_if_nan(wheel.slip_angle)) / math.tan(tyre.peak_slip_angle)
    return _WireSlips(ratio, angle, math.hypot(ratio, angle))


def _suspension_travels(s: CarState, car: CarParams) -> list[tuple[float, float]]:
    """Return each wheel's compression as a share of its travel (0 full droop, 1 at the bump stop) and in m.

    The height of the centre of mass over the wheel's contact point, along the body's z axis, is its height at rest
    minus the compression of spring and tyre.
    """
    up = up_vector(*_zeros_if_nan(s.yaw, s.pitch, s.roll))
    travels = []
    for index, wheel in enumerate(s.wheels):
        links = car.suspension_front if index < 2 else car.suspension_rear
        height = (s.x - wheel.x) * up[0] + (s.y - wheel.y) * up[1] + (s.z - wheel.z) * up[2]
        span = links.bump_travel + links.droop_travel
        share = (_zero_if_nan(car.body.cg_height - height) + links.droop_travel) / span
        share = max(0.0, min(1.0, share))
        travels.append((share, share * span - links.droop_travel))
    return travels


def _engine_torque(s: CarState, car: CarParams, turbo_share: float) -> float:
    """Return the engine's torque, N m, positive drives; the drag is constant below idle and above the limiter."""
    engine = car.engine
    rpm = _zero_if_nan(s.engine_speed) / RPM
    throttle = max(0.0, min(1.0, _zero_if_nan(s.throttle)))
    drag = engine.drag_torque(max(engine.idle_rpm, min(engine.limiter_rpm, rpm)))
    air = 1.0 - engine.turbo_share + engine.turbo_share * turbo_share
    return throttle * engine.full_torque(rpm) * air - (1.0 - throttle) * drag


def _surface_rumble(wheel: WheelState, strip: bool) -> float:
    """Return SurfaceRumble on a rumble strip, off the track (unknown counts as on it) or on the road."""
    if strip:
        return _RUMBLE_ON_STRIP
    return _RUMBLE_OFF_TRACK if wheel.on_track < 0.5 else 0.0


@lru_cache
def _car_identity(car: CarParams, form: str) -> tuple[int, int, int, int]:
    """Return ordinal, class, performance index and drivetrain.

    The ordinal is a hash of the name, so that it is stable. The index is linear in power over mass, fitted so that a
    GT3 car gets about the index of the games; the title's table gives the class of an index (section 3.7).
    """
    power = car.engine.peak_power + (car.hybrid.power if car.hybrid else 0.0)
    index = max(100, min(999, round(100.0 + PI_PER_W_KG * power / car.body.mass)))
    limits = CLASS_LIMITS["horizon" if form == "fh" else "motorsport"]
    return name_ordinal(car.name), sum(index > limit for limit in limits), index, _DRIVETRAINS[car.drive.layout]


def name_ordinal(name: str) -> int:
    """Return a stable number for the name of a car or a track: a hash."""
    return zlib.crc32(name.encode()) & 0x7FFF


def line_to_wire(offset: float, wrap: bool) -> int:
    """Return NormalizedDrivingLine (section 3.4) for an offset from the line.

    Args:
        offset: distance from the line over half the width of the road, positive left; 1 is the edge.
        wrap: beyond the edge the value overflows as a signed byte, instead of stopping at its largest.
    """
    value = round(LINE_MAX * _zero_if_nan(offset))
    return (value + 128) % 256 - 128 if wrap else max(-LINE_MAX, min(LINE_MAX, value))


# ---- Client to game ------------------------------------------------------------------------------------------


def controls_to_wire(controls: Controls, gear: int | None = None, speed: float = NAN) -> PadReport:
    """Return the pad's report for `controls`; neutral if steer, throttle or brake is NaN.

    The stick is `steer`. The game's automatic gearbox chooses the gear; it reverses when the brake is held at rest.
    Therefore the handbrake holds a car at rest, and `controls.gear` of -1 holds the brake to reverse.

    Args:
        controls: of the driver.
        gear: present gear; None = unknown.
        speed: m/s; NaN = unknown.
    """
    throttle, brake = controls.throttle, controls.brake
    handbrake = controls.handbrake > 0.5
    if controls.gear == -1:  # the left trigger brakes, then drives backwards
        throttle, brake = (brake, throttle) if gear == -1 else (0.0, max(throttle, brake))
    elif gear == -1:  # the right trigger brakes, then drives forwards
        throttle, brake = max(throttle, brake), 0.0
    elif speed < STANDING and throttle <= 0.0 < brake:
        brake, handbrake = 0.0, True
    return pad_report.driving_report(-controls.steer, throttle, brake, PadButton.A if handbrake else 0)


def stick_from_wire(report: PadReport, dead_zone: float = 0.0) -> float:
    """Return the left stick, -1..1, positive left as our steer, with the range beyond the dead zone scaled to 1."""
    x = max(-1.0, report.left_x / pad_report.AXIS_MAX)
    size = abs(x)
    return 0.0 if size <= dead_zone else -math.copysign((size - dead_zone) / (1.0 - dead_zone), x)


def controls_from_wire(report: PadReport, steer: float) -> Controls:
    """Return the controls of a pad's report; `steer` (share of lock, positive left) follows from the stick."""
    return Controls(
        steer=steer,
        throttle=report.right_trigger / pad_report.TRIGGER_MAX,
        brake=report.left_trigger / pad_report.TRIGGER_MAX,
        handbrake=float(bool(report.buttons & PadButton.A)),
    )


class TurboPressure:
    """Follows the turbocharger of an engine.

    Args:
        engine: of the car.

    Attributes:
        share: 0..1, of its pressure that has built up; 0 without a turbocharger.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.share = 0.0

    def update(self, throttle: float, dt: float) -> None:
        """Let `dt` s pass at a throttle of 0..1."""
        lag = self._engine.turbo_lag
        if lag > 0.0:
            self.share += (throttle - self.share) * dt / (lag + dt)


def boost_pressure(engine: Engine, throttle: float, turbo_share: float) -> float:
    """Return the pressure above the atmosphere, Pa.

    Args:
        engine: of the car.
        throttle: 0..1.
        turbo_share: `TurboPressure.share`.
    """
    gain = engine.turbo_share / (1.0 - engine.turbo_share) if engine.turbo_share < 1.0 else 1.0
    return throttle * ATMOSPHERE * (1.0 + gain * turbo_share) - ATMOSPHERE
