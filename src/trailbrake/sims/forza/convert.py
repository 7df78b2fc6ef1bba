"""Packets of the Forza wire <-> our state, and pad reports <-> controls: the only place where signs and units change.

Source: protocol page forza-data-out, section 3. Axes: `trailbrake.frames`. Assumed alike in both directions, since the
page leaves it open: `Position` is the centre of mass; wheel speeds and slips need no more than the page says.
"""

import math
import zlib
from typing import NamedTuple

from trailbrake.cars.params import CarParams, Tyre, interpolate
from trailbrake.frames import forza_from_iso, forza_from_turn, up_vector
from trailbrake.sims.forza.blocks import Dash, Extra, Gap, Sled
from trailbrake.sims.forza.codec import NO_DASH, TAIL, Packet, Seen, seen
from trailbrake.sims.forza.spec import SHIFTING
from trailbrake.state import CarState, Controls, Phase, WheelState
from trailbrake.transport import pad_report
from trailbrake.transport.pad_report import Button, PadReport
from trailbrake.units import FAHRENHEIT_PER_CELSIUS, FREEZING_F, PSI, RPM, fahrenheit_from_celsius

NAN = math.nan
DRIVING = Phase.DRIVING
STEER_MAX = 127  # of the s8 fields; -128 is taken for -127
PEDAL_MAX = 255
LINE_MAX = 127
ATMOSPHERE = 101_325.0  # Pa, standard; a shut throttle shows that much below it
_DRIVETRAINS = {"fwd": 0, "rwd": 1, "awd": 2}
# Largest performance index of each class but the last (section 3.7).
CLASS_LIMITS = {
    "horizon": (500, 600, 700, 800, 900, 998),
    "motorsport": (300, 400, 500, 600, 700, 800, 900, 998),
}
PI_PER_W_KG = 2.6  # ours: puts a GT3 car, about 300 W/kg, near 880
STANDING = 0.5  # m/s below which a held brake is taken for a wish to go backwards
_RUMBLE_STRIP, _RUMBLE_OFF = 0.12, 0.6  # SurfaceRumble as the recorded session has it (section 3.8)


# ---- Game to client ------------------------------------------------------------------------------------------


def state_from_wire(packet: Packet, time: float = NAN, sequence: int = -1) -> CarState:
    """Return the state that `packet` tells; what its format does not have stays NaN or None.

    Gear 11, which FH6 tells while it shifts, is None here: the gear before it is the link's to remember.

    Args:
        packet: of a car that is driven: with IsRaceOn 0 the other fields mean nothing.
        time: s, by the packet's clock; see `clock.py`.
        sequence: number of the sample.
    """
    return state_from_seen(seen(packet), time, sequence)


def state_from_seen(numbers: Seen, time: float = NAN, sequence: int = -1) -> CarState:
    """Return the state that `numbers` tell, as `state_from_wire` does."""
    # Unpacked at one go and written out rather than by `frames`' functions: this runs for every datagram, and each
    # of the tests in test_convert.py compares it with those functions.
    n, wheel = NAN, WheelState
    if len(numbers) == NO_DASH:
        (
            _, _, rpm, ax, ay, az, vx, vy, vz, wx, wy, wz, yaw, pitch, roll, spin_fl, spin_fr, spin_rl, spin_rr,
            slip_fl, slip_fr, slip_rl, slip_rr,
        ) = numbers  # fmt: skip
        speed = math.sqrt(vx * vx + vy * vy + vz * vz)
        return CarState(
            time, sequence, n, DRIVING, n, n, n, -yaw, pitch, -roll, speed, vz, -vx, vy, az, -ax, ay,
            -wz, wx, -wy, engine_speed=rpm * RPM,
            wheels=[wheel(n, n, n, spin_fl, n, n, slip_fl), wheel(n, n, n, spin_fr, n, n, slip_fr),
                    wheel(n, n, n, spin_rl, n, n, slip_rl), wheel(n, n, n, spin_rr, n, n, slip_rr)],
        )  # fmt: skip
    (
        _, _, rpm, ax, ay, az, vx, vy, vz, wx, wy, wz, yaw, pitch, roll, spin_fl, spin_fr, spin_rl, spin_rr,
        slip_fl, slip_fr, slip_rl, slip_rr, px, py, pz, speed, temp_fl, temp_fr, temp_rl, temp_rr, best, lap_time, _,
        laps, throttle, brake, clutch, handbrake, gear, steer, line,
    ) = numbers  # fmt: skip
    return CarState(
        time, sequence, n, DRIVING, pz, -px, py, -yaw, pitch, -roll, speed, vz, -vx, vy, az, -ax, ay,
        -wz, wx, -wy,
        -steer / STEER_MAX if steer > -STEER_MAX else 1.0, n, throttle / PEDAL_MAX, brake / PEDAL_MAX,
        clutch / PEDAL_MAX, handbrake / PEDAL_MAX, None if gear == SHIFTING else gear or -1, rpm * RPM, n, n, n,
        laps + 1.0, lap_time, best or n, n, line / LINE_MAX if line > -LINE_MAX else -1.0, n, n,
        [wheel(n, n, n, spin_fl, n, n, slip_fl, n, n, n, (temp_fl - FREEZING_F) / FAHRENHEIT_PER_CELSIUS),
         wheel(n, n, n, spin_fr, n, n, slip_fr, n, n, n, (temp_fr - FREEZING_F) / FAHRENHEIT_PER_CELSIUS),
         wheel(n, n, n, spin_rl, n, n, slip_rl, n, n, n, (temp_rl - FREEZING_F) / FAHRENHEIT_PER_CELSIUS),
         wheel(n, n, n, spin_rr, n, n, slip_rr, n, n, n, (temp_rr - FREEZING_F) / FAHRENHEIT_PER_CELSIUS)],
    )  # fmt: skip


class Session(NamedTuple):
    """What a packet tells beside the car: clocks, laps and the road. Made by the host.

    Attributes:
        timestamp_ms: clock of the session, ms; wraps.
        race_time: s.
        distance: m driven.
        last_lap: s, 0 = none.
        laps: completed.
        position: rank, 0 = no race.
        line: NormalizedDrivingLine, see `line_to_wire`.
        ai_brake: brake that the reference would press less the player's, -1..1.
        strips: whether each wheel is on a rumble strip.
        gear: as the wire tells it.
        stick: the stick as the game took it, positive left.
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


def paused_packet(timestamp_ms: int, form: str) -> Packet:
    """Return what a title sends in menus: IsRaceOn 0, the clock, and nothing else."""
    return _framed(Sled(timestamp_ms=timestamp_ms), Dash(), Gap(), Extra(), form)


def state_to_wire(state: CarState, car: CarParams, session: Session, form: str = "fh") -> Packet:
    """Return what a title would send of `state`. What the state does not know is 0: the games send no NaN.

    The relations that the page's section 3.8 found in a real recording hold: speed is the length of the velocity,
    power is torque times engine speed, combined slip is made of the other two, travel in m goes with the normalised.
    """
    s = state
    velocity = forza_from_iso((_known(s.velocity_x), _known(s.velocity_y), _known(s.velocity_z)))
    wx, wy, wz = forza_from_turn((_known(s.roll_rate), _known(s.pitch_rate), _known(s.yaw_rate)))
    pitch, yaw, roll = forza_from_turn((_known(s.roll), _known(s.pitch), _known(s.yaw)))
    wheels = [_wheel_to_wire(w, t) for w, t in zip(s.wheels, (car.tyre_front,) * 2 + (car.tyre_rear,) * 2, strict=True)]
    travels = _travels(s, car)
    torque = _torque(s, car)
    engine = _known(s.engine_speed)
    sled = Sled._make((
        1, session.timestamp_ms & 0xFFFFFFFF, car.engine.limiter_rpm, car.engine.idle_rpm, engine / RPM,
        *forza_from_iso((_known(s.acceleration_x), _known(s.acceleration_y), _known(s.acceleration_z))),
        *velocity, wx, wy, wz, yaw, pitch, roll,
        *(t[0] for t in travels),
        *(w[0] for w in wheels),
        *(_known(w.angular_velocity) for w in s.wheels),
        *map(int, session.strips),
        0.0, 0.0, 0.0, 0.0,  # no puddles in our world
        *(_rumble(w, strip) for w, strip in zip(s.wheels, session.strips, strict=True)),
        *(w[1] for w in wheels),
        *(w[2] for w in wheels),
        *(t[1] for t in travels),
        *_identity(car, form),
    ))  # fmt: skip
    dash = Dash._make((
        *forza_from_iso((s.x, s.y, s.z)), math.hypot(*velocity), torque * engine, torque,
        *(0.0 if math.isnan(w.core_temperature) else fahrenheit_from_celsius(w.core_temperature) for w in s.wheels),
        (_known(s.throttle) - 1.0) * ATMOSPHERE / PSI, _known(s.fuel_litres) / car.fuel.capacity, session.distance,
        _known(s.best_lap_time), session.last_lap, _known(s.lap_time), session.race_time,
        session.laps & 0xFFFF, session.position, _pedal(s.throttle), _pedal(s.brake), _pedal(s.clutch),
        _pedal(s.handbrake), session.gear, -round(_known(session.stick) * STEER_MAX), session.line,
        round(max(-1.0, min(1.0, session.ai_brake)) * LINE_MAX),
    ))  # fmt: skip
    extra = Extra._make((*(min(max(_known(w.wear), 0.0), 1.0) for w in s.wheels), 0))
    return _framed(sled, dash, Gap(), extra, form)


def _framed(sled: Sled, dash: Dash, gap: Gap, extra: Extra, form: str) -> Packet:
    if form == "sled":
        return Packet(sled)
    if form == "dash":
        return Packet(sled, dash=dash)
    return Packet(sled, dash=dash, extra=extra) if form == "fm2023" else Packet(sled, gap, dash, tail=TAIL)


def _known(value: float) -> float:
    return value if value == value else 0.0  # NaN differs from itself


def _pedal(value: float) -> int:
    return round(max(0.0, min(1.0, _known(value))) * PEDAL_MAX)


def _wheel_to_wire(wheel: WheelState, tyre: Tyre) -> tuple[float, float, float]:
    """Return slip ratio and slip angle as shares of the tyre's own at the peak of grip, and both together.

    The wire's angle has the sign opposite to the lateral velocity, which is positive to the right there: ours.
    """
    ratio = _known(wheel.slip_ratio) / tyre.peak_slip_ratio
    angle = math.tan(_known(wheel.slip_angle)) / math.tan(tyre.peak_slip_angle)
    return ratio, angle, math.hypot(ratio, angle)


def _travels(s: CarState, car: CarParams) -> list[tuple[float, float]]:
    """Return each corner's compression as share of its travel (0 full droop, 1 at the bump stop) and in m.

    From where the body is above the contact points: the height of the centre of mass over a wheel's contact, along
    the body's own axes, is what it is at rest less the compression of spring and tyre.
    """
    up = up_vector(_known(s.yaw), _known(s.pitch), _known(s.roll))
    out = []
    for index, wheel in enumerate(s.wheels):
        links = car.suspension_front if index < 2 else car.suspension_rear
        height = (s.x - wheel.x) * up[0] + (s.y - wheel.y) * up[1] + (s.z - wheel.z) * up[2]
        span = links.bump_travel + links.droop_travel
        share = (_known(car.body.cg_height - height) + links.droop_travel) / span
        share = max(0.0, min(1.0, share))
        out.append((share, share * span - links.droop_travel))
    return out


def _torque(s: CarState, car: CarParams) -> float:
    """Return the engine's torque, N m: the curve at full throttle, its drag with the throttle shut, between them."""
    engine = car.engine
    rpm = _known(s.engine_speed) / RPM
    full = interpolate(rpm, engine.rpm, engine.torque)
    shut = interpolate(
        rpm, (engine.idle_rpm, engine.limiter_rpm), (engine.braking_torque_idle, engine.braking_torque_limiter)
    )
    throttle = max(0.0, min(1.0, _known(s.throttle)))
    return throttle * full - (1.0 - throttle) * shut


def _rumble(wheel: WheelState, strip: bool) -> float:
    if strip:
        return _RUMBLE_STRIP
    return _RUMBLE_OFF if wheel.on_track < 0.5 else 0.0  # NaN is no news of leaving the road


def _identity(car: CarParams, form: str) -> tuple[int, int, int, int, int]:
    """Return ordinal, class, performance index, drivetrain and cylinders.

    The ordinal is made from the name: stable, and nobody else's. The index grows with power over mass, so that a
    GT3 car has about what the games give it; the class follows from it by the title's table (section 3.7).
    """
    power = car.engine.peak_power + (car.hybrid.power if car.hybrid else 0.0)
    index = max(100, min(999, round(100.0 + PI_PER_W_KG * power / car.body.mass)))
    limits = CLASS_LIMITS["horizon" if form == "fh" else "motorsport"]
    rank = sum(index > limit for limit in limits)
    return zlib.crc32(car.name.encode()) & 0x7FFF, rank, index, _DRIVETRAINS[car.drive.layout], 0


def line_to_wire(share: float, wrap: bool) -> int:
    """Return NormalizedDrivingLine for a place beside the line, `share` of half the width, positive left (3.4).

    Args:
        share: any number; beyond the edge it goes on.
        wrap: let it run over as a signed byte, instead of stopping at the edge.
    """
    value = round(LINE_MAX * _known(share))
    return (value + 128) % 256 - 128 if wrap else max(-LINE_MAX, min(LINE_MAX, value))


# ---- Client to game ------------------------------------------------------------------------------------------


def controls_to_wire(controls: Controls, gear: int | None = None, speed: float = NAN) -> PadReport:
    """Return the pad's report for `controls`; neutral where steer, throttle or brake is NaN.

    The stick is `steer` itself. Gears are the game's automatic box's, which takes a brake that is held at rest for
    reverse: there the handbrake holds the car instead, and a wish for gear -1 is that brake.

    Args:
        controls: what to do.
        gear: the gear that the game is in; None: not known.
        speed: m/s; NaN: not known.
    """
    throttle, brake = controls.throttle, controls.brake
    handbrake = controls.handbrake > 0.5
    if controls.gear == -1:  # the left trigger stops the car, then drives it backwards
        throttle, brake = (brake, throttle) if gear == -1 else (0.0, max(throttle, brake))
    elif gear == -1:  # the right trigger stops it, then drives it forwards
        throttle, brake = max(throttle, brake), 0.0
    elif speed < STANDING and throttle <= 0.0 < brake:
        brake, handbrake = 0.0, True
    return pad_report.driving(-controls.steer, throttle, brake, Button.A if handbrake else 0)


def stick_from_wire(report: PadReport, dead_zone: float = 0.0) -> float:
    """Return the left stick, -1..1, positive LEFT as our steer; the way beyond the dead zone counts as the whole."""
    x = max(-1.0, report.left_x / pad_report.AXIS_MAX)
    size = abs(x)
    return 0.0 if size <= dead_zone else -math.copysign((size - dead_zone) / (1.0 - dead_zone), x)


def controls_from_wire(report: PadReport, steer: float) -> Controls:
    """Return what `report` asks of a car whose wheels the stick has turned to `steer` (share of lock, left)."""
    return Controls(
        steer=steer,
        throttle=report.right_trigger / pad_report.TRIGGER_MAX,
        brake=report.left_trigger / pad_report.TRIGGER_MAX,
        handbrake=float(bool(report.buttons & Button.A)),
    )
