"""Kernels of the miniature car: a kinematic bicycle between walls, many cars at once.

The pedals' effect is fitted to drives in the real simulator (protocol page formula-trend, section 4), which also says
that a car which touches a wall stops and stays until it backs away. Wheelbase and the car's size are not known; the
page's estimate and the size of its pictures stand in for them.
"""

import math
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit, part
from trailbrake.tracks.miniature.layout import HALF_WIDTH
from trailbrake.tracks.miniature.obstacles import CAR_LENGTH, CAR_WIDTH
from trailbrake.tracks.miniature.track import Row
from trailbrake.world.camera.raster import foot

Array = NDArray[np.float64]
Shorts = NDArray[np.int16]

STEP = 0.02  # s, the simulator's step
WHEELBASE = 0.2  # m
LOCK = math.radians(40.0)  # rad
SLEW = math.radians(133.0)  # rad/s
TOP_SPEED = 2.0  # m/s
DRIVE = 1.37  # m/s^2 at full throttle
BRAKE = 2.0  # m/s^2 at full brake
ROLLING = 0.10  # m/s^2
DRAG = 0.37  # 1/s
# Coasting with more than 15 degrees of steer loses 0.35 .. 1.35 m/s^2 at 0.3 .. 1.5 m/s: 0.40 1/s more than straight on
# in the mean of the page's six values. Below, as the square of the steer, which is how a tyre's side force drags.
STEER_DRAG = 0.40  # 1/s
_STEER_FULL = math.radians(15.0)
_FREE = 0.02  # m to back away until the other direction is free again
_GAP = 0.011  # m, half of what may lie between the halves before walls stand there
_MAIN, _S, _COS, _SIN = int(Row.MAIN), int(Row.S), int(Row.COS), int(Row.SIN)


class Mini(IntEnum):
    """Columns of a car."""

    X = 0  # m, the car's middle
    Y = 1
    YAW = 2  # rad, not wrapped
    SPEED = 3  # m/s, forward
    STEER = 4  # rad, wheel angle, positive left
    BLOCKED = 5  # 1 or -1: touched something while rolling forward or back; 0: free
    BACKED = 6  # m gone the other way since
    CONTACTS = 7
    MAIN = 8  # m along the road
    OFFSET = 9  # m left of the middle of its half
    SIDE = 10  # the half: 0 left, 1 right
    ALONG = 11  # cosine of the angle between car and road
    STUCK_TIME = 12  # s blocked
    WRONG_TIME = 13  # s facing backwards
    CURVATURE = 14  # 1/m, of the half's centre


class Pedal(IntEnum):
    """Columns of what is asked of a car."""

    STEER = 0  # share of the lock, positive left
    DRIVE = 1  # throttle, negative in reverse gear
    BRAKE = 2


_X, _Y, _YAW, _SPEED, _STEER = int(Mini.X), int(Mini.Y), int(Mini.YAW), int(Mini.SPEED), int(Mini.STEER)
_BLOCKED, _BACKED, _CONTACTS = int(Mini.BLOCKED), int(Mini.BACKED), int(Mini.CONTACTS)
_PLACE, _OFFSET, _SIDE, _ALONG = int(Mini.MAIN), int(Mini.OFFSET), int(Mini.SIDE), int(Mini.ALONG)
_STUCK, _WRONG, _BEND = int(Mini.STUCK_TIME), int(Mini.WRONG_TIME), int(Mini.CURVATURE)
_ASK_STEER, _ASK_DRIVE, _ASK_BRAKE = int(Pedal.STEER), int(Pedal.DRIVE), int(Pedal.BRAKE)
_CURVATURE = int(Row.CURVATURE)


@part
def _apart(x: float, y: float, cos: float, sin: float, other: Array, k: int) -> bool:
    # Whether a car and the parked car `k` are apart: two rectangles, by their four axes.
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


@part
def touches(
    x: float, y: float, cos: float, sin: float, left: Array, right: Array, near: Shorts, corner: Array, noses: Array,
    parked: Array,
) -> bool:  # fmt: skip
    """Return whether a car at x, y (m), with `cos` and `sin` of its heading, touches a wall or a parked car.

    The ground `left`, `right`, `near`, `corner` is that of `raster.foot`; `noses` (k, 2) are inner walls' corners,
    `parked` (m, 4) the x, y (m), cosine and sine of parked cars.
    """
    long, wide = 0.5 * CAR_LENGTH, 0.5 * CAR_WIDTH
    # The corners, and the middles of the sides: walls bend so little that nothing fits between.
    for i in range(-1, 2):
        for j in range(-1, 2):
            if i != 0 or j != 0:
                px, py = x + i * long * cos - j * wide * sin, y + i * long * sin + j * wide * cos
                half, _, _, offset = foot(left, right, near, corner, px, py)
                inner = -offset if half == 0 else offset
                if half < 0 or -inner > HALF_WIDTH or inner > HALF_WIDTH + _GAP:
                    return True
    for k in range(noses.shape[0]):
        dx, dy = noses[k, 0] - x, noses[k, 1] - y
        if abs(dx * cos + dy * sin) < long and abs(dy * cos - dx * sin) < wide:
            return True
    hit = False
    for k in range(parked.shape[0]):
        hit = hit or not _apart(x, y, cos, sin, parked, k)
    return hit


@jit
def locate(car: Array, left: Array, right: Array, near: Shorts, corner: Array) -> None:
    """Write where on the track a car (len(Mini),) is."""
    half, k, s, offset = foot(left, right, near, corner, car[_X], car[_Y])
    if half < 0:
        return
    table = left if half == 0 else right
    n = table.shape[0]
    k0 = min(k, n - 2)
    rate = (table[k0 + 1, _MAIN] - table[k0, _MAIN]) / (table[k0 + 1, _S] - table[k0, _S])
    car[_PLACE] = table[k, _MAIN] + rate * (s - table[k, _S])
    car[_OFFSET] = offset
    car[_SIDE] = half
    car[_ALONG] = math.cos(car[_YAW]) * table[k, _COS] + math.sin(car[_YAW]) * table[k, _SIN]
    car[_BEND] = table[k, _CURVATURE]


@jit
def step(
    cars: Array, asked: Array, dt: float, steps: int, left: Array, right: Array, near: Shorts, corner: Array,
    noses: Array, parked: Array,
) -> None:  # fmt: skip
    """Advance cars (n, len(Mini)), which do not meet each other, by `steps` of `dt` (s), asked (n, len(Pedal)).

    The rest is what `touches` looks at.
    """
    for i in range(cars.shape[0]):
        car = cars[i]
        for _ in range(steps):
            turn = min(max(asked[i, _ASK_STEER], -1.0), 1.0) * LOCK - car[_STEER]
            car[_STEER] += min(max(turn, -SLEW * dt), SLEW * dt)
            v = car[_SPEED] + DRIVE * asked[i, _ASK_DRIVE] * dt
            bend = min(abs(car[_STEER]) / _STEER_FULL, 1.0)
            loss = (ROLLING + (DRAG + STEER_DRAG * bend * bend) * abs(car[_SPEED]) + BRAKE * asked[i, _ASK_BRAKE]) * dt
            v = max(v - loss, 0.0) if v > 0.0 else min(v + loss, 0.0)  # what resists brings it to rest at the most
            v = min(max(v, -TOP_SPEED), TOP_SPEED)
            if v * car[_BLOCKED] > 0.0:
                v = 0.0
            if v != 0.0:
                slip = math.atan(0.5 * math.tan(car[_STEER]))  # of the middle, half way between the axles
                turned = v * math.cos(slip) * math.tan(car[_STEER]) / WHEELBASE * dt
                course = car[_YAW] + slip + 0.5 * turned
                x, y, yaw = car[_X] + v * math.cos(course) * dt, car[_Y] + v * math.sin(course) * dt, car[_YAW] + turned
                if touches(x, y, math.cos(yaw), math.sin(yaw), left, right, near, corner, noses, parked):
                    car[_BLOCKED] = 1.0 if v > 0.0 else -1.0
                    car[_BACKED] = 0.0
                    car[_CONTACTS] += 1.0
                    v = 0.0
                else:
                    car[_X], car[_Y], car[_YAW] = x, y, yaw
                    car[_BACKED] += abs(v) * dt
                    if car[_BACKED] > _FREE:
                        car[_BLOCKED] = 0.0
            car[_SPEED] = v
            if car[_BLOCKED] != 0.0:
                car[_STUCK] += dt
            locate(car, left, right, near, corner)
            if car[_ALONG] < 0.0:
                car[_WRONG] += dt
