"""Where a car will be when a control acts that is sent now: its motion over the delay, with the steering on its way.

Two-track model with the package's tyre law and quasi-steady wheel loads, integrated over the delay with the steering
commands that were sent and have not acted yet. A law that is given the predicted motion closes its loop as if there
were no delay (Smith, "Closer control of loops with dead time", Chemical Engineering Progress 53, 1957).
"""

import math
from typing import NamedTuple

from trailbrake.arrays import Array
from trailbrake.cars.axle_forces import PlanningCar, wheel_loads
from trailbrake.cars.tyre import combined_slip_force
from trailbrake.kernels import internal_jit, jit

STEP = 0.005  # s, at most, of the integration: a tenth of the time in which a quick car answers its steering
LEAST_SPEED = 5.0  # m/s, below which a car is taken to turn on as it does: its slips are not known well


class PlaneMotion(NamedTuple):
    """The motion of a car in the plane of its road.

    Attributes:
        x, y: m, world.
        yaw: rad, world.
        forward, aside: m/s, velocity of the centre of mass along body x and y.
        yaw_rate: rad/s.
    """

    x: float
    y: float
    yaw: float
    forward: float
    aside: float
    yaw_rate: float


class PendingSteer(NamedTuple):
    """The steering commands that may not have acted yet, in a ring.

    Attributes:
        times: (n,) s, at which they were sent; -inf where there is none.
        angles: (n,) rad, of the road wheels.
    """

    times: Array
    angles: Array


class Steering(NamedTuple):
    """The steering at present.

    Attributes:
        angle: rad, of the road wheels.
        time: s, the present.
        newest: place of the newest command in the ring.
        pending: the commands.
    """

    angle: float
    time: float
    newest: int
    pending: PendingSteer


class KeptMotion(NamedTuple):
    """What is taken to stay as it is, or is the first guess.

    Attributes:
        acceleration_x: m/s^2, along body x; it stays.
        acceleration_y: m/s^2, along body y; for the first wheel loads.
        slip_front, slip_rear: slip ratios of the axles, positive driving; they stay.
    """

    acceleration_x: float
    acceleration_y: float
    slip_front: float
    slip_rear: float


class SteerResponse(NamedTuple):
    """How a car answers the steering.

    Attributes:
        delay: s, until a command acts.
        max_rate: rad/s, of the road wheels.
        yaw_inertia: kg m^2.
    """

    delay: float
    max_rate: float
    yaw_inertia: float


@internal_jit
def _command_at(steering: Steering, sent: float) -> float:
    """Return the angle (rad) of the last command sent at or before `sent` (s)."""
    pending = steering.pending
    count = pending.times.shape[0]
    for back in range(count):
        i = (steering.newest - back) % count
        if pending.times[i] <= sent:
            angle: float = pending.angles[i]
            return angle
    return 0.0


@internal_jit
def _approach(value: float, target: float, most: float) -> float:
    return min(max(target, value - most), value + most)


@internal_jit
def _yaw_and_side(
    motion: PlaneMotion, steer: float, ratios: tuple[float, float], loads: tuple[float, float, float, float],
    car: PlanningCar,
) -> tuple[float, float]:  # fmt: skip
    """Return the yaw moment (N m) and the force along body y (N) of the tyres."""
    body, moment, side = car.body, 0.0, 0.0
    to_rear = body.wheelbase - body.cg_to_front
    for wheel in range(4):
        is_front = wheel < 2
        half = 0.5 * (body.track_front if is_front else body.track_rear)
        left = half if wheel % 2 == 0 else -half
        ahead = body.cg_to_front if is_front else -to_rear
        along = max(motion.forward - motion.yaw_rate * left, LEAST_SPEED)
        across = motion.aside + motion.yaw_rate * ahead
        angle = steer if is_front else 0.0
        tangent = math.tan(min(max(math.atan2(across, along) - angle, -1.2), 1.2))
        fx, fy, _ = combined_slip_force(
            ratios[0] if is_front else ratios[1], tangent, loads[wheel], car.front if is_front else car.rear
        )
        force = fy * math.cos(angle) + fx * math.sin(angle)
        side += force
        moment += ahead * force - left * (fx * math.cos(angle) - fy * math.sin(angle))
    return moment, side


@jit
def predict_motion(
    motion: PlaneMotion, kept: KeptMotion, steering: Steering, response: SteerResponse, car: PlanningCar
) -> PlaneMotion:
    """Return the motion of a car when a command that is sent now acts.

    Args:
        motion: at present.
        kept: accelerations and slips at present.
        steering: at present, with the commands on their way.
        response: how the car answers them.
        car: that is believed.
    """
    steer, side = steering.angle, kept.acceleration_y
    steps = math.ceil(response.delay / STEP)
    if steps < 1:
        return motion
    step = response.delay / steps
    x, y, yaw, forward, aside, turn = motion
    for k in range(steps):
        target = _command_at(steering, steering.time + (k + 0.5) * step - response.delay)
        steer = _approach(steer, target, response.max_rate * step)
        turning = 0.0
        if forward > LEAST_SPEED:
            loads = wheel_loads(kept.acceleration_x, side, forward, car.body)
            here = PlaneMotion(x, y, yaw, forward, aside, turn)
            moment, force = _yaw_and_side(here, steer, (kept.slip_front, kept.slip_rear), loads, car)
            turning, side = moment / response.yaw_inertia, force / car.body.mass
            aside += step * (side - turn * forward)
        forward = max(forward + step * (kept.acceleration_x + turn * aside), 0.0)
        turn += step * turning
        yaw += step * turn
        x += step * (forward * math.cos(yaw) - aside * math.sin(yaw))
        y += step * (forward * math.sin(yaw) + aside * math.cos(yaw))
    return PlaneMotion(x, y, yaw, forward, aside, turn)


@jit
def advance_steer(steering: Steering, step: float, response: SteerResponse) -> float:
    """Return the angle (rad) of the road wheels at the time of `steering`, if `step` (s) before it was its `angle`."""
    target = _command_at(steering, steering.time - response.delay)
    angle: float = _approach(steering.angle, target, response.max_rate * step)
    return angle
