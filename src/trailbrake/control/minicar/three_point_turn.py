"""Turns a small camera car round on the road, in as many moves as the walls require.

It drives forward on full lock to one side until a wall is near, back on full lock to the other side, which continues
the turn, and forward again. It drives slowly: at top speed the wheels would reach their lock half a metre too late.
Frame: the middle of the rear axle, x forward, y left, m.
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.control.minicar.free_space import arc_free_distances
from trailbrake.control.minicar.geometry import HALF_WIDTH, LOCK, NOSE, STUCK_SPEED, WHEELBASE, MinicarCommand

Array = NDArray[np.float64]

REQUIRED_TURN = math.radians(165.0)  # after this turn the road ahead is in sight
MAX_SPEED = 0.45  # m/s
DRIVE_PEDAL = 0.6  # of full throttle, below that speed
BRAKE_SPEED_FACTOR = 1.1  # times the speed, above which it brakes
MIN_FREE_ARC = 0.07  # m of free arc at which it changes direction
MAX_REVERSE_DISTANCE = 0.3  # m of one move backwards: there is no camera to the rear
STUCK_TIME = 0.4  # s at standstill after which it is in contact with something
SIDE_CHECK_DISTANCE = 0.6  # m ahead: walls within it decide which side has more room


class ThreePointTurn:
    """One turn by 180 degrees.

    Attributes:
        reversing: whether it drives backwards.
    """

    def __init__(self) -> None:
        self._direction = 0.0  # 1: to the left, -1: to the right, 0: not decided
        self._turned = self._distance = self._stationary_time = 0.0
        self.reversing = False

    def step(self, points: Array, speed: float, turned: float, dt: float) -> MinicarCommand | None:
        """Return the command, None when the turn is complete.

        Args:
            points: (n, 2) known points that must not be touched.
            speed: m/s, without a sign.
            turned: rad by which the car has turned since the last step.
            dt: s since then.
        """
        if self._direction == 0.0:
            self._direction = 1.0 if _free_side_distance(points, 1.0) >= _free_side_distance(points, -1.0) else -1.0
        self._turned += turned * self._direction
        if self._turned > REQUIRED_TURN:
            return None
        self._distance += speed * dt
        self._stationary_time = self._stationary_time + dt if speed < STUCK_SPEED else 0.0
        if self._stationary_time > STUCK_TIME or self._is_move_done(points):
            self.reversing, self._distance, self._stationary_time = not self.reversing, 0.0, 0.0
        wheel = -self._direction * LOCK if self.reversing else self._direction * LOCK
        pedal = DRIVE_PEDAL if speed < MAX_SPEED else 0.0
        if self.reversing:
            return MinicarCommand(wheel, -pedal, True)
        return MinicarCommand(wheel, -1.0 if speed > BRAKE_SPEED_FACTOR * MAX_SPEED else pedal, False)

    def _is_move_done(self, points: Array) -> bool:
        """Return whether this move is complete."""
        if self.reversing:
            return self._distance > MAX_REVERSE_DISTANCE
        curvature = np.array([self._direction * math.tan(LOCK) / WHEELBASE])
        return float(arc_free_distances(points, curvature, HALF_WIDTH, NOSE, 1.0)[0]) < MIN_FREE_ARC


def _free_side_distance(points: Array, side: float) -> float:
    """Return the lateral distance (m) of the nearest point on a side."""
    across = points[(points[:, 0] > -0.1) & (points[:, 0] < NOSE + SIDE_CHECK_DISTANCE), 1] * side
    return float(across[across > 0.0].min(initial=np.inf))
