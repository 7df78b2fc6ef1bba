"""Messages of the Assetto Corsa wire <-> our state. The only place where its signs and units change.

Source: protocol page assetto-custom-ai, sections 2 to 5. World and car frames: `trailbrake.frames`. What the
page leaves open, and is assumed here alike in both directions:

* `position` is the centre of mass.
* `slip_angle_deg` is positive when the contact patch moves to the left: its car frame's x is left.
* `camber_rad` is positive when the top of the wheel leans outward, on either side. ISO 8855 inclination is
  positive when it leans to the right, so the left wheels change sign.
* `side` of a wheel points to the left.
* `steer` of CarPublic is in the same degrees as that of CarData.
"""

import math
from collections.abc import Sequence

from trailbrake.cars.params import CarParams
from trailbrake.errors import WireError
from trailbrake.frames import angles_from_axes, assetto_from_iso, direction, iso_from_assetto, up_vector
from trailbrake.sims.assetto.codec import (
    ZERO3,
    ZERO5,
    CarControls,
    CarData,
    CarPublic,
    Driving,
    Five,
    SeenCar,
    Vec3,
    WheelData,
    seen,
)
from trailbrake.sims.assetto.knobs import RELEASED, Buttons
from trailbrake.sims.assetto.spec import RATE_HZ
from trailbrake.state import CarState, Controls, OtherCar, Phase, Pose, WheelState
from trailbrake.units import DEG, KMH, PSI, RPM, G

NAN = math.nan
DRIVING = Phase.DRIVING
NEUTRAL = 1  # wire gear: 0 = reverse, 1 = neutral, 2 = first
ALL_WHEELS_VALID = 0b1111
TELEPORT_NONE, TELEPORT_PITS, TELEPORT_POSE = 0, 1, 2
_new = tuple.__new__  # as in `codec`: by place, without the constructor's keywords
_BRAKING = 0.05  # pedal from which others see brake lights
_MS_MAX = 0xFFFFFFFF
_FIRST_BUTTON = CarControls._fields.index("brake_balance_up")


# ---- Car to client -----------------------------------------------------------------------------------------


def state_from_wire(message: CarData) -> CarState:
    """Return the state that `message` tells. `age` and `phase` are for the link to fill.

    Time is packet_id over the physics rate: the game's clock, whatever the wall clock did meanwhile.
    """
    return state_from_seen(seen(message))


def state_from_seen(message: SeenCar) -> CarState:
    """Return the state that `message` tells, as `state_from_wire` does."""
    # By place and without helpers: this runs for every sample of a drive. Vectors are (left, up, forward) on the wire,
    # `frames.iso_from_assetto` written out.
    (
        packet_id, gas, brake, clutch, steer, handbrake, fuel, gear, rpm, speed_kmh, acc_y, acc_z, acc_x, look_y,
        look_z, look_x, up_y, up_z, up_x, y, z, x, vy, vz, vx, pitch_rate, yaw_rate, roll_rate,
    ) = message[:28]  # fmt: skip
    abs_acts, tc_acts, lap_ms, best_ms, progress, depth, contacts, valid = message[80:]
    yaw, pitch, roll = angles_from_axes((look_x, look_y, look_z), (up_x, up_y, up_z))
    return CarState(
        packet_id / RATE_HZ, packet_id, 0.0, DRIVING, x, y, z, yaw, pitch, roll, speed_kmh * KMH, vx, vy, vz,
        acc_x * G, acc_y * G, acc_z * G, roll_rate, pitch_rate, yaw_rate,
        NAN, -steer * DEG, gas, brake, 1.0 - clutch, handbrake, gear - NEUTRAL, rpm * RPM, fuel,
        1.0 if abs_acts else 0.0, 1.0 if tc_acts else 0.0,
        NAN, lap_ms * 1e-3, best_ms * 1e-3 if best_ms else NAN, progress, NAN, float(contacts), depth,
        [_wheel_from_wire(message[28:41], -1.0, valid & 1), _wheel_from_wire(message[41:54], 1.0, valid & 2),
         _wheel_from_wire(message[54:67], -1.0, valid & 4), _wheel_from_wire(message[67:80], 1.0, valid & 8)],
    )  # fmt: skip


def _wheel_from_wire(numbers: tuple[float, ...], outward: float, valid: int) -> WheelState:
    """`outward`: +1 for a right wheel, whose top leans right when it leans outward; -1 for a left one."""
    y, z, x, slip_ratio, load, pressure, spin, wear, core, camber, disc, slip_angle, nd_slip = numbers
    return WheelState(
        x, y, z, spin, slip_ratio, slip_angle * DEG, nd_slip, load, outward * camber, pressure * PSI, core, disc, wear,
        1.0 if valid else 0.0,
    )  # fmt: skip


def other_from_wire(index: int, message: CarPublic) -> OtherCar:
    """Return car `index` as its public page shows it."""
    x, y, z = iso_from_assetto(message.position)
    look_x, look_y, _ = iso_from_assetto(message.look)
    velocity_x, velocity_y, _ = iso_from_assetto(message.velocity)
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
    )


def state_to_wire(state: CarState, car: CarParams, packet_id: int, damage: Five = ZERO5) -> CarData:
    """Return what the game would publish of `state`. What the state does not know is 0: the game writes no NaN."""
    s = state
    forward = direction(s.yaw, s.pitch)
    up = up_vector(s.yaw, s.pitch, s.roll)
    left = _cross(up, forward)
    valid = 0
    for bit, wheel in enumerate(s.wheels):
        if not wheel.on_track < 0.5:  # NaN counts as on the track
            valid |= 1 << bit
    roll_rate, pitch_rate, yaw_rate = s.roll_rate, s.pitch_rate, s.yaw_rate
    if roll_rate + pitch_rate + yaw_rate != roll_rate + pitch_rate + yaw_rate:  # one of them is NaN
        roll_rate, pitch_rate, yaw_rate = known(roll_rate), known(pitch_rate), known(yaw_rate)
    return _new(CarData, (
        packet_id,
        known(s.throttle),
        known(s.brake),
        1.0 - known(s.clutch),
        _steering_degrees(s, car),
        known(s.handbrake),
        known(s.fuel_litres),
        (s.gear or 0) + NEUTRAL,
        known(s.engine_speed) / RPM,
        s.speed / KMH,
        _world(forward, left, up, s.velocity_x, s.velocity_y, s.velocity_z),
        _g_from_state(s),
        assetto_from_iso(forward),
        assetto_from_iso(up),
        assetto_from_iso((s.x, s.y, s.z)),
        assetto_from_iso((s.velocity_x, s.velocity_y, s.velocity_z)),
        assetto_from_iso((roll_rate, pitch_rate, yaw_rate)),
        car.body.cg_height,
        damage,
        _wheels_to_wire(s, car, forward, left, up),
        0.0,  # turbo boost
        0.0,  # force feedback
        0.0,
        0,  # pit limiter
        int(s.abs_active > 0.5),
        int(s.tc_active > 0.5),
        milliseconds(s.lap_time),
        milliseconds(s.best_lap_time),
        0.0,  # torque of the drivetrain
        known(s.lap_progress),
        known(s.contact_depth),
        int(known(s.contacts)),
        valid,
    ))  # fmt: skip


def state_to_public(state: CarState, car: CarParams, packet_id: int, damage: Five = ZERO5) -> CarPublic:
    """Return what everybody may see of `state`."""
    s = state
    forward = direction(s.yaw, s.pitch)
    up = up_vector(s.yaw, s.pitch, s.roll)
    return CarPublic(
        packet_id,
        _steering_degrees(s, car),
        known(s.engine_speed) / RPM,
        known(s.lap_progress),
        s.speed / KMH,
        _world(forward, _cross(up, forward), up, s.velocity_x, s.velocity_y, s.velocity_z),
        _g_from_state(s),
        assetto_from_iso(forward),
        assetto_from_iso(up),
        assetto_from_iso((s.x, s.y, s.z)),
        damage,
        int(s.brake > _BRAKING),
    )


def _wheels_to_wire(
    s: CarState, car: CarParams, forward: Vec3, left: Vec3, up: Vec3
) -> tuple[WheelData, WheelData, WheelData, WheelData]:
    body, front, rear = car.body, car.tyre_front.radius, car.tyre_rear.radius
    half_front, half_rear = 0.5 * body.track_front, 0.5 * body.track_rear
    angle = -_steering_degrees(s, car) * DEG / car.steering.ratio
    c, n = math.cos(angle), math.sin(angle)
    fx, fy, fz = forward
    lx, ly, lz = left
    look = (fy * c + ly * n, fz * c + lz * n, fx * c + lx * n)
    side = (ly * c - fy * n, lz * c - fz * n, lx * c - fx * n)
    look_rear, side_rear, normal = (fy, fz, fx), (ly, lz, lx), (up[1], up[2], up[0])
    yaw_rate, vx, vz = known(s.yaw_rate), s.velocity_x, s.velocity_z
    vy_front = s.velocity_y + yaw_rate * body.cg_to_front
    vy_rear = s.velocity_y - yaw_rate * body.cg_to_rear
    a, b, d, e = s.wheels
    dv_front, dv_rear = yaw_rate * half_front, yaw_rate * half_rear
    return (
        _wheel_to_wire(a, -1.0, front, normal, look, side, _world(forward, left, up, vx - dv_front, vy_front, vz)),
        _wheel_to_wire(b, 1.0, front, normal, look, side, _world(forward, left, up, vx + dv_front, vy_front, vz)),
        _wheel_to_wire(
            d, -1.0, rear, normal, look_rear, side_rear, _world(forward, left, up, vx - dv_rear, vy_rear, vz)
        ),
        _wheel_to_wire(
            e, 1.0, rear, normal, look_rear, side_rear, _world(forward, left, up, vx + dv_rear, vy_rear, vz)
        ),
    )


def _wheel_to_wire(
    w: WheelState, outward: float, radius: float, normal: Vec3, look: Vec3, side: Vec3, velocity: Vec3
) -> WheelData:
    # NaN differs from itself. Written out, not called: this runs for four wheels 333 times a second.
    x, y, z = w.x, w.y, w.z
    if x + y + z != x + y + z:
        x, y, z = known(x), known(y), known(z)
    slip_ratio, slip_angle, load, spin, combined = (
        w.slip_ratio, w.slip_angle, w.load, w.angular_velocity, w.combined_slip,
    )  # fmt: skip
    if (total := slip_ratio + slip_angle + load + spin + combined) != total:
        slip_ratio, slip_angle, load = known(slip_ratio), known(slip_angle), known(load)
        spin, combined = known(spin), known(combined)
    pressure, wear, core, camber, disc = w.pressure, w.wear, w.core_temperature, w.camber, w.disc_temperature
    return _new(WheelData, (
        (y + normal[0] * radius, z + normal[1] * radius, x + normal[2] * radius),
        (y, z, x),
        normal,
        look,
        side,
        velocity,
        slip_ratio,
        load,
        pressure / PSI if pressure == pressure else 0.0,
        spin,
        wear if wear == wear else 0.0,
        0.0,
        core if core == core else 0.0,
        camber * outward if camber == camber else 0.0,
        disc if disc == disc else 0.0,
        math.hypot(slip_ratio, slip_angle),
        slip_angle / DEG,
        combined,
    ))  # fmt: skip


def known(value: float) -> float:
    """Return `value`, 0 where it is NaN."""
    return value if value == value else 0.0  # NaN differs from itself; cheaper here than math.isnan


def milliseconds(seconds: float) -> int:
    """Return a time as the wire has it; 0 where there is none."""
    return min(_MS_MAX, int(seconds * 1000.0 + 0.5)) if seconds > 0.0 else 0


def _steering_degrees(s: CarState, car: CarParams) -> float:
    angle = s.steering_wheel_angle
    if angle != angle:
        angle = known(s.steer) * car.steering.max_angle * car.steering.ratio
    return -angle / DEG


def _g_from_state(s: CarState) -> Vec3:
    return (known(s.acceleration_y) / G, known(s.acceleration_z) / G, known(s.acceleration_x) / G)


def _cross(a: Vec3, b: Vec3) -> Vec3:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _world(forward: Vec3, left: Vec3, up: Vec3, x: float, y: float, z: float) -> Vec3:
    """Turn the body vector (x, y, z) into the wire's world frame."""
    return (
        forward[1] * x + left[1] * y + up[1] * z,
        forward[2] * x + left[2] * y + up[2] * z,
        forward[0] * x + left[0] * y + up[0] * z,
    )


# ---- Client to car -----------------------------------------------------------------------------------------


def driving_to_wire(controls: Controls, shift: int) -> Driving:
    """Return of the page that carries `controls` what changes all the time, its first nine fields."""
    return (
        controls.throttle, controls.brake, 1.0 - controls.clutch, -controls.steer, controls.handbrake,
        1 if shift > 0 else 0, 1 if shift < 0 else 0,
        1 if controls.drs > 0.5 else 0, 1 if controls.boost > 0.5 else 0,  # NaN is not
    )  # fmt: skip


def controls_to_wire(
    controls: Controls,
    *,
    shift: int = 0,
    buttons: Buttons = RELEASED,
    mguh_mode: int = 0,
    headlights: bool = False,
    teleport_to: int = TELEPORT_NONE,
    teleport: Pose | None = None,
) -> CarControls:
    """Return the page that carries `controls`.

    The clutch recipe satisfies both kinds of report (section 4.3): pedal released and all helpers on. A driver
    who presses the clutch gets it: the helpers that would fight him are off for as long as he does.

    Args:
        controls: what to do; `gear` None leaves shifting to the game's automatic box.
        shift: paddle to hold now: 1 up, -1 down, 0 none.
        buttons: the settings' buttons to hold now, as `knobs` has them.
        mguh_mode: of the motor at the turbocharger, 0 to 255: as the game numbers them.
        headlights: on.
        teleport_to: 0 none, 1 to the pits, 2 to `teleport`.
        teleport: where to.
    """
    position = direction_ = ZERO3
    if teleport is not None:
        position = assetto_from_iso((teleport.x, teleport.y, teleport.z))
        direction_ = assetto_from_iso(direction(teleport.yaw))
    autoclutch = int(controls.clutch <= 0.0)
    message = CarControls(
        *driving_to_wire(controls, shift),
        mguh_mode=mguh_mode,
        headlights=int(headlights),
        teleport_to=teleport_to,
        autoclutch_on_start=autoclutch,
        autoclutch_on_change=autoclutch,
        autoblip_active=1,
        teleport_pos=position,
        teleport_dir=direction_,
        autoshift_active=int(controls.gear is None),
    )
    if buttons == RELEASED:
        return message
    return CarControls._make((*message[:_FIRST_BUTTON], *buttons, *message[_FIRST_BUTTON + len(RELEASED) :]))


def controls_from_wire(message: CarControls, gear: int, settings: Sequence[float] = ()) -> Controls:
    """Return what `message` asks of a car that is in `gear` (-1, 0, 1, ...), clamped to the declared ranges.

    The gear wanted is `gear` itself, or None with the automatic box on: paddles are edges, which need a memory
    of the message before, and that is the host's. So are the buttons behind `settings`, which are passed on.

    Raises:
        WireError: an axis is not a finite number. The whole message is then to be ignored.
    """
    m = message
    gas, brake, clutch, steer, handbrake = m[:5]
    if not math.isfinite(gas + brake + clutch + steer + handbrake):
        raise WireError(
            "a control is not a finite number",
            got=f"gas {gas:g}, brake {brake:g}, clutch {clutch:g}, steer {steer:g}, handbrake {handbrake:g}",
        )
    gas = _unit(gas)
    # Section 4.3: autoclutch engages a forward gear by itself; else a zero-filled page means clutch pressed.
    released = 1.0 if m.autoclutch_on_start and gear + NEUTRAL >= 2 and gas > 0.0 else _unit(clutch)
    return Controls(
        -max(-1.0, min(1.0, steer)),
        gas,
        _unit(brake),
        1.0 - released,
        _unit(handbrake),
        None if m.autoshift_active else gear,
        float(m.drs != 0),
        float(m.kers != 0),
        None,
        *settings,
    )


def pose_from_wire(message: CarControls, yaw: float) -> Pose:
    """Return where `message` teleports to; a zero direction keeps the heading `yaw` (rad).

    Raises:
        WireError: the place is not finite.
    """
    if not all(map(math.isfinite, (*message.teleport_pos, *message.teleport_dir))):
        raise WireError("a teleport to nowhere", got=f"{message.teleport_pos}, {message.teleport_dir}")
    x, y, z = iso_from_assetto(message.teleport_pos)
    look_x, look_y, _ = iso_from_assetto(message.teleport_dir)
    return Pose(x, y, z, math.atan2(look_y, look_x) if look_x or look_y else yaw)


def _unit(value: float) -> float:
    return max(0.0, min(1.0, value))
