"""The law that holds a planned line, speed and attitude at the limit of grip: feed-forward of the plan, and feedback.

Steering: the plan's road-wheel angle a little ahead, corrected for the speed that the car has, plus feedback on the
lateral error at a look-ahead point, on the heading with the plan's sideslip, and on the yaw rate (Kapania and Gerdes,
"Design of a feedback-feedforward steering controller for accurate path tracking and stability at the limits of
handling", Vehicle System Dynamics 53:12, 2015).
Pedals: the plan's acceleration a little ahead plus feedback on the speed error, as a force at the wheels through the
inverse of the drivetrain. Slip limits what they give: the rear axle keeps side force, and no wheel spins or locks.

One compiled function without memory. A driver calls it for one car, a search over laps for thousands in a batch.
"""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.cars.params import CarParams
from trailbrake.control.vehicle.drivetrain import HYSTERESIS, upshift_speeds
from trailbrake.control.vehicle.slip_limit import slip_limited_share, turn_in_share
from trailbrake.kernels import internal_jit, jit
from trailbrake.tracks.frenet import RoadTable, bracket_rows, column_at, project_to_road
from trailbrake.tracks.road_columns import RoadColumn

TORQUE_POINTS = 64  # of the engine's curves, at equal steps of engine speed from 0
MIN_SPEED = 1.0  # m/s, of the feed-forward terms
MOST_SPEED_RATIO = 1.2  # speed over the plan's, up to which slips are scaled
OPEN_THROTTLE_SPEED = 2.0  # m/s above the plan: so far a limiting engine gives all, from twice this on what is planned
TOO_FAST = 2.0  # m/s above the plan, from which the slip of the wheels alone limits the brakes, from twice this wholly
SPEED_BELOW = 3.0  # m/s, see DRIVE_LIMIT_BELOW
SLOW_SHARE, SLOW_RANGE = 0.8, 0.2  # of the planned speed, below which a car out of its room gets drive, ever more
URGENT_SLIP = 0.4  # of the rear's peak slip angle, by which a car that is far too fast may slide more while it brakes
LEAST_ROOM = 0.2  # m outside of the line that a car may always drift to
SLIP_SPEED = 5.0  # m/s, above which slip angles limit steering and pedals


class PlanColumn(IntEnum):
    """Columns of a plan's table, one row for each row of its line."""

    SPEED = 0  # m/s
    ACCELERATION = 1  # m/s^2, along the path, from this row to the next
    STEER = 2  # rad, angle of the front wheels, positive left
    SIDESLIP = 3  # rad, of the velocity to the left of the car's axis
    YAW_RATE = 4  # rad/s
    DRIVE_LIMIT = 5  # m/s^2, largest acceleration that the tyres allow beside the plan's cornering
    BRAKE_LIMIT = 6  # m/s^2, positive, largest deceleration
    RESISTANCE = 7  # N, force that holds the speed: air, rolling, climb
    DRIVE_LIMIT_BELOW = 8  # m/s^2, DRIVE_LIMIT at SPEED_BELOW less than the plan's speed
    LAUNCH_LIMIT = 9  # m/s^2, DRIVE_LIMIT at rest
    ENGINE_LIMITED = 10  # 1 where the engine limits the acceleration, else 0
    LEARNED_STEER = 11  # rad, that laps have found missing in STEER
    LEARNED_SIDESLIP = 12  # rad, the same in SIDESLIP
    OFFSET = 13  # m, left of the line, that is aimed at
    DRIVE_LIMIT_HALF = 14  # m/s^2, DRIVE_LIMIT at half the speed of DRIVE_LIMIT_BELOW
    BRAKE_RELEASED = 15  # share of the brakes' force that anti-lock brakes release: the pedal makes up for it


class TrackingPlan(NamedTuple):
    """What is to be held.

    Attributes:
        line: the path.
        table: (rows of the line, len(PlanColumn)).
    """

    line: RoadTable
    table: Array


class TrackingGain(IntEnum):
    """Gains of the law, as places in an array."""

    STEER = 0  # rad/m, per metre of error at the look-ahead point
    LOOK_AHEAD = 1  # m
    YAW_DAMPING = 2  # s, rad per rad/s
    STEER_LEAD = 3  # s, preview of the steering
    SPEED_LEAD = 4  # s, preview of the acceleration
    SPEED = 5  # 1/s, acceleration per m/s of speed error
    REAR_SLIP_START = 6  # slip angle of the rear over that of its peak, above which pedals are reduced, ...
    REAR_SLIP_END = 7  # ... to 0 here
    FRONT_SLIP = 8  # slip angle of the front over that of its peak, up to which it is steered
    FULL_PEDAL_ERROR = 9  # m/s below the plan, from which all that the limits allow is used
    LIFT_LEAD = 10  # s, over which the place across the road is predicted
    LIFT_RANGE = 11  # m beyond its room, predicted, over which the drive is reduced to 0


# Those of the quickest laps of a search over plans and gains together (`gt3`, pinegrove), rounded; without the lift.
DEFAULT_GAINS = (0.065, 28.0, 0.06, 0.066, 0.072, 2.8, 0.8, 1.0, 0.95, 1.2, 0.3, 0.4)


class TrackedMotion(NamedTuple):
    """The measured motion of a car.

    Attributes:
        x, y: m, world.
        yaw: rad, world.
        forward, aside: m/s, velocity along body x and y.
        yaw_rate: rad/s.
        engine_speed: rad/s; NaN where it is not known.
        wheel_speeds: rad/s, FL, FR, RL, RR; NaN where they are not known.
        gear: the present gear.
    """

    x: float
    y: float
    yaw: float
    forward: float
    aside: float
    yaw_rate: float
    engine_speed: float
    wheel_speeds: tuple[float, float, float, float]
    gear: int


class TrackedCar(NamedTuple):
    """The numbers of a car that the law needs.

    Attributes:
        max_steer: rad, of the front wheels.
        to_front, to_rear: m, from the centre of mass to the axles.
        front_mass: kg, mass on the front axle.
        peak_angles: rad, slip angles of peak grip, front and rear.
        peak_ratios: slip ratios of peak grip, front and rear.
        radii: m, of the wheels, front and rear.
        half_tracks: m, front and rear.
        driven: whether an axle is driven, front and rear.
        brake_force: N, of all brakes.
        urgent_braking: m/s^2, wanted of a car that is far too fast; the slips of its wheels limit it.
        radius: m, of the driven wheels.
        ratios: (gears + 1,) engine speed over wheel speed.
        efficiency: of the drivetrain.
        masses: (gears + 1,) kg, that a force at the wheels accelerates.
        drag: N s^2/m^2, of the air, over the speed squared.
        upshifts: (gears - 1,) m/s, speeds at which the next gear is the better one.
        torques: (2, TORQUE_POINTS) N m, at full throttle and of the engine's drag.
        torque_step: rad/s, between the points.
        idle: rad/s.
    """

    max_steer: float
    to_front: float
    to_rear: float
    front_mass: float
    peak_angles: tuple[float, float]
    peak_ratios: tuple[float, float]
    radii: tuple[float, float]
    half_tracks: tuple[float, float]
    driven: tuple[bool, bool]
    brake_force: float
    urgent_braking: float
    radius: float
    ratios: Array
    efficiency: float
    masses: Array
    drag: float
    upshifts: Array
    torques: Array
    torque_step: float
    idle: float


class TrackingAim(NamedTuple):
    """What a caller knows of the car besides its motion.

    Attributes:
        near: row of the line near the car, -1 where it is not known.
        speed_share: of the plan's speed that is aimed at, 1 unless the car is in trouble.
        shift: m to the left, by which the place that is aimed at is beside the plan's: for a car that has to come back.
    """

    near: int
    speed_share: float
    shift: float


class TrackingCommand(NamedTuple):
    """What the law returns.

    Attributes:
        steer: rad, of the front wheels, positive left.
        throttle, brake: 0..1.
        gear: 1, 2, ...
        s: m, along the line.
        offset: m, left of the line.
        row: of the line; the next call's hint.
        speed_error: m/s, the plan's speed over the car's.
        steer_feedback: rad, the part of `steer` that answers to the place and the heading of the car.
        sideslip_error: rad, of the velocity to the left of the car's axis, over the planned one.
        steer_cut: rad, >= 0, of the wanted steering angle, not steered: the front tyres are at their peak already.
    """

    steer: float
    throttle: float
    brake: float
    gear: int
    s: float
    offset: float
    row: int
    speed_error: float
    steer_feedback: float
    sideslip_error: float
    steer_cut: float


def tracked_car(car: CarParams) -> TrackedCar:
    """Return the law's numbers of a car."""
    front, rear, body, share = car.tyre_front, car.tyre_rear, car.body, car.drive.front_share
    gears = range(car.gearbox.top_gear + 1)
    top = 1.1 * car.engine.limiter_rpm * math.pi / 30.0
    rpms = np.linspace(0.0, top, TORQUE_POINTS) * 30.0 / math.pi
    torques = [[max(curve(float(rpm)), 0.0) for rpm in rpms] for curve in (car.engine.full_torque,
                                                                          car.engine.drag_torque)]  # fmt: skip
    return TrackedCar(
        max_steer=car.steering.max_angle,
        to_front=body.cg_to_front,
        to_rear=body.cg_to_rear,
        front_mass=body.mass * body.front_share,
        peak_angles=(front.peak_slip_angle, rear.peak_slip_angle),
        peak_ratios=(front.peak_slip_ratio, rear.peak_slip_ratio),
        radii=(front.radius, rear.radius),
        half_tracks=(0.5 * body.track_front, 0.5 * body.track_rear),
        driven=(share > 0.0, share < 1.0),
        brake_force=car.full_brake_force,
        urgent_braking=car.full_brake_force / car.effective_mass(0),
        radius=car.driven_radius,
        ratios=np.array([car.gearbox.overall_ratio(gear) for gear in gears]),
        efficiency=car.gearbox.efficiency,
        masses=np.array([car.effective_mass(gear) for gear in gears]),
        drag=0.5 * car.aero.air_density * car.aero.drag_area,
        upshifts=np.array(upshift_speeds(car), np.float64),
        torques=np.array(torques),
        torque_step=top / (TORQUE_POINTS - 1),
        idle=car.engine.idle_rpm * math.pi / 30.0,
    )


@internal_jit
def _plan_at(plan: TrackingPlan, s: float, column: int) -> float:
    i, j, u = bracket_rows(plan.line, s)
    value: float = plan.table[i, column] + u * (plan.table[j, column] - plan.table[i, column])
    return value


@internal_jit
def _torque_at(car: TrackedCar, curve: int, engine_speed: float) -> float:
    position = engine_speed / car.torque_step
    i = min(max(int(position), 0), TORQUE_POINTS - 2)
    u = min(max(position - i, 0.0), 1.0)
    value: float = car.torques[curve, i] + u * (car.torques[curve, i + 1] - car.torques[curve, i])
    return value


@internal_jit
def _pedals_for_force(car: TrackedCar, motion: TrackedMotion, force: float, gear: int) -> tuple[float, float]:
    """Return throttle and brake for a force at the wheels, as `drivetrain_inverse.DrivetrainInverse` does."""
    ratio = car.ratios[gear]
    engine_speed = max(motion.forward / car.radius * ratio, car.idle)
    if motion.engine_speed > engine_speed:  # false for NaN
        engine_speed = motion.engine_speed
    full, drag = _torque_at(car, 0, engine_speed), _torque_at(car, 1, engine_speed)
    torque = max(force, 0.0) * car.radius / (ratio * car.efficiency)
    throttle = min((torque + drag) / (full + drag), 1.0) if full + drag > 0.0 else 0.0
    return throttle, min(max(-force, 0.0) / car.brake_force, 1.0)


@internal_jit
def _slip_limited_pedals(car: TrackedCar, motion: TrackedMotion, throttle: float, brake: float) -> tuple[float, float]:
    """Return the pedals, reduced where a wheel spins or locks; unchanged where the wheel speeds are not known."""
    throttle_kept = brake_kept = 1.0
    for wheel in range(4):
        axle, side = wheel // 2, 1.0 - 2.0 * (wheel % 2)
        speed = motion.forward - motion.yaw_rate * side * car.half_tracks[axle]
        slide = motion.wheel_speeds[wheel] * car.radii[axle] - speed
        if car.driven[axle]:
            throttle_kept = min(throttle_kept, _limited_share(slide, speed, car.peak_ratios[axle]))
        brake_kept = min(brake_kept, _limited_share(-slide, speed, car.peak_ratios[axle]))
    return throttle * throttle_kept, brake * brake_kept


_limited_share = internal_jit(slip_limited_share)
_turn_in_share = internal_jit(turn_in_share)


@internal_jit
def _choose_gear(car: TrackedCar, speed: float, gear: int) -> int:
    """Return the gear, as `drivetrain.choose_gear` does."""
    count = len(car.upshifts)
    if gear < 1:
        return 1
    if gear <= count and speed > car.upshifts[gear - 1]:
        return gear + 1
    if gear >= 2 and (gear > count + 1 or speed < HYSTERESIS * car.upshifts[gear - 2]):
        return gear - 1
    return gear


@internal_jit
def _rear_slip(car: TrackedCar, motion: TrackedMotion) -> float:
    """Return the slip angle of the rear axle over that of its peak, positive where it moves to the left."""
    angle: float = math.atan2(motion.aside - car.to_rear * motion.yaw_rate, max(motion.forward, 1.0))
    return angle / car.peak_angles[1]


@internal_jit
def _steer_angle(
    plan: TrackingPlan, car: TrackedCar, motion: TrackedMotion, gains: Array, place: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:
    """Return the angle of the front wheels, and `steer_feedback`, `sideslip_error` and `steer_cut` of the command.

    All in rad; `place` is s (m), offset (m), speed (m/s) and the aim's shift (m).
    """
    s, offset, speed, shift = place
    ahead = s + gains[TrackingGain.STEER_LEAD] * speed
    planned = max(_plan_at(plan, ahead, PlanColumn.SPEED), MIN_SPEED)
    # Slips grow with the square of the speed; what the geometry needs does not.
    ratio = min(speed / planned, MOST_SPEED_RATIO)
    curvature = column_at(plan.line, ahead, RoadColumn.CURVATURE)
    turn, slide = (car.to_front + car.to_rear) * curvature, car.to_rear * curvature
    forward = turn + ratio * ratio * (_plan_at(plan, ahead, PlanColumn.STEER) - turn)
    sideslip = slide + ratio * ratio * (_plan_at(plan, ahead, PlanColumn.SIDESLIP) - slide)
    here = max(_plan_at(plan, s, PlanColumn.SPEED), MIN_SPEED)
    turning = motion.yaw_rate - min(speed / here, MOST_SPEED_RATIO) * _plan_at(plan, s, PlanColumn.YAW_RATE)
    heading = motion.yaw - column_at(plan.line, s, RoadColumn.YAW)
    heading -= 2.0 * math.pi * math.floor(heading / (2.0 * math.pi) + 0.5)
    sideslip += _plan_at(plan, ahead, PlanColumn.LEARNED_SIDESLIP)
    error = offset - _plan_at(plan, ahead, PlanColumn.OFFSET) - shift
    error += gains[TrackingGain.LOOK_AHEAD] * min(max(heading + sideslip, -1.0), 1.0)
    forward += _plan_at(plan, ahead, PlanColumn.LEARNED_STEER) - gains[TrackingGain.YAW_DAMPING] * turning
    wanted = angle = forward - gains[TrackingGain.STEER] * error
    if speed > SLIP_SPEED:
        # From the direction of flow at the front axle: beyond the peak slip more steer only makes the tyres slide.
        flow = math.atan2(motion.aside + car.to_front * motion.yaw_rate, max(motion.forward, 1.0))
        # Beyond the rear's peak the front turns in less, or the car spins: it runs wide, and the rear comes back.
        rear = _rear_slip(car, motion)
        peak = gains[TrackingGain.FRONT_SLIP] * car.peak_angles[0]
        angle = min(max(angle, flow - peak * _turn_in_share(rear)), flow + peak * _turn_in_share(-rear))
    limited = min(max(angle, -car.max_steer), car.max_steer)
    sideslip_error = math.atan2(motion.aside, max(motion.forward, MIN_SPEED)) - sideslip
    return limited, limited - forward, sideslip_error, abs(wanted - angle)


@internal_jit
def _drive_kept_when_wide(
    plan: TrackingPlan, car: TrackedCar, motion: TrackedMotion, gains: Array, place: tuple[float, float, float]
) -> float:
    """Return the share of the drive that is kept where the car drifts out of its room at the outside of a bend.

    The room is that of the outer wheels, to the edge of the road or the end of the kerb: behind it they lose much of
    their grip. Less drive leaves the tyres side force, and the slower car needs less of it. `place` is s (m), offset
    (m) and speed (m/s).
    """
    s, offset, speed = place
    lead = gains[TrackingGain.LIFT_LEAD]
    heading = motion.yaw - column_at(plan.line, s, RoadColumn.YAW)
    drift = motion.forward * math.sin(heading) + motion.aside * math.cos(heading)
    is_left = column_at(plan.line, s, RoadColumn.CURVATURE) > 0.0
    width = RoadColumn.WIDTH_RIGHT if is_left else RoadColumn.WIDTH_LEFT
    kerb = RoadColumn.KERB_RIGHT if is_left else RoadColumn.KERB_LEFT
    outside = -1.0 if is_left else 1.0
    ahead = s + lead * speed
    room = min(
        column_at(plan.line, s, width) + column_at(plan.line, s, kerb),
        column_at(plan.line, ahead, width) + column_at(plan.line, ahead, kerb),
    ) - max(car.half_tracks[0], car.half_tracks[1])
    wide = outside * (offset + lead * drift)
    kept: float = min(max(1.0 - (wide - max(room, LEAST_ROOM)) / gains[TrackingGain.LIFT_RANGE], 0.0), 1.0)
    # A slow car needs little of its side force: without drive it would stay where it is, beside the road.
    slow = (SLOW_SHARE - speed / max(_plan_at(plan, s, PlanColumn.SPEED), MIN_SPEED)) / SLOW_RANGE
    return max(kept, min(slow, 1.0))


@internal_jit
def _drive_limit(plan: TrackingPlan, s: float, speed: float, error: float) -> float:
    """Return the largest acceleration (m/s^2) that the tyres allow at `speed`, `error` below the plan's (m/s).

    A car that is a little slower than planned needs less side force, so that the tyres have more left to bring it back.
    One that is much slower has less downforce, and needs less of its grip for the bend: both go with the square of the
    speed.
    """
    limit_below = _plan_at(plan, s, PlanColumn.DRIVE_LIMIT_BELOW)
    if error < SPEED_BELOW:
        below = max(error / SPEED_BELOW, 0.0)
        return (1.0 - below) * _plan_at(plan, s, PlanColumn.DRIVE_LIMIT) + below * limit_below
    limit_half = _plan_at(plan, s, PlanColumn.DRIVE_LIMIT_HALF)
    share = (2.0 * speed / max(speed + error - SPEED_BELOW, MIN_SPEED)) ** 2  # 1 at half the speed, 4 at the speed
    if share > 1.0:
        return limit_half + (share - 1.0) / 3.0 * (limit_below - limit_half)
    limit: float = share * limit_half + (1.0 - share) * _plan_at(plan, s, PlanColumn.LAUNCH_LIMIT)
    return limit


@jit
def track_line(
    plan: TrackingPlan, car: TrackedCar, motion: TrackedMotion, gains: Array, aim: TrackingAim
) -> TrackingCommand:
    """Return the command that holds a plan.

    Args:
        plan: what is to be held.
        car: its numbers.
        motion: what the car does.
        gains: (len(TrackingGain),).
        aim: hint and speed.
    """
    s, offset, row = project_to_road(plan.line, motion.x, motion.y, aim.near)
    speed = math.sqrt(motion.forward * motion.forward + motion.aside * motion.aside)
    angle, feedback, sideslip_error, cut = _steer_angle(plan, car, motion, gains, (s, offset, speed, aim.shift))

    error = aim.speed_share * _plan_at(plan, s, PlanColumn.SPEED) - speed
    ahead = s + gains[TrackingGain.SPEED_LEAD] * speed
    wanted = _plan_at(plan, ahead, PlanColumn.ACCELERATION) + gains[TrackingGain.SPEED] * error
    # Less grip than there is must not hold back a car that is far too fast: all that the slips of its wheels allow.
    urgency = min(max(-error / TOO_FAST - 1.0, 0.0), 1.0)
    kept = brake_kept = 1.0
    if speed > SLIP_SPEED:
        start, end = gains[TrackingGain.REAR_SLIP_START], gains[TrackingGain.REAR_SLIP_END]
        kept = min(max((end - abs(_rear_slip(car, motion))) / (end - start), 0.0), 1.0)
        brake_kept = min(max(kept, (end + URGENT_SLIP * urgency - abs(_rear_slip(car, motion))) / (end - start)), 1.0)
    drive_kept = kept * _drive_kept_when_wide(plan, car, motion, gains, (s, offset, speed))
    most = drive_kept * _drive_limit(plan, s, speed, error)
    opened = _plan_at(plan, ahead, PlanColumn.ENGINE_LIMITED) * min(max(2.0 + error / OPEN_THROTTLE_SPEED, 0.0), 1.0)
    wanted += opened * max(most - wanted, 0.0)
    planned = _plan_at(plan, s, PlanColumn.BRAKE_LIMIT)
    least = -brake_kept * (planned + urgency * max(car.urgent_braking - planned, 0.0))
    acceleration = most if error > gains[TrackingGain.FULL_PEDAL_ERROR] else min(max(wanted, least), most)
    gear = min(max(motion.gear, 1), len(car.masses) - 1)
    # Part of a steered wheel's cornering force points backwards.
    scrub = car.front_mass * abs(speed * motion.yaw_rate * angle)
    hold = _plan_at(plan, s, PlanColumn.RESISTANCE) + scrub
    if error > SPEED_BELOW:  # far below the plan the air holds less than there: its force would spin the wheels
        hold -= car.drag * ((speed + error) ** 2 - (speed + SPEED_BELOW) ** 2)
    force = car.masses[gear] * acceleration + (hold if hold < 0.0 else hold * drive_kept)
    throttle, brake = _pedals_for_force(car, motion, force, gear)
    brake = min(brake / (1.0 - _plan_at(plan, ahead, PlanColumn.BRAKE_RELEASED)), 1.0)
    throttle, brake = _slip_limited_pedals(car, motion, throttle, brake)
    gear = _choose_gear(car, speed, motion.gear)
    return TrackingCommand(angle, throttle, brake, gear, s, offset, row, error, feedback, sideslip_error, cut)
