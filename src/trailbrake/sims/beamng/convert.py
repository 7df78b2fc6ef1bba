"""Messages of BeamNG's wire, generation 1 <-> our state. The only place where its signs and units change.

Source: protocol page beamng-coupling, sections 3, 4 and 7. World axes are ours; body axes: `trailbrake.frames`.
What the page leaves open, and is assumed here alike in both directions:

* The position is the centre of mass, and so is the altitude its z.
* Roll and pitch are right-handed turns about the wire's own body axes (backward and left), applied as ours: yaw, then
  pitch, then roll. So pitch is positive nose down, and roll positive left side down.
* `clutch` is 1 when the pedal is pressed.

The wire tells neither lap times nor contacts, and no time: `state_from_wire` counts messages.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trailbrake.cars.params import CarParams, interpolate
from trailbrake.frames import beamng_from_iso, iso_from_beamng
from trailbrake.sims.beamng.codec import (
    NO_CUSTOM,
    CommandMessage,
    Prepared,
    Seen,
    StateMessage,
    Values,
    complete_state,
    decode_state,
    prepare_state,
    seen,
)
from trailbrake.state import CarState, Controls, FourTorques, Phase, WheelState, WheelTorque
from trailbrake.units import DEG, RPM

NAN = math.nan
GRAVITY = 9.81  # m/s^2, the game's
DRIVING = Phase.DRIVING
QUARTER = 0.5 * math.pi  # rad: yaw on the wire is 0 when facing world -Y
IGNITION_ON = 2.0
TORQUES, PEDALS = 1.0, 0.0  # drive mode
_new = tuple.__new__


# ---- Simulator to controller -------------------------------------------------------------------------------


def wire_yaw(yaw: float) -> float:
    """Return our yaw (rad, from world X) as the wire's, in (-pi, pi]."""
    turned = yaw + QUARTER
    return turned - 2.0 * math.pi if turned > math.pi else turned


def our_yaw(yaw: float) -> float:
    """Inverse of `wire_yaw`; any number of whole turns is taken off."""
    turned = yaw - QUARTER
    if -math.pi <= turned <= math.pi or not math.isfinite(turned):
        return turned
    return math.remainder(turned, 2.0 * math.pi)


def state_from_wire(message: StateMessage, step: float, before: CarState | None = None) -> CarState:
    """Return the state that `message` tells. `age` and `phase` are for the link to fill.

    Args:
        message: from the simulator.
        step: s from message to message. The wire has no clock: time is what so many messages take.
        before: the state of an earlier message, from which the yaw rate follows; without one it is 0 at a standstill
            and else NaN.
    """
    return state_from_seen(seen(message), step, before)


def state_from_seen(numbers: Seen, step: float, before: CarState | None = None) -> CarState:
    """Return the state that `numbers` tell, as `state_from_wire` does."""
    (
        message_id, throttle, brake, clutch, parkingbrake, steering, x, y, z, vx, vy, vz, speed, acc_x, acc_y, acc_z,
        roll, pitch, yaw, gear, rpm, spin_fl, load_fl, spin_fr, load_fr, spin_rl, load_rl, spin_rr, load_rr, _,
    ) = numbers  # fmt: skip
    yaw, roll = our_yaw(yaw), -roll
    if math.inf in (abs(yaw), abs(pitch), abs(roll)):
        yaw = pitch = roll = NAN
    cy, sy, cp, sp, cr, sr = (
        math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch), math.cos(roll), math.sin(roll),
    )  # fmt: skip
    # Body axes in the world: columns of Rz(yaw) Ry(pitch) Rx(roll), ISO 8855.
    ahead = cy * vx + sy * vy
    aside = cy * vy - sy * vx
    low = sp * ahead + cp * vz
    forward, left, up = iso_from_beamng((acc_x, acc_y, acc_z))
    n, wheel = NAN, WheelState
    # By place: this runs for every message. Gravity, which the wire counts as an acceleration, is taken away.
    return CarState(
        (message_id + 1.0) * step, int(message_id) if math.isfinite(message_id) else -1, 0.0, DRIVING,
        x, y, z, yaw, pitch, roll, speed,
        cp * ahead - sp * vz, cr * aside + sr * low, cr * low - sr * aside,
        forward - GRAVITY * sp, left + GRAVITY * cp * sr, up + GRAVITY * cp * cr,
        n, n, _yaw_rate(message_id, speed, yaw, step, before),
        n, steering * DEG, throttle, brake, clutch, parkingbrake, int(gear) if math.isfinite(gear) else None, rpm * RPM,
        n, n, n, n, n, n, n, n, n, n,
        [wheel(n, n, n, spin_fl, n, n, n, load_fl), wheel(n, n, n, spin_fr, n, n, n, load_fr),
         wheel(n, n, n, spin_rl, n, n, n, load_rl), wheel(n, n, n, spin_rr, n, n, n, load_rr)],
    )  # fmt: skip


def _yaw_rate(message_id: float, speed: float, yaw: float, step: float, before: CarState | None) -> float:
    if before is None or not message_id > before.sequence:
        return 0.0 if abs(speed) < 0.01 else NAN
    return math.remainder(yaw - before.yaw, 2.0 * math.pi) / ((message_id - before.sequence) * step)


def state_to_wire(
    state: CarState,
    car: CarParams,
    message_id: int,
    held: "Held | None" = None,
    custom: Values = NO_CUSTOM,
) -> StateMessage:
    """Return what the game would send of `state`: `complete(told_of(state, car), ...)`, as a message."""
    return decode_state(complete(told_of(state, car), message_id, held or Held(), custom))


def told_of(state: CarState, car: CarParams) -> Prepared:
    """Return the message about `state` as far as it does not hang on the controller: that is for `complete` to fill.

    What the state does not know is 0: the game sends no NaN. Beside it nothing but arithmetic stands between an answer
    and the next message, which is why a host does this part while the controller is still at work.

    Args:
        state: of the car.
        car: whose tank, steering, brakes and engine give what the wire has and the state has not. The torques of the
            pedals' brakes and of the engine are those of a steady state: ABS, clutch slip and inertias left out.
    """
    s = state
    pitch, roll, vx, vy, vz, throttle = s.pitch, s.roll, s.velocity_x, s.velocity_y, s.velocity_z, s.throttle
    cy, sy, cp, sp, cr, sr = (
        math.cos(s.yaw), math.sin(s.yaw), math.cos(pitch), math.sin(pitch), math.cos(roll), math.sin(roll),
    )  # fmt: skip
    low = sr * vy + cr * vz
    ahead = cp * vx + sp * low
    aside = cr * vy - sr * vz
    acceleration = beamng_from_iso(
        (
            s.acceleration_x + GRAVITY * sp,
            s.acceleration_y - GRAVITY * cp * sr,
            s.acceleration_z - GRAVITY * cp * cr,
        )
    )
    rpm, gear = s.engine_speed / RPM, s.gear or 0
    w0, w1, w2, w3 = s.wheels
    s0, s1, s2, s3 = w0.angular_velocity, w1.angular_velocity, w2.angular_velocity, w3.angular_velocity
    l0, l1, l2, l3 = w0.load, w1.load, w2.load, w3.load
    tyre_front, tyre_rear = car.tyre_front, car.tyre_rear
    front, rear = tyre_front.radius, tyre_rear.radius
    v0, v1, v2, v3 = front * s0, front * s1, rear * s2, rear * s3
    b0, b1, b2, b3 = _brake_torques(s, car)
    d0, d1, d2, d3 = _drive_torques(s, car, rpm, gear)
    drag_front, drag_rear = tyre_front.rolling_resistance * front, tyre_rear.rolling_resistance * rear
    values: Values = (
        0.0, throttle, 0.0, s.brake, 0.0, s.clutch, 0.0, s.handbrake, 0.0,
        s.steering_wheel_angle / DEG, 0.0, s.x, s.y, s.z,
        cy * ahead - sy * aside, sy * ahead + cy * aside, cp * low - sp * vx, s.speed,
        *acceleration, -roll, pitch, wire_yaw(s.yaw), s.z,
        IGNITION_ON, float(gear), s.fuel_litres / car.fuel.capacity, throttle, 0.0, 0.0,
        car.engine.limiter_rpm, 1.0 if gear < 0 else 0.0, rpm, 0.0, 0.0,
        0.25 * (abs(v0) + abs(v1) + abs(v2) + abs(v3)),
        s0, v0, b0, d0, drag_front * l0, l0,
        s1, v1, b1, d1, drag_front * l1, l1,
        s2, v2, b2, d2, drag_rear * l2, l2,
        s3, v3, b3, d3, drag_rear * l3, l3,
    )  # fmt: skip
    if math.isnan(sum(values)):
        values = tuple([0.0 if value != value else value for value in values])
    return prepare_state(values)


def complete(told: Prepared, message_id: int, held: "Held", custom: Values = NO_CUSTOM) -> bytes:
    """Return the bytes of the message of which `told` is all that the controller has no part in.

    Args:
        told: of `told_of`.
        message_id: of this message.
        held: what the controller has asked for: its pedals and steering, and its torques in the place of the car's.
        custom: the 50 free values.
    """
    torques: Sequence[tuple[float, float]] = ()
    if held.torque_mode:  # NaN is a torque that a contract of generation 2 does not list
        torques = [
            (brake if brake == brake else 0.0, drive if drive == drive else 0.0)
            for brake, drive in zip(held.brake_torques, held.drive_torques, strict=True)
        ]
    return complete_state(told, message_id, held.throttle, held.brake, -held.steer, torques, custom)


def _brake_torques(s: CarState, car: CarParams) -> tuple[float, float, float, float]:
    brakes = car.brakes
    front = 0.5 * s.brake * brakes.torque_front
    rear = 0.5 * (s.brake * brakes.torque_rear + s.handbrake * brakes.handbrake_torque)
    return front, front, rear, rear


def _drive_torques(s: CarState, car: CarParams, rpm: float, gear: int) -> tuple[float, float, float, float]:
    engine = car.engine
    full = interpolate(rpm, engine.rpm, engine.torque)
    idle, idle_drag = engine.idle_rpm, engine.braking_torque_idle
    drag = idle_drag + (rpm - idle) / (engine.limiter_rpm - idle) * (engine.braking_torque_limiter - idle_drag)
    crank = s.throttle * full - (1.0 - s.throttle) * drag
    half = 0.5 * crank * (1.0 - s.clutch) * car.gearbox.overall(gear) * car.gearbox.efficiency
    to_front = car.drive.front_share
    front, rear = half * to_front, half * (1.0 - to_front)
    return front, front, rear, rear


# ---- Controller to simulator -------------------------------------------------------------------------------


@dataclass(slots=True)
class Held:
    """What the simulator holds of a controller's commands: NaN leaves alone, so that values last.

    Attributes:
        throttle, brake: 0..1.
        steer: -1..1, positive left.
        torque_mode: whether torques replace the powertrain's and the brakes' own. Sticky.
        drive_torques: N m, positive forward; 0 until told.
        brake_torques: N m, positive; 0 until told.
        wrong_signs: brake torques that came with the wrong sign, and count as 0.
    """

    throttle: float = 0.0
    brake: float = 0.0
    steer: float = 0.0
    torque_mode: bool = False
    drive_torques: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    brake_torques: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    wrong_signs: int = 0


def take(message: CommandMessage, held: Held) -> None:
    """Bring `held` up to date with a command; what is NaN, or infinite, is left alone. Pedals are clamped."""
    # Cut into a plain tuple first: only those are taken apart fast, and this runs for every command.
    _, throttle, brake, steering, _, b0, b1, b2, b3, d0, d1, d2, d3, drive_mode, _ = message[:]
    if throttle == throttle:  # not NaN
        held.throttle = _clamped(throttle, 0.0)
    if brake == brake:
        held.brake = _clamped(brake, 0.0)
    if steering == steering:
        held.steer = _clamped(-steering, -1.0)
    if drive_mode == drive_mode:
        held.torque_mode = drive_mode >= 0.5
    if not (b0 != b0 and b1 != b1 and b2 != b2 and b3 != b3):
        b = held.brake_torques
        asked = _told(-b0, b[0]), _told(-b1, b[1]), _told(-b2, b[2]), _told(-b3, b[3])
        wrong = sum(1 for torque in asked if torque < 0.0)
        if wrong:
            held.wrong_signs += wrong
            asked = max(asked[0], 0.0), max(asked[1], 0.0), max(asked[2], 0.0), max(asked[3], 0.0)
        held.brake_torques = asked
    if not (d0 != d0 and d1 != d1 and d2 != d2 and d3 != d3):
        d = held.drive_torques
        held.drive_torques = _told(d0, d[0]), _told(d1, d[1]), _told(d2, d[2]), _told(d3, d[3])


def controls_from_wire(message: CommandMessage, held: Held) -> Controls:
    """Take `message` into `held` and return what follows for the car."""
    take(message, held)
    return controls_of(held)


def controls_of(held: Held) -> Controls:
    """Return what is held as controls of a car; gears are the automatic's."""
    if not held.torque_mode:
        return Controls(held.steer, held.throttle, held.brake)
    return Controls(held.steer, held.throttle, held.brake, wheels=torques_of(held))


def torques_of(held: Held) -> FourTorques | None:
    """Return the torques that are held; None in pedal mode."""
    if not held.torque_mode:
        return None
    d, b = held.drive_torques, held.brake_torques
    return WheelTorque(d[0], b[0]), WheelTorque(d[1], b[1]), WheelTorque(d[2], b[2]), WheelTorque(d[3], b[3])


def controls_to_wire(controls: Controls, reply_id: float = 0.0, custom: Values = NO_CUSTOM) -> CommandMessage:
    """Return the command that asks for `controls`.

    With `controls.wheels` it is torque mode, in which the wire knows no torque of the car's own: where a wheel's is NaN
    it is 0. NaN in steer, throttle or brake leaves them alone.
    """
    c, wheels = controls, controls.wheels
    if wheels is None:
        return _new(
            CommandMessage,
            (reply_id, c.throttle, c.brake, -c.steer, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, PEDALS, custom),
        )
    brakes = [-_told(wheel.brake_torque, 0.0) for wheel in wheels]
    drives = [_told(wheel.drive_torque, 0.0) for wheel in wheels]
    return _new(CommandMessage, (reply_id, c.throttle, c.brake, -c.steer, NAN, *brakes, *drives, TORQUES, custom))


def _told(value: float, before: float) -> float:
    return value if math.isfinite(value) else before


def _clamped(value: float, least: float) -> float:
    return least if value < least else 1.0 if value > 1.0 else value
