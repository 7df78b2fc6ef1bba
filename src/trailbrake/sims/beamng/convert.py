"""Messages of BeamNG's wire, generation 1 <-> CarState and Controls. Only this module changes signs and units.

Source: protocol page beamng-coupling, sections 3, 4 and 7. Axes and yaw: `iso_from_beamng`. The page leaves some points
open; both directions assume:

* The position is the centre of mass, and the altitude is its z.
* Roll and pitch are right-handed rotations about the wire's own body axes (backward and left), applied in the order
  yaw, pitch, roll, as in ISO 8855. So pitch is positive nose down, and roll positive left side down.
* `clutch` is 1 when the pedal is pressed.

World axes are the same as those of ISO 8855 (right-handed, z up); body vectors and the zero of yaw differ.

The wire carries no lap times, no contacts and no clock: `state_from_wire` derives the time from the message's id.
"""

import math
from dataclasses import dataclass

from trailbrake.cars.params import CarParams
from trailbrake.frames import Vector
from trailbrake.sims.beamng.codec import (
    NO_CUSTOM,
    CommandMessage,
    ControllerPart,
    Doubles,
    PartialMessage,
    StateSubset,
    encode_partial_state,
    finish_state,
)
from trailbrake.state import CarState, Controls, FourTorques, Phase, WheelState, WheelTorque
from trailbrake.state.fields import compile_record_calls
from trailbrake.units import DEG, RPM

NAN = math.nan
DRIVING = Phase.DRIVING
GRAVITY = 9.81  # m/s^2, the game's
IGNITION_ON = 2.0
TORQUE_MODE, PEDAL_MODE = 1.0, 0.0  # drive mode
MAX_TORQUE = 1e5  # N m at a wheel, an order of magnitude above any car's: what a command may request
_WALKING_PACE = 1.5  # m/s
_new = tuple.__new__  # builds a named tuple from its fields in order, without the cost of its constructor


# ---- Simulator to controller -------------------------------------------------------------------------------


@compile_record_calls
def state_from_wire(subset: StateSubset, step: float, previous: CarState | None = None) -> CarState:
    """Return the CarState of a state message. `age` is 0 and `phase` is DRIVING; the link corrects both.

    Args:
        subset: the message's fields, from `codec.decode_state_subset` or `codec.select_state_subset`.
        step: s of simulator time between two messages; `time` is the message's id plus 1 times this.
        previous: the state of an earlier message, for the yaw rate. Without one the yaw rate is that of a steady bend
            with the message's lateral acceleration, and 0 at walking pace.
    """
    (
        message_id, throttle, brake, clutch, parkingbrake, steering, x, y, z, vx, vy, vz, speed, acc_x, acc_y, acc_z,
        roll, pitch, yaw, gear, fuel, engine_load, high_beam, low_beam, max_rpm, rpm, signal_left, signal_right,
        spin_fl, brake_fl, drive_fl, load_fl, spin_fr, brake_fr, drive_fr, load_fr,
        spin_rl, brake_rl, drive_rl, load_rl, spin_rr, brake_rr, drive_rr, load_rr, _,
    ) = subset  # fmt: skip
    yaw, roll = yaw_from_wire(yaw), -roll
    if math.inf in (abs(yaw), abs(pitch), abs(roll)):
        yaw = pitch = roll = NAN
    cy, sy, cp, sp, cr, sr = (
        math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch), math.cos(roll), math.sin(roll),
    )  # fmt: skip
    # The velocity, turned from world axes into body axes in the order yaw, pitch, roll (ISO 8855).
    level_forward = cy * vx + sy * vy
    level_left = cy * vy - sy * vx
    pitched_up = sp * level_forward + cp * vz
    forward, left, up = iso_from_beamng((acc_x, acc_y, acc_z))
    return CarState(
        time=(message_id + 1.0) * step,
        sequence=int(message_id) if math.isfinite(message_id) else -1,
        age=0.0,
        phase=DRIVING,
        x=x,
        y=y,
        z=z,
        yaw=yaw,
        pitch=pitch,
        roll=roll,
        speed=speed,
        velocity_x=cp * level_forward - sp * vz,
        velocity_y=cr * level_left + sr * pitched_up,
        velocity_z=cr * pitched_up - sr * level_left,
        # The wire counts gravity as an acceleration.
        acceleration_x=forward - GRAVITY * sp,
        acceleration_y=left + GRAVITY * cp * sr,
        acceleration_z=up + GRAVITY * cp * cr,
        yaw_rate=_steady_yaw_rate(speed, left + GRAVITY * cp * sr)
        if previous is None or not message_id - previous.sequence >= 1.0  # ids are whole
        else math.remainder(yaw - previous.yaw, 2.0 * math.pi) / ((message_id - previous.sequence) * step),
        steering_wheel_angle=steering * DEG,
        throttle=throttle,
        brake=brake,
        clutch=clutch,
        handbrake=parkingbrake,
        gear=int(gear) if math.isfinite(gear) else None,
        engine_speed=rpm * RPM,
        max_engine_speed=max_rpm * RPM,
        engine_load=engine_load,
        fuel=fuel,
        low_beam=low_beam,
        high_beam=high_beam,
        left_signal=signal_left,
        right_signal=signal_right,
        wheels=[  # the wire takes friction off the brake's torque
            WheelState(angular_velocity=spin_fl, load=load_fl, drive_torque=drive_fl,
                       brake_torque=0.0 if brake_fl < 0.0 else brake_fl),
            WheelState(angular_velocity=spin_fr, load=load_fr, drive_torque=drive_fr,
                       brake_torque=0.0 if brake_fr < 0.0 else brake_fr),
            WheelState(angular_velocity=spin_rl, load=load_rl, drive_torque=drive_rl,
                       brake_torque=0.0 if brake_rl < 0.0 else brake_rl),
            WheelState(angular_velocity=spin_rr, load=load_rr, drive_torque=drive_rr,
                       brake_torque=0.0 if brake_rr < 0.0 else brake_rr),
        ],
    )  # fmt: skip


def _steady_yaw_rate(speed: float, acceleration_y: float) -> float:
    """Return the yaw rate (rad/s) of a steady bend, for a message that has none before it."""
    return 0.0 if abs(speed) < _WALKING_PACE else acceleration_y / speed


def state_to_wire(state: CarState, car: CarParams, ignition: float = IGNITION_ON) -> PartialMessage:
    """Return the part of the state message that does not depend on the controller; `finish_message` adds the rest.

    Fields that the state does not supply (NaN) are 0: the game sends no NaN. The torques are those of the last step.
    The host calls this function while it waits for the controller's answer, so that only `finish_message` runs between
    an answer and the next message.

    Args:
        state: of the car.
        car: supplies the radius and the rolling resistance of the tyres, which CarState does not have.
        ignition: 0 off, 1 accessory, 2 on, 3 starting.
    """
    s = state
    pitch, roll, vx, vy, vz, throttle = s.pitch, s.roll, s.velocity_x, s.velocity_y, s.velocity_z, s.throttle
    cy, sy, cp, sp, cr, sr = (
        math.cos(s.yaw), math.sin(s.yaw), math.cos(pitch), math.sin(pitch), math.cos(roll), math.sin(roll),
    )  # fmt: skip
    # The velocity, turned from body axes into world axes: the inverse of `state_from_wire`.
    pitched_up = sr * vy + cr * vz
    level_forward = cp * vx + sp * pitched_up
    level_left = cr * vy - sr * vz
    acceleration = beamng_from_iso(
        (s.acceleration_x + GRAVITY * sp, s.acceleration_y - GRAVITY * cp * sr, s.acceleration_z - GRAVITY * cp * cr)
    )
    rpm, gear = s.engine_speed / RPM, s.gear or 0
    w0, w1, w2, w3 = s.wheels
    s0, s1, s2, s3 = w0.angular_velocity, w1.angular_velocity, w2.angular_velocity, w3.angular_velocity
    l0, l1, l2, l3 = w0.load, w1.load, w2.load, w3.load
    tyre_front, tyre_rear = car.tyre_front, car.tyre_rear
    front, rear = tyre_front.radius, tyre_rear.radius
    v0, v1, v2, v3 = front * s0, front * s1, rear * s2, rear * s3
    b0, b1, b2, b3 = w0.brake_torque, w1.brake_torque, w2.brake_torque, w3.brake_torque
    d0, d1, d2, d3 = w0.drive_torque, w1.drive_torque, w2.drive_torque, w3.drive_torque
    drag_front, drag_rear = tyre_front.rolling_resistance * front, tyre_rear.rolling_resistance * rear
    # In the order of StateMessage. The zeros in the first two lines are the message's id and the controller's inputs.
    values: Doubles = (
        0.0, throttle, 0.0, s.brake, 0.0, s.clutch, 0.0, s.handbrake, 0.0,
        s.steering_wheel_angle / DEG, 0.0, s.x, s.y, s.z,
        cy * level_forward - sy * level_left, sy * level_forward + cy * level_left, cp * pitched_up - sp * vx, s.speed,
        *acceleration, -roll, pitch, yaw_to_wire(s.yaw), s.z,
        ignition, float(gear), s.fuel, s.engine_load, s.high_beam, s.low_beam,
        s.max_engine_speed / RPM, 1.0 if gear < 0 else 0.0, rpm, s.left_signal, s.right_signal,
        0.25 * (abs(v0) + abs(v1) + abs(v2) + abs(v3)),
        s0, v0, b0, d0, drag_front * l0, l0,
        s1, v1, b1, d1, drag_front * l1, l1,
        s2, v2, b2, d2, drag_rear * l2, l2,
        s3, v3, b3, d3, drag_rear * l3, l3,
    )  # fmt: skip
    if math.isnan(sum(values)):
        values = tuple([0.0 if value != value else value for value in values])
    return encode_partial_state(values)


def finish_message(
    partial: PartialMessage, message_id: int, latched: "LatchedCommand", custom: Doubles = NO_CUSTOM
) -> bytes:
    """Return the bytes of a state message.

    Args:
        partial: from `state_to_wire`.
        message_id: of this message.
        latched: the controller's pedals and steering.
        custom: the 50 custom values.
    """
    inputs = latched.throttle, latched.brake, -latched.steer, latched.clutch, latched.handbrake
    controller = _new(ControllerPart, inputs)
    return finish_state(partial, message_id, controller, custom)


# ---- Controller to simulator -------------------------------------------------------------------------------


@dataclass(slots=True)
class LatchedCommand:
    """The newest value of each input that a controller has sent; a value stays until a command changes it.

    Attributes:
        throttle, brake: 0..1.
        steer: -1..1, positive left.
        torque_mode: whether the torques replace those of the powertrain and the brakes.
        drive_torques: N m for each wheel, positive forward; 0 before the first command.
        brake_torques: N m for each wheel, positive brakes; 0 before the first command.
        wrong_signs: count of brake torques with the wrong sign, which act as 0.
        clutch, handbrake: 0..1; generation 1 has neither.
    """

    throttle: float = 0.0
    brake: float = 0.0
    steer: float = 0.0
    torque_mode: bool = False
    drive_torques: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    brake_torques: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    wrong_signs: int = 0
    clutch: float = 0.0
    handbrake: float = 0.0


def apply_command(message: CommandMessage, latched: LatchedCommand) -> None:
    """Update `latched` with a command. NaN, or an infinite torque, leaves a value as it is; the others are limited."""
    # A plain tuple unpacks faster than a named one, and this runs for every command.
    _, throttle, brake, steering, _, b0, b1, b2, b3, d0, d1, d2, d3, drive_mode, _ = message[:]
    if throttle == throttle:  # not NaN
        latched.throttle = _clamp(throttle, 0.0)
    if brake == brake:
        latched.brake = _clamp(brake, 0.0)
    if steering == steering:
        latched.steer = _clamp(-steering, -1.0)
    if drive_mode == drive_mode:
        latched.torque_mode = drive_mode >= 0.5
    if not (b0 != b0 and b1 != b1 and b2 != b2 and b3 != b3):
        b = latched.brake_torques
        torques = _limit_torque(-b0, b[0]), _limit_torque(-b1, b[1]), _limit_torque(-b2, b[2]), _limit_torque(-b3, b[3])
        wrong = sum(1 for torque in torques if torque < 0.0)
        if wrong:
            latched.wrong_signs += wrong
            torques = max(torques[0], 0.0), max(torques[1], 0.0), max(torques[2], 0.0), max(torques[3], 0.0)
        latched.brake_torques = torques
    if not (d0 != d0 and d1 != d1 and d2 != d2 and d3 != d3):
        d = latched.drive_torques
        latched.drive_torques = (
            _limit_torque(d0, d[0]),
            _limit_torque(d1, d[1]),
            _limit_torque(d2, d[2]),
            _limit_torque(d3, d[3]),
        )


def controls_from_wire(latched: LatchedCommand) -> Controls:
    """Return the controls of the car that the latched command requests; the automatic gearbox chooses the gear."""
    return Controls(
        steer=latched.steer, throttle=latched.throttle, brake=latched.brake, clutch=latched.clutch,
        handbrake=latched.handbrake, wheels=latched_torques(latched),
    )  # fmt: skip


def latched_torques(latched: LatchedCommand) -> FourTorques | None:
    """Return the torques of the latched command; None in pedal mode."""
    if not latched.torque_mode:
        return None
    d, b = latched.drive_torques, latched.brake_torques
    return WheelTorque(d[0], b[0]), WheelTorque(d[1], b[1]), WheelTorque(d[2], b[2]), WheelTorque(d[3], b[3])


def controls_to_wire(controls: Controls, reply_id: float = 0.0, custom: Doubles = NO_CUSTOM) -> CommandMessage:
    """Return the command message for `controls`.

    `controls.wheels` selects torque mode, in which every wheel has a torque: NaN becomes 0. NaN in steer, throttle or
    brake leaves that input as it is.
    """
    c, wheels = controls, controls.wheels
    if wheels is None:
        return _new(
            CommandMessage,
            (reply_id, c.throttle, c.brake, -c.steer, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, PEDAL_MODE, custom),
        )
    brakes = [-_finite_or(wheel.brake_torque, 0.0) for wheel in wheels]
    drives = [_finite_or(wheel.drive_torque, 0.0) for wheel in wheels]
    return _new(CommandMessage, (reply_id, c.throttle, c.brake, -c.steer, NAN, *brakes, *drives, TORQUE_MODE, custom))


def limit_share(value: float) -> float:
    """Return `value` limited to 0..1; 0 for NaN."""
    return _clamp(value, 0.0) if value == value else 0.0


def _finite_or(value: float, fallback: float) -> float:
    return value if math.isfinite(value) else fallback


def _limit_torque(value: float, fallback: float) -> float:
    """Return a torque limited to what a wheel can have; `fallback` for NaN and infinity."""
    if -MAX_TORQUE <= value <= MAX_TORQUE:
        return value
    return math.copysign(MAX_TORQUE, value) if math.isfinite(value) else fallback


def _clamp(value: float, lower: float) -> float:
    """Return `value` limited to `lower`..1."""
    return lower if value < lower else 1.0 if value > 1.0 else value


_QUARTER_TURN = 0.5 * math.pi  # rad: the wire's yaw is 0 when the car faces world -Y


def iso_from_beamng(vector: Vector) -> Vector:
    """Return a body vector of BeamNG (left, backward, up; right-handed) as (forward, left, up)."""
    return (-vector[1], vector[0], vector[2])


def beamng_from_iso(vector: Vector) -> Vector:
    """Return a body vector (forward, left, up) as BeamNG's (left, backward, up): the inverse of `iso_from_beamng`."""
    return (vector[1], -vector[0], vector[2])


def yaw_from_wire(yaw: float) -> float:
    """Return the wire's yaw (rad, from world -Y) as ISO 8855 yaw (rad, from world X), in [-pi, pi]."""
    turned = yaw - _QUARTER_TURN
    if -math.pi <= turned <= math.pi or not math.isfinite(turned):
        return turned
    return math.remainder(turned, 2.0 * math.pi)


def yaw_to_wire(yaw: float) -> float:
    """Return ISO 8855 yaw (rad, from world X) as the wire's yaw (rad, from world -Y), in (-pi, pi]."""
    turned = yaw + _QUARTER_TURN
    return turned - 2.0 * math.pi if turned > math.pi else turned
