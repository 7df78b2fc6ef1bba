"""Kernels of the miniature car: a kinematic bicycle between walls, many cars at once.

The effect of the pedals is fitted to drives in the real simulator (protocol page formula-trend, section 4). The
throttle is nearly a switch: a few hundredths of it drive as full throttle does, and the losses of coasting hold at 0
only. By that page, too, a car that touches a wall stops and stays until it backs away. Wheelbase and size of the car
are not known: the page's estimate and the car's size in pictures stand in for them.
"""

import math
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.kernels import internal_jit, jit
from trailbrake.world.miniature.camera.track_raster import TrackRaster, locate_on_track
from trailbrake.world.miniature.layout import HALF_WIDTH
from trailbrake.world.miniature.parked_cars import CAR_LENGTH, CAR_WIDTH, ParkedCar
from trailbrake.world.miniature.track import HalfColumn, MiniatureTrack

STEP = 0.02  # s, the simulator's step
WHEELBASE = 0.2  # m
STEER_LOCK = math.radians(40.0)  # rad
STEER_RATE_LIMIT = math.radians(133.0)  # rad/s
TOP_SPEED = 2.0  # m/s
# With throttle the page's medians, straight on: 1.05 .. 1.09, 0.95 .. 1.01, 0.89 .. 0.90 and 0.83 .. 0.88 m/s^2 at 0.4,
# 0.8, 1.2 and 1.6 m/s, at throttles up to 0.03 as at 0.3 and more. Between 0.06 and 0.3 they are a third higher, in few
# rows and next to changes of the pedal; that is not modelled.
FULL_THROTTLE_ACCELERATION = 1.14  # m/s^2 at rest
THROTTLE_DRAG = 0.18  # 1/s, loss of acceleration with speed under throttle
SATURATING_THROTTLE = 0.03  # share of the pedal that drives as the whole does; below, between driving and coasting
FULL_BRAKE_DECELERATION = 2.0  # m/s^2 at full brake
ROLLING_DECELERATION = 0.10  # m/s^2, coasting
SPEED_DRAG = 0.37  # 1/s, coasting
# Coasting with more than 15 degrees of steer loses 0.35 .. 1.35 m/s^2 at 0.3 .. 1.5 m/s: 0.40 1/s more than straight on
# in the mean of the page's six values. Below, as the square of the steer, which is how a tyre's side force drags.
STEER_DRAG = 0.40  # 1/s
_STEER_FULL = math.radians(15.0)
_RELEASE_DISTANCE = 0.02  # m to back away before the blocked direction is free again
_GAP = 0.011  # m, half of the gap between the halves from which walls stand there
_MAIN, _S, _COS, _SIN = int(HalfColumn.ROAD_S), int(HalfColumn.S), int(HalfColumn.COS), int(HalfColumn.SIN)


class MiniatureCarColumn(IntEnum):
    """Columns of a car's row."""

    X = 0  # m, the car's middle
    Y = 1
    YAW = 2  # rad, not wrapped
    SPEED = 3  # m/s, forward
    STEER = 4  # rad, wheel angle, positive left
    BLOCKED_DIRECTION = 5  # 1 or -1: blocked by a contact while rolling forward or back; 0: free
    BACKED_DISTANCE = 6  # m rolled away since the contact
    CONTACTS = 7
    ROAD_S = 8  # m along the road
    OFFSET = 9  # m left of the middle of its half
    SIDE = 10  # the half: 0 left, 1 right
    HEADING_COSINE = 11  # cosine of the angle between car and road
    STUCK_TIME = 12  # s blocked
    WRONG_TIME = 13  # s facing backwards
    CURVATURE = 14  # 1/m, of the half's centre


class MiniatureCommand(IntEnum):
    """Columns of a car's commands."""

    STEER = 0  # share of the lock, positive left
    DRIVE = 1  # throttle, negative in reverse gear
    BRAKE = 2


_X, _Y, _YAW, _SPEED, _STEER = (
    int(MiniatureCarColumn.X),
    int(MiniatureCarColumn.Y),
    int(MiniatureCarColumn.YAW),
    int(MiniatureCarColumn.SPEED),
    int(MiniatureCarColumn.STEER),
)
_BLOCKED, _BACKED, _CONTACTS = (
    int(MiniatureCarColumn.BLOCKED_DIRECTION),
    int(MiniatureCarColumn.BACKED_DISTANCE),
    int(MiniatureCarColumn.CONTACTS),
)
_PLACE, _OFFSET, _SIDE, _ALONG = (
    int(MiniatureCarColumn.ROAD_S),
    int(MiniatureCarColumn.OFFSET),
    int(MiniatureCarColumn.SIDE),
    int(MiniatureCarColumn.HEADING_COSINE),
)
_STUCK, _WRONG, _BEND = (
    int(MiniatureCarColumn.STUCK_TIME),
    int(MiniatureCarColumn.WRONG_TIME),
    int(MiniatureCarColumn.CURVATURE),
)
_ASK_STEER, _ASK_DRIVE, _ASK_BRAKE = (
    int(MiniatureCommand.STEER),
    int(MiniatureCommand.DRIVE),
    int(MiniatureCommand.BRAKE),
)
_CURVATURE = int(HalfColumn.CURVATURE)


class CarPose(NamedTuple):
    """Place of a car: x, y (m, world) of its middle, cosine and sine of its heading."""

    x: float
    y: float
    cos: float
    sin: float


class Surroundings(NamedTuple):
    """What a car can touch, and the road below it.

    Attributes:
        raster: of the track.
        wall_corners: (k, 2) x, y (m) of the corners of inner walls where halves part or join.
        parked: (m, 4) x, y (m), cosine and sine of the heading of parked cars.
    """

    raster: TrackRaster
    wall_corners: Array
    parked: Array

    @classmethod
    def from_track(cls, track: MiniatureTrack, raster: TrackRaster, parked: Sequence[ParkedCar] = ()) -> "Surroundings":
        """Return the surroundings on a track, with parked cars."""
        cars = np.array([[car.x, car.y, math.cos(car.yaw), math.sin(car.yaw)] for car in parked]).reshape(-1, 4)
        return cls(raster, np.ascontiguousarray(track.wall_corners, np.float64), cars)


@internal_jit
def _is_clear_of(pose: CarPose, other: Array, k: int) -> bool:
    # Whether a car and row `k` of the parked cars are apart: two rectangles, by their four axes.
    x, y, cos, sin = pose
    dx, dy = other[k, 0] - x, other[k, 1] - y
    c, s = other[k, 2], other[k, 3]
    turn_c, turn_s = abs(cos * c + sin * s), abs(cos * s - sin * c)
    long, wide = 0.5 * CAR_LENGTH, 0.5 * CAR_WIDTH
    reach_long = long + long * turn_c + wide * turn_s
    reach_wide = wide + long * turn_s + wide * turn_c
    if abs(dx * cos + dy * sin) > reach_long or abs(dy * cos - dx * sin) > reach_wide:
        return True
    free: bool = abs(dx * c + dy * s) > reach_long or abs(dy * c - dx * s) > reach_wide
    return free


@internal_jit
def touches_obstacle(pose: CarPose, surroundings: Surroundings) -> bool:
    """Return whether a car touches a wall or a parked car."""
    x, y, cos, sin = pose
    raster, noses, parked = surroundings
    long, wide = 0.5 * CAR_LENGTH, 0.5 * CAR_WIDTH
    # The corners and the middles of the sides: walls bend too little to reach in between.
    for i in range(-1, 2):
        for j in range(-1, 2):
            if i != 0 or j != 0:
                px, py = x + i * long * cos - j * wide * sin, y + i * long * sin + j * wide * cos
                half, _, _, offset = locate_on_track(raster, px, py)
                inner = -offset if half == 0 else offset
                if half < 0 or -inner > HALF_WIDTH or inner > HALF_WIDTH + _GAP:
                    return True
    for k in range(noses.shape[0]):
        dx, dy = noses[k, 0] - x, noses[k, 1] - y
        if abs(dx * cos + dy * sin) < long and abs(dy * cos - dx * sin) < wide:
            return True
    hit = False
    for k in range(parked.shape[0]):
        hit = hit or not _is_clear_of(pose, parked, k)
    return hit


@jit
def locate_car(car: Array, raster: TrackRaster) -> None:
    """Write a car's place on the track into its row `car` (len(MiniatureCarColumn),). Beside the road it stays."""
    half, k, s, offset = locate_on_track(raster, car[_X], car[_Y])
    if half < 0:
        return
    table = raster.left if half == 0 else raster.right
    n = table.shape[0]
    k0 = min(k, n - 2)
    rate = (table[k0 + 1, _MAIN] - table[k0, _MAIN]) / (table[k0 + 1, _S] - table[k0, _S])
    car[_PLACE] = table[k, _MAIN] + rate * (s - table[k, _S])
    car[_OFFSET] = offset
    car[_SIDE] = half
    car[_ALONG] = math.cos(car[_YAW]) * table[k, _COS] + math.sin(car[_YAW]) * table[k, _SIN]
    car[_BEND] = table[k, _CURVATURE]


@jit
def step_cars(cars: Array, commands: Array, dt: float, steps: int, surroundings: Surroundings) -> None:
    """Advance cars, which do not meet each other.

    Args:
        cars: (n, len(MiniatureCarColumn)) changed.
        commands: (n, len(MiniatureCommand)) held for all steps.
        dt: s, length of a step.
        steps: number of steps.
        surroundings: of all cars.
    """
    for i in range(cars.shape[0]):
        car = cars[i]
        for _ in range(steps):
            turn = min(max(commands[i, _ASK_STEER], -1.0), 1.0) * STEER_LOCK - car[_STEER]
            car[_STEER] += min(max(turn, -STEER_RATE_LIMIT * dt), STEER_RATE_LIMIT * dt)
            drive = min(max(commands[i, _ASK_DRIVE] / SATURATING_THROTTLE, -1.0), 1.0)
            coast = 1.0 - abs(drive)
            v = car[_SPEED] + FULL_THROTTLE_ACCELERATION * drive * dt
            bend = min(abs(car[_STEER]) / _STEER_FULL, 1.0)
            drag = coast * SPEED_DRAG + (1.0 - coast) * THROTTLE_DRAG + STEER_DRAG * bend * bend
            loss = (
                coast * ROLLING_DECELERATION
                + drag * abs(car[_SPEED])
                + FULL_BRAKE_DECELERATION * commands[i, _ASK_BRAKE]
            ) * dt
            v = max(v - loss, 0.0) if v > 0.0 else min(v + loss, 0.0)  # resistance does not reverse it
            v = min(max(v, -TOP_SPEED), TOP_SPEED)
            if v * car[_BLOCKED] > 0.0:
                v = 0.0
            if v != 0.0:
                slip = math.atan(0.5 * math.tan(car[_STEER]))  # of the middle, half way between the axles
                turned = v * math.cos(slip) * math.tan(car[_STEER]) / WHEELBASE * dt
                course = car[_YAW] + slip + 0.5 * turned
                x, y, yaw = car[_X] + v * math.cos(course) * dt, car[_Y] + v * math.sin(course) * dt, car[_YAW] + turned
                if touches_obstacle(CarPose(x, y, math.cos(yaw), math.sin(yaw)), surroundings):
                    car[_BLOCKED] = 1.0 if v > 0.0 else -1.0
                    car[_BACKED] = 0.0
                    car[_CONTACTS] += 1.0
                    v = 0.0
                else:
                    car[_X], car[_Y], car[_YAW] = x, y, yaw
                    car[_BACKED] += abs(v) * dt
                    if car[_BACKED] > _RELEASE_DISTANCE:
                        car[_BLOCKED] = 0.0
            car[_SPEED] = v
            if car[_BLOCKED] != 0.0:
                car[_STUCK] += dt
            locate_car(car, surroundings.raster)
            if car[_ALONG] < 0.0:
                car[_WRONG] += dt
