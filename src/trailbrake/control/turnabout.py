"""Turns a small camera car round on the road, in as many moves as the walls ask for. Pure maths.

Forward on full lock to one side until a wall is near, back on full lock to the other, which turns it on the same way,
and forward again. Slowly: at top speed the wheels would reach their lock half a metre too late.
Frame: the middle of the rear axle, x forward, y left, m.
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.control.clearway import free_arc
from trailbrake.control.minicar import HALF_WIDTH, LOCK, NOSE, STUCK_SPEED, WHEELBASE, Command

Array = NDArray[np.float64]

ROUND = math.radians(165.0)  # turned so far, the road ahead is in sight
SPEED = 0.45  # m/s
PEDAL = 0.6  # of full throttle, below that speed
BRAKING = 1.1  # times the speed from which it brakes
NEAR = 0.07  # m of free arc at which it changes direction
BACK = 0.3  # m that it backs at most: nobody looks behind
STANDS = 0.4  # s of standing still after which it touches something
BESIDE = 0.6  # m ahead within which walls decide which side has more room


class Turnabout:
    """One turn about.

    Attributes:
        backs: it is on its way back.
    """

    def __init__(self) -> None:
        self._way = 0.0  # 1: to the left, -1: to the right, 0: not decided
        self._turned = self._rolled = self._still = 0.0
        self.backs = False

    def step(self, points: Array, speed: float, turned: float, dt: float) -> Command | None:
        """Return what to do, None when it has turned round.

        Args:
            points: (n, 2) that must not be touched, as far as they are known.
            speed: m/s, without a sign.
            turned: rad by which the car has turned since the last step.
            dt: s since then.
        """
        if self._way == 0.0:
            self._way = 1.0 if _room(points, 1.0) >= _room(points, -1.0) else -1.0
        self._turned += turned * self._way
        if self._turned > ROUND:
            return None
        self._rolled += speed * dt
        self._still = self._still + dt if speed < STUCK_SPEED else 0.0
        if self._still > STANDS or self._ends(points):
            self.backs, self._rolled, self._still = not self.backs, 0.0, 0.0
        wheel = -self._way * LOCK if self.backs else self._way * LOCK
        pedal = PEDAL if speed < SPEED else 0.0
        if self.backs:
            return Command(wheel, -pedal, True)
        return Command(wheel, -1.0 if speed > BRAKING * SPEED else pedal, False)

    def _ends(self, points: Array) -> bool:
        """Return whether this move has gone as far as it should."""
        if self.backs:
            return self._rolled > BACK
        curvature = np.array([self._way * math.tan(LOCK) / WHEELBASE])
        return float(free_arc(points, curvature, HALF_WIDTH, NOSE, 1.0)[0]) < NEAR


def _room(points: Array, side: float) -> float:
    """Return how far the nearest point on a side is, m across."""
    across = points[(points[:, 0] > -0.1) & (points[:, 0] < NOSE + BESIDE), 1] * side
    return float(across[across > 0.0].min(initial=np.inf))
