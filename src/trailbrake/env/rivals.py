"""Rivals: cars that do not learn and follow the road at a steady pace.

They steer towards a point ahead at their side of the centreline (pure pursuit: R. C. Coulter, Implementation of the
pure pursuit path tracking algorithm, CMU-RI-TR-92-01, 1992: curvature = 2 sin(alpha) / distance). Their speed keeps the
lateral acceleration in the bends ahead below MAX_LATERAL.
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.env.step_kernels import car_param
from trailbrake.kernels import exact_inline_jit, jit
from trailbrake.kernels.lane_blocks import LANES
from trailbrake.observe.features import Feature
from trailbrake.tracks.frenet import RoadTable, column_at
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.world.kernel_arguments import CarBlocks
from trailbrake.world.row_layout import AxleRow, ControlRow, ParamRow

Array = NDArray[np.float64]

MAX_LATERAL = 5.0  # m/s^2
MAX_SPEED = 30.0  # m/s
LATERAL_SHARE = 0.35  # distance from the centreline over the width of that side; odd cars left, even cars right
_DECELERATION = 4.0  # m/s^2, of planned braking
_PREVIEW_POINTS = 8  # points ahead at which the curvature is read
_PEDAL_PER_SPEED = 0.5  # share of full pedal per m/s of speed error


@exact_inline_jit
def drive_rival(cars: CarBlocks, features: Array, road: RoadTable, group_size: int, car: int) -> None:
    """Write the controls of a car, unless it is the first of its world; the rest as `drive_rivals`."""
    blocks = cars.cars
    number = car % group_size
    if number == 0:
        return
    block, lane = car // LANES, car % LANES
    s, offset, heading = features[Feature.S, car], features[Feature.OFFSET, car], features[Feature.HEADING, car]
    speed = max(features[Feature.VELOCITY_X, car], 0.0)
    distance = 6.0 + 0.5 * speed  # m to the point that it steers to
    column = RoadColumn.WIDTH_LEFT if number % 2 == 1 else RoadColumn.WIDTH_RIGHT
    side = LATERAL_SHARE * column_at(road, s + distance, column) * (1.0 if number % 2 == 1 else -1.0)
    # The point in the road's axes at the car, with the road up to there as a circle.
    bend = column_at(road, s + 0.5 * distance, RoadColumn.CURVATURE)
    aside = side + 0.5 * bend * distance * distance - offset
    alpha = math.atan2(aside, distance) - heading
    alpha -= 2.0 * math.pi * math.floor(alpha / (2.0 * math.pi) + 0.5)
    wheelbase = car_param(cars, AxleRow.X, car) - car_param(cars, AxleRow.X + 1, car)
    angle = math.atan(2.0 * wheelbase * math.sin(alpha) / math.sqrt(distance * distance + aside * aside))
    steer = angle / car_param(cars, ParamRow.STEER_MAX, car)
    target_speed = MAX_SPEED
    reach = 5.0 + speed * speed / (2.0 * _DECELERATION)
    for k in range(_PREVIEW_POINTS):
        ahead = reach * k / (_PREVIEW_POINTS - 1.0)
        curvature = max(abs(column_at(road, s + ahead, RoadColumn.CURVATURE)), 1e-4)
        target_speed = min(target_speed, math.sqrt(MAX_LATERAL / curvature + 2.0 * _DECELERATION * ahead))
    pedal = _PEDAL_PER_SPEED * (target_speed - speed)
    blocks[block, ControlRow.STEER * LANES + lane] = min(max(steer, -1.0), 1.0)
    blocks[block, ControlRow.THROTTLE * LANES + lane] = min(max(pedal, 0.0), 1.0)
    blocks[block, ControlRow.BRAKE * LANES + lane] = min(max(-pedal, 0.0), 1.0)


@jit
def drive_rivals(cars: CarBlocks, features: Array, road: RoadTable, group_size: int) -> None:
    """Write the controls of all cars except the first of each world.

    Args:
        cars: controls are written.
        features: (Feature.COUNT, n or more), all rows up to date.
        road: the road.
        group_size: number of cars in a world.
    """
    for car in range(cars.n):
        drive_rival(cars, features, road, group_size, car)
