"""Rivals: cars that nobody learns with, driven along the road at a steady pace.

They follow a point ahead at their side of the centreline (pure pursuit: R. C. Coulter, Implementation of the pure
pursuit path tracking algorithm, CMU-RI-TR-92-01, 1992: curvature = 2 sin(alpha) / distance) and hold a speed at which
the bends ahead ask for no more than BEND.
"""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.env.sense import param
from trailbrake.kernels import jit
from trailbrake.kernels.lanes import LANES
from trailbrake.observe.columns import Seen
from trailbrake.tracks.columns import Column
from trailbrake.tracks.frenet import at
from trailbrake.world.layout import Axle, Control, Param

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

BEND = 5.0  # m/s^2
PACE = 30.0  # m/s at the most
SIDE = 0.35  # of the road's half width off the centreline, odd cars left, even cars right
_SLOWING = 4.0  # m/s^2 that braking is planned with
_LOOKS = 8  # places ahead at which bends are looked for
_PER_SPEED = 0.5  # of full pedal per m/s


@jit
def drive(
    cars: Array, params: Array, kinds: Ints, seen: Array, table: Array, spacing: float, closed: bool, group: int, n: int
) -> None:  # fmt: skip
    """Write the controls of all cars but the first of each world.

    Args:
        cars: of the batch.
        params: of the batch.
        kinds: of the batch.
        seen: (Seen.COUNT, n or more), worked out.
        table: the road's table.
        spacing: m between its rows.
        closed: whether s wraps round.
        group: cars in a world.
        n: cars.
    """
    for car in range(n):
        number = car % group
        if number == 0:
            continue
        block, lane = car // LANES, car % LANES
        s, offset, heading = seen[Seen.S, car], seen[Seen.OFFSET, car], seen[Seen.HEADING, car]
        speed = max(seen[Seen.VELOCITY_X, car], 0.0)
        far = 6.0 + 0.5 * speed
        column = Column.WIDTH_LEFT if number % 2 == 1 else Column.WIDTH_RIGHT
        side = SIDE * at(table, spacing, closed, s + far, column) * (1.0 if number % 2 == 1 else -1.0)
        # The target in the road's axes at the car; the road is taken as a circle up to there.
        bend = at(table, spacing, closed, s + 0.5 * far, Column.CURVATURE)
        aside = side + 0.5 * bend * far * far - offset
        alpha = math.atan2(aside, far) - heading
        alpha -= 2.0 * math.pi * math.floor(alpha / (2.0 * math.pi) + 0.5)
        base = param(params, kinds, Axle.X, car) - param(params, kinds, Axle.X + 1, car)
        angle = math.atan(2.0 * base * math.sin(alpha) / math.sqrt(far * far + aside * aside))
        steer = angle / param(params, kinds, Param.STEER_MAX, car)
        wanted = PACE
        reach = 5.0 + speed * speed / (2.0 * _SLOWING)
        for k in range(_LOOKS):
            ahead = reach * k / (_LOOKS - 1.0)
            sharp = max(abs(at(table, spacing, closed, s + ahead, Column.CURVATURE)), 1e-4)
            wanted = min(wanted, math.sqrt(BEND / sharp + 2.0 * _SLOWING * ahead))
        gas = _PER_SPEED * (wanted - speed)
        cars[block, Control.STEER * LANES + lane] = min(max(steer, -1.0), 1.0)
        cars[block, Control.THROTTLE * LANES + lane] = min(max(gas, 0.0), 1.0)
        cars[block, Control.BRAKE * LANES + lane] = min(max(-gas, 0.0), 1.0)
