"""The state of a car that is put on the road: one kernel for the processor's batches and those of graphics cards."""

from typing import NamedTuple

import numpy as np

from trailbrake.kernels import exact_inline_jit, jit
from trailbrake.world.kernel_arguments import CarBlocks
from trailbrake.world.row_layout import Array, AxleRow, Ints, ParamRow, StateRow, WorkRow

_LONG_AGO = 1e6  # s, since the last contact of a new car


class StartPose(NamedTuple):
    """Where a car begins.

    Attributes:
        x, y: m, world.
        yaw: rad, within a half turn.
        cos, sin: of the yaw.
        speed: m/s, forward.
    """

    x: float
    y: float
    yaw: float
    cos: float
    sin: float
    speed: float


@exact_inline_jit
def reset_car(cars: CarBlocks, lanes: int, car: int, pose: StartPose) -> None:
    """Write the state of a new car; the ground under it is found by a step of 0 substeps afterwards.

    At rest in first gear; rolling in the lowest gear that keeps the engine below the automatic's upshift.

    Args:
        cars: changed but for the controls.
        lanes: cars in a block.
        car: number of the car.
        pose: where it begins.
    """
    lane = car % lanes
    state = cars.cars[car // lanes]
    params = cars.params[cars.kinds[car // lanes]]
    first = lane - WorkRow.COUNT * lanes  # of the parameters' rows
    speed = pose.speed
    for row in range(StateRow.COUNT):
        state[row * lanes + lane] = 0.0
    state[StateRow.X * lanes + lane] = pose.x
    state[StateRow.Y * lanes + lane] = pose.y
    state[StateRow.YAW * lanes + lane] = pose.yaw
    state[StateRow.COS_YAW * lanes + lane] = pose.cos
    state[StateRow.SIN_YAW * lanes + lane] = pose.sin
    state[StateRow.ROAD_ROW * lanes + lane] = -1.0
    state[StateRow.TIME_SINCE_CONTACT * lanes + lane] = _LONG_AGO
    state[StateRow.FUEL * lanes + lane] = params[ParamRow.FUEL_START * lanes + first]
    state[StateRow.CHARGE * lanes + lane] = params[ParamRow.CHARGE_START * lanes + first]
    state[StateRow.TC_FACTOR * lanes + lane] = 1.0
    state[StateRow.INVERSE_MASS * lanes + lane] = 1.0 / params[ParamRow.MASS * lanes + first]
    state[StateRow.VX * lanes + lane] = speed
    for wheel in range(4):
        axle = wheel // 2
        state[(StateRow.SPIN + wheel) * lanes + lane] = speed / params[(AxleRow.RADIUS + axle) * lanes + first]
        state[(StateRow.TEMPERATURE + wheel) * lanes + lane] = params[
            (AxleRow.START_TEMPERATURE + axle) * lanes + first
        ]
        state[(StateRow.LOAD + wheel) * lanes + lane] = params[(AxleRow.LOAD_AT_REST + axle) * lanes + first]
        state[(StateRow.ABS_FACTOR + wheel) * lanes + lane] = 1.0
    radius = (
        params[ParamRow.DRIVE_FRONT * lanes + first] * params[AxleRow.RADIUS * lanes + first]
        + params[ParamRow.DRIVE_REAR * lanes + first] * params[(AxleRow.RADIUS + 1) * lanes + first]
    )
    upshift, top_gear = params[ParamRow.UPSHIFT * lanes + first], params[ParamRow.TOP_GEAR * lanes + first]
    gear = 1
    ratio = params[(ParamRow.RATIOS + 1 + gear) * lanes + first]
    while gear < top_gear and speed / radius * ratio > upshift:
        gear += 1
        ratio = params[(ParamRow.RATIOS + 1 + gear) * lanes + first]
    state[StateRow.GEAR * lanes + lane] = gear
    state[StateRow.NEXT_GEAR * lanes + lane] = gear
    state[StateRow.RATIO * lanes + lane] = ratio
    idle, limiter = params[ParamRow.IDLE * lanes + first], params[ParamRow.LIMITER * lanes + first]
    state[StateRow.ENGINE_SPEED * lanes + lane] = min(max(speed / radius * ratio, idle), limiter)


@jit
def reset_cars(cars: CarBlocks, lanes: int, chosen: Ints, poses: Array) -> None:
    """Write the state of the new cars `chosen` (k,), each line of `poses` (k, 6) a `StartPose`."""
    for k in range(chosen.shape[0]):
        pose = StartPose(poses[k, 0], poses[k, 1], poses[k, 2], poses[k, 3], poses[k, 4], poses[k, 5])
        reset_car(cars, lanes, chosen[k], pose)


def tabulate_poses(x: Array, y: Array, yaw: Array, speed: Array) -> Array:
    """Return the poses (k, 6) that `reset_cars` takes; the yaw may be any angle."""
    wrapped = yaw - 2.0 * np.pi * np.floor(yaw / (2.0 * np.pi) + 0.5)
    return np.column_stack([x, y, wrapped, np.cos(wrapped), np.sin(wrapped), speed])
