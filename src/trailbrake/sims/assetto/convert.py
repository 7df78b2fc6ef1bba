"""Messages of the Assetto Corsa wire <-> our state. Only here do its signs and units change; its axes do in `axes`.

Source: protocol page assetto-custom-ai, sections 2 to 5. The page leaves some meanings open. Both directions assume:

* `position` is the centre of mass.
* `slip_angle_deg` is positive when the contact patch moves to the left: x of the wire's car frame is left.
* `camber_rad` is positive when the top of the wheel leans outward, on either side. ISO 8855 inclination is
  positive when it leans to the right, so the left wheels change sign.
* `side` of a wheel points to the left.
* `steer` of CarPublic is in the same degrees as that of CarData.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from trailbrake.cars.params import CarParams
from trailbrake.errors import WireError
from trailbrake.frames import angles_from_axes, nose_direction, up_vector
from trailbrake.sims.assetto import codec
from trailbrake.sims.assetto.axes import assetto_from_iso, iso_from_assetto
from trailbrake.sims.assetto.codec import (
    ZERO3,
    ZERO5,
    CarControls,
    CarData,
    CarDataSubset,
    CarPublic,
    DrivingFields,
    Five,
    Vec3,
    WheelData,
)
from trailbrake.sims.assetto.spec import RATE_HZ
from trailbrake.sims.assetto.wire.car_condition import NO_CONDITION, ConditionValues
from trailbrake.sims.assetto.wire.setting_buttons import ALL_RELEASED, Buttons
from trailbrake.state import CarState, Controls, OtherCar, Phase, Pose, WheelState
from trailbrake.state.commands import MAX_COORDINATE
from trailbrake.state.controls import SETTINGS
from trailbrake.state.fields import compile_record_calls
from trailbrake.units import DEG, KMH, PSI, RPM, G

NAN = math.nan
DRIVING = Phase.DRIVING
NEUTRAL = 1  # wire gear: 0 = reverse, 1 = neutral, 2 = first
TELEPORT_NONE, TELEPORT_PITS, TELEPORT_POSE = 0, 1, 2
_new_tuple = tuple.__new__  # builds a named tuple from all of its fields, as in `codec`
_BRAKE_LIGHT_PEDAL = 0.05  # brake from which the public page shows brake lights
_MAX_MS = 0xFFFFFFFF
_NO_SETTINGS = (NAN,) * len(SETTINGS)  # the car's own
_FIRST_BUTTON = CarControls._fields.index("brake_balance_up")


# ---- Car to client -----------------------------------------------------------------------------------------


@compile_record_calls
def state_from_wire(message: CarDataSubset) -> CarState:
    """Return the state of a decoded sample. The link fills `age`, and `phase` where it is not DRIVING.

    `time` is packet_id over the physics rate: the game's clock, independent of the wall clock.
    """
    packet_id, gas, brake, clutch, steer, handbrake, fuel, gear, rpm, speed_kmh = message[codec.SUBSET_BASICS]
    abs_acts, tc_acts, lap_ms, best_ms, progress, depth, contacts, valid = message[codec.SUBSET_SESSION]
    x, y, z = iso_from_assetto(message[codec.SUBSET_POSITION])
    yaw, pitch, roll = angles_from_axes(
        iso_from_assetto(message[codec.SUBSET_LOOK]), iso_from_assetto(message[codec.SUBSET_UP])
    )
    velocity_x, velocity_y, velocity_z = iso_from_assetto(message[codec.SUBSET_VELOCITY])
    g_x, g_y, g_z = iso_from_assetto(message[codec.SUBSET_ACCELERATION])
    roll_rate, pitch_rate, yaw_rate = iso_from_assetto(message[codec.SUBSET_ANGULAR_VELOCITY])
    return CarState(
        time=packet_id / RATE_HZ,
        sequence=packet_id,
        age=0.0,
        phase=DRIVING,
        x=x,
        y=y,
        z=z,
        yaw=yaw,
        pitch=pitch,
        roll=roll,
        speed=speed_kmh * KMH,
        velocity_x=velocity_x,
        velocity_y=velocity_y,
        velocity_z=velocity_z,
        acceleration_x=g_x * G,
        acceleration_y=g_y * G,
        acceleration_z=g_z * G,
        roll_rate=roll_rate,
        pitch_rate=pitch_rate,
        yaw_rate=yaw_rate,
        steering_wheel_angle=-steer * DEG,
        throttle=gas,
        brake=brake,
        clutch=1.0 - clutch,
        handbrake=handbrake,
        gear=gear - NEUTRAL,
        engine_speed=rpm * RPM,
        fuel_litres=fuel,
        abs_active=1.0 if abs_acts else 0.0,
        tc_active=1.0 if tc_acts else 0.0,
        damage=max(message[codec.SUBSET_DAMAGE]),
        lap_time=lap_ms * 1e-3,
        best_lap_time=best_ms * 1e-3 if best_ms else NAN,
        lap_progress=progress,
        contacts=float(contacts),
        contact_depth=depth,
        wheels=[
            _wheel_from_wire(message[codec.SUBSET_WHEEL_FL], -1.0, valid & 1),
            _wheel_from_wire(message[codec.SUBSET_WHEEL_FR], 1.0, valid & 2),
            _wheel_from_wire(message[codec.SUBSET_WHEEL_RL], -1.0, valid & 4),
            _wheel_from_wire(message[codec.SUBSET_WHEEL_RR], 1.0, valid & 8),
        ],
    )


@compile_record_calls
def _wheel_from_wire(numbers: tuple[float, ...], outward: float, valid: int) -> WheelState:
    """Return one wheel of a sample.

    Args:
        numbers: of the wheel, in the order of the page.
        outward: +1 for a right wheel, whose top leans right when it leans outward; -1 for a left one.
        valid: not 0 on a surface that counts.
    """
    left, up, forward, slip_ratio, load, pressure, spin, wear, core, camber, disc, slip_angle, nd_slip = numbers
    x, y, z = iso_from_assetto((left, up, forward))
    return WheelState(
        x=x,
        y=y,
        z=z,
        angular_velocity=spin,
        slip_ratio=slip_ratio,
        slip_angle=slip_angle * DEG,
        combined_slip=nd_slip,
        load=load,
        camber=outward * camber,
        pressure=pressure * PSI,
        core_temperature=core,
        disc_temperature=disc,
        wear=wear,
        on_track=1.0 if valid else 0.0,
    )


def other_from_wire(index: int, message: CarPublic) -> OtherCar:
    """Return car `index` from its public page."""
    x, y, z = iso_from_assetto(message.position)
    look_x, look_y, _ = iso_from_assetto(message.look)
    velocity_x, velocity_y, _ = iso_from_assetto(message.velocity)
    g_x, g_y, _ = iso_from_assetto(message.acc_g)
    return OtherCar(
        index=index,
        x=x,
        y=y,
        z=z,
        yaw=math.atan2(look_y, look_x),
        velocity_x=velocity_x,
        velocity_y=velocity_y,
        speed=message.speed_kmh * KMH,
        lap_progress=message.spline_position,
        steering_wheel_angle=-message.steer * DEG,
        engine_speed=message.rpm * RPM,
        is_braking=1.0 if message.is_braking else 0.0,
        acceleration_x=g_x * G,
        acceleration_y=g_y * G,
        damage=max(message.car_damage),
    )


class _BodyAxes(NamedTuple):
    """Unit vectors of the car's axes, in the wire's world frame."""

    forward: Vec3
    left: Vec3
    up: Vec3


class _WheelAxes(NamedTuple):
    """Unit vectors of a wheel, in the wire's world frame: contact normal, heading, and to its left; its radius, m."""

    normal: Vec3
    look: Vec3
    side: Vec3
    radius: float


def state_to_wire(
    state: CarState, car: CarParams, packet_id: int, damage: Five = ZERO5, condition: ConditionValues = NO_CONDITION
) -> CarData:
    """Return what the game would publish of `state`. NaN becomes 0: the game writes no NaN."""
    s = state
    axes = _body_axes(s)
    valid = 0
    for bit, wheel in enumerate(s.wheels):
        if not wheel.on_track < 0.5:  # NaN counts as on the track
            valid |= 1 << bit
    roll_rate, pitch_rate, yaw_rate = s.roll_rate, s.pitch_rate, s.yaw_rate
    if roll_rate + pitch_rate + yaw_rate != roll_rate + pitch_rate + yaw_rate:  # one of them is NaN
        roll_rate, pitch_rate, yaw_rate = zero_if_nan(roll_rate), zero_if_nan(pitch_rate), zero_if_nan(yaw_rate)
    return _new_tuple(CarData, (  # in the order of its fields
        packet_id,
        zero_if_nan(s.throttle),
        zero_if_nan(s.brake),
        1.0 - zero_if_nan(s.clutch),
        _steering_degrees(s, car),
        zero_if_nan(s.handbrake),
        zero_if_nan(s.fuel_litres),
        (s.gear or 0) + NEUTRAL,
        zero_if_nan(s.engine_speed) / RPM,
        s.speed / KMH,
        _body_to_world(axes, s.velocity_x, s.velocity_y, s.velocity_z),
        _acceleration_in_g(s),
        axes.forward,
        axes.up,
        assetto_from_iso((s.x, s.y, s.z)),
        assetto_from_iso((s.velocity_x, s.velocity_y, s.velocity_z)),
        assetto_from_iso((roll_rate, pitch_rate, yaw_rate)),
        car.body.cg_height,
        damage,
        _wheels_to_wire(s, car, axes, condition.dirt),
        condition.turbo_boost,
        max(-1.0, min(1.0, condition.pure_feedback)),
        condition.pure_feedback,
        int(condition.pit_limiter),
        int(s.abs_active > 0.5),
        int(s.tc_active > 0.5),
        to_milliseconds(s.lap_time),
        to_milliseconds(s.best_lap_time),
        condition.drivetrain_torque,
        zero_if_nan(s.lap_progress),
        zero_if_nan(s.contact_depth),
        int(zero_if_nan(s.contacts)),
        valid,
    ))  # fmt: skip


def state_to_public(state: CarState, car: CarParams, packet_id: int, damage: Five = ZERO5) -> CarPublic:
    """Return the public page of `state`."""
    s = state
    axes = _body_axes(s)
    return CarPublic(
        packet_id=packet_id,
        steer=_steering_degrees(s, car),
        rpm=zero_if_nan(s.engine_speed) / RPM,
        spline_position=zero_if_nan(s.lap_progress),
        speed_kmh=s.speed / KMH,
        velocity=_body_to_world(axes, s.velocity_x, s.velocity_y, s.velocity_z),
        acc_g=_acceleration_in_g(s),
        look=axes.forward,
        up=axes.up,
        position=assetto_from_iso((s.x, s.y, s.z)),
        car_damage=damage,
        is_braking=int(s.brake > _BRAKE_LIGHT_PEDAL),
    )


def _body_axes(s: CarState) -> _BodyAxes:
    forward, up = nose_direction(s.yaw, s.pitch), up_vector(s.yaw, s.pitch, s.roll)
    left = _cross_product(up, forward)
    return _new_tuple(_BodyAxes, (assetto_from_iso(forward), assetto_from_iso(left), assetto_from_iso(up)))


def _wheels_to_wire(
    s: CarState, car: CarParams, axes: _BodyAxes, dirt: tuple[float, float, float, float]
) -> tuple[WheelData, WheelData, WheelData, WheelData]:
    body = car.body
    angle = -_steering_degrees(s, car) * DEG / car.steering.ratio
    cosine, sine = math.cos(angle), math.sin(angle)
    (fx, fy, fz), (lx, ly, lz), up = axes
    look = (fx * cosine + lx * sine, fy * cosine + ly * sine, fz * cosine + lz * sine)
    side = (lx * cosine - fx * sine, ly * cosine - fy * sine, lz * cosine - fz * sine)
    front = _new_tuple(_WheelAxes, (up, look, side, car.tyre_front.radius))
    rear = _new_tuple(_WheelAxes, (up, axes.forward, axes.left, car.tyre_rear.radius))
    yaw_rate, vx, vz = zero_if_nan(s.yaw_rate), s.velocity_x, s.velocity_z
    vy_front = s.velocity_y + yaw_rate * body.cg_to_front
    vy_rear = s.velocity_y - yaw_rate * body.cg_to_rear
    dv_front, dv_rear = yaw_rate * (0.5 * body.track_front), yaw_rate * (0.5 * body.track_rear)
    fl, fr, rl, rr = s.wheels
    return (
        _wheel_to_wire(fl, -1.0, front, dirt[0], _body_to_world(axes, vx - dv_front, vy_front, vz)),
        _wheel_to_wire(fr, 1.0, front, dirt[1], _body_to_world(axes, vx + dv_front, vy_front, vz)),
        _wheel_to_wire(rl, -1.0, rear, dirt[2], _body_to_world(axes, vx - dv_rear, vy_rear, vz)),
        _wheel_to_wire(rr, 1.0, rear, dirt[3], _body_to_world(axes, vx + dv_rear, vy_rear, vz)),
    )


def _wheel_to_wire(w: WheelState, outward: float, axes: _WheelAxes, dirt: float, velocity: Vec3) -> WheelData:
    """Return one wheel; `outward` is that of `_wheel_from_wire`, `dirt` 0..1, `velocity` in m/s."""
    # NaN differs from itself. Written out, not called: this runs for four wheels 333 times a second.
    x, y, z = w.x, w.y, w.z
    if x + y + z != x + y + z:
        x, y, z = zero_if_nan(x), zero_if_nan(y), zero_if_nan(z)
    slip_ratio, slip_angle, load, spin, combined = (
        w.slip_ratio, w.slip_angle, w.load, w.angular_velocity, w.combined_slip,
    )  # fmt: skip
    if (total := slip_ratio + slip_angle + load + spin + combined) != total:
        slip_ratio, slip_angle, load = zero_if_nan(slip_ratio), zero_if_nan(slip_angle), zero_if_nan(load)
        spin, combined = zero_if_nan(spin), zero_if_nan(combined)
    pressure, wear, core, camber, disc = w.pressure, w.wear, w.core_temperature, w.camber, w.disc_temperature
    contact = assetto_from_iso((x, y, z))
    normal, look, side, radius = axes
    return _new_tuple(WheelData, (  # in the order of its fields
        (contact[0] + normal[0] * radius, contact[1] + normal[1] * radius, contact[2] + normal[2] * radius),
        contact,
        normal,
        look,
        side,
        velocity,
        slip_ratio,
        load,
        pressure / PSI if pressure == pressure else 0.0,
        spin,
        wear if wear == wear else 0.0,
        dirt,
        core if core == core else 0.0,
        camber * outward if camber == camber else 0.0,
        disc if disc == disc else 0.0,
        math.hypot(slip_ratio, slip_angle),
        slip_angle / DEG,
        combined,
    ))  # fmt: skip


def zero_if_nan(value: float) -> float:
    """Return `value`, 0 where it is NaN."""
    return value if value == value else 0.0  # NaN differs from itself; cheaper here than math.isnan


def to_milliseconds(seconds: float) -> int:
    """Return a time in whole milliseconds, as on the wire; 0 for NaN and negative times."""
    return min(_MAX_MS, int(seconds * 1000.0 + 0.5)) if seconds > 0.0 else 0


def _steering_degrees(s: CarState, car: CarParams) -> float:
    angle = s.steering_wheel_angle
    if angle != angle:
        angle = zero_if_nan(s.steer) * car.steering.max_angle * car.steering.ratio
    return -angle / DEG


def _acceleration_in_g(s: CarState) -> Vec3:
    x, y, z = zero_if_nan(s.acceleration_x), zero_if_nan(s.acceleration_y), zero_if_nan(s.acceleration_z)
    return assetto_from_iso((x / G, y / G, z / G))


def _cross_product(a: Vec3, b: Vec3) -> Vec3:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _body_to_world(axes: _BodyAxes, x: float, y: float, z: float) -> Vec3:
    """Return the body vector (x forward, y left, z up) in the wire's world frame."""
    forward, left, up = axes
    return (
        forward[0] * x + left[0] * y + up[0] * z,
        forward[1] * x + left[1] * y + up[1] * z,
        forward[2] * x + left[2] * y + up[2] * z,
    )


# ---- Client to car -----------------------------------------------------------------------------------------


def driving_to_wire(controls: Controls, shift: int) -> DrivingFields:
    """Return the first nine fields of the page that carries `controls`, which change all the time."""
    return (
        controls.throttle, controls.brake, 1.0 - controls.clutch, -controls.steer, controls.handbrake,
        1 if shift > 0 else 0, 1 if shift < 0 else 0,
        1 if controls.drs > 0.5 else 0, 1 if controls.boost > 0.5 else 0,  # NaN is not
    )  # fmt: skip


def controls_to_wire(
    controls: Controls,
    *,
    shift: int = 0,
    buttons: Buttons = ALL_RELEASED,
    mguh_mode: int = 0,
    headlights: bool = False,
    autoblip: bool = True,
    teleport_to: int = TELEPORT_NONE,
    teleport: Pose | None = None,
) -> CarControls:
    """Return the page that carries `controls`.

    The clutch fields work under both reports of what they mean (section 4.3): pedal released and all aids on. While a
    driver presses the clutch, the aids that would release it are off.

    Args:
        controls: of the driver; `gear` None leaves shifting to the game's automatic box.
        shift: paddle to hold now: 1 up, -1 down, 0 none.
        buttons: buttons of the settings to hold now, see `wire.setting_buttons`.
        mguh_mode: of the motor at the turbocharger, 0 to 255, as the game numbers its modes.
        headlights: whether they are on.
        autoblip: whether the game opens the throttle on downshifts.
        teleport_to: TELEPORT_NONE, TELEPORT_PITS, or TELEPORT_POSE for `teleport`.
        teleport: the target.
    """
    position = heading = ZERO3
    if teleport is not None:
        position = assetto_from_iso((teleport.x, teleport.y, teleport.z))
        heading = assetto_from_iso(nose_direction(teleport.yaw))
    autoclutch = int(controls.clutch <= 0.0)
    message = CarControls(
        *driving_to_wire(controls, shift),
        mguh_mode=mguh_mode,
        headlights=int(headlights),
        teleport_to=teleport_to,
        autoclutch_on_start=autoclutch,
        autoclutch_on_change=autoclutch,
        autoblip_active=int(autoblip),
        teleport_pos=position,
        teleport_dir=heading,
        autoshift_active=int(controls.gear is None),
    )
    if buttons == ALL_RELEASED:
        return message
    return CarControls._make((*message[:_FIRST_BUTTON], *buttons, *message[_FIRST_BUTTON + len(ALL_RELEASED) :]))


@compile_record_calls
def controls_from_wire(message: CarControls, gear: int, settings: Sequence[float] = _NO_SETTINGS) -> Controls:
    """Return the controls that `message` requests of a car in `gear` (-1, 0, 1, ...), limited to the declared ranges.

    Paddles and buttons act on their edges, which need the message before: the host follows them. So the gear of the
    controls is `gear` itself, or None with the automatic box on.

    Args:
        message: of the client.
        gear: of the car.
        settings: values of `state.controls.SETTINGS`, which are passed on.

    Raises:
        WireError: an axis is not a finite number. The whole message must then be ignored.
    """
    m = message
    gas, brake, clutch, steer, handbrake = m.gas, m.brake, m.clutch, m.steer, m.handbrake
    if not math.isfinite(gas + brake + clutch + steer + handbrake):
        raise WireError(
            "a control is not a finite number",
            got=f"gas {gas:g}, brake {brake:g}, clutch {clutch:g}, steer {steer:g}, handbrake {handbrake:g}",
        )
    gas = _clamp_unit(gas)
    # Section 4.3: autoclutch engages a forward gear by itself; else a zero-filled page means clutch pressed.
    released = 1.0 if m.autoclutch_on_start and gear + NEUTRAL >= 2 and gas > 0.0 else _clamp_unit(clutch)
    brake_bias, abs_level, tc_level, turbo_level, engine_brake_level, delivery_level, recovery_level = settings
    return Controls(
        steer=-max(-1.0, min(1.0, steer)),
        throttle=gas,
        brake=_clamp_unit(brake),
        clutch=1.0 - released,
        handbrake=_clamp_unit(handbrake),
        gear=None if m.autoshift_active else gear,
        drs=float(m.drs != 0),
        boost=float(m.kers != 0),
        brake_bias=brake_bias,
        abs_level=abs_level,
        tc_level=tc_level,
        turbo_level=turbo_level,
        engine_brake_level=engine_brake_level,
        delivery_level=delivery_level,
        recovery_level=recovery_level,
    )


def pose_from_wire(message: CarControls, yaw: float) -> Pose:
    """Return the target of the teleport in `message`; a zero direction keeps the heading `yaw` (rad).

    Raises:
        WireError: a coordinate is not finite, or so large that single precision holds no place on a road there.
    """
    reachable = all(abs(value) <= MAX_COORDINATE for value in message.teleport_pos)  # false for NaN
    if not reachable or not all(map(math.isfinite, message.teleport_dir)):
        raise WireError("a teleport to nowhere", got=f"{message.teleport_pos}, {message.teleport_dir}")
    x, y, z = iso_from_assetto(message.teleport_pos)
    look_x, look_y, _ = iso_from_assetto(message.teleport_dir)
    return Pose(x, y, z, math.atan2(look_y, look_x) if look_x or look_y else yaw)


def _clamp_unit(value: float) -> float:
    return max(0.0, min(1.0, value))
