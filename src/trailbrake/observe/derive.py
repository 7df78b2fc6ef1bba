"""From the rows of a state to the other rows of `Seen`: the one place where they are worked out."""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.kernels import jit
from trailbrake.observe.columns import Seen
from trailbrake.tracks.columns import Column
from trailbrake.tracks.frenet import span

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

SLOW = 1.0  # m/s along the road: slower counts as standing
MARGIN = 20.0  # m before the end of an open road at which it is over: nothing is built beyond it
START_MARGIN = 5.0  # m before its start
WHEELS_OFF = 2.5  # more than two wheels off: the rule of `laps`


@jit
def ask(seen: Array, car: int, steer: float, throttle: float, brake: float) -> None:
    """Write what was asked for, and how far that is from what was asked before (0 after a start).

    Args:
        seen: (Seen.COUNT, n).
        car: which.
        steer: -1..1, left.
        throttle: 0..1.
        brake: 0..1.
    """
    turned = steer - seen[Seen.ASKED_STEER, car]
    pressed = throttle - brake - (seen[Seen.ASKED_THROTTLE, car] - seen[Seen.ASKED_BRAKE, car])
    fresh = seen[Seen.TIME, car] == 0.0
    seen[Seen.STEER_CHANGE, car] = 0.0 if fresh else turned * turned
    seen[Seen.PEDAL_CHANGE, car] = 0.0 if fresh else pressed * pressed
    seen[Seen.ASKED_STEER, car] = steer
    seen[Seen.ASKED_THROTTLE, car] = throttle
    seen[Seen.ASKED_BRAKE, car] = brake


@jit
def begin(seen: Array, cars: Ints) -> None:
    """Forget what was before: the next `derive` of these cars is their first."""
    for car in cars:
        for row in range(Seen.SIN_HEADING, Seen.COUNT):
            seen[row, car] = 0.0
        seen[Seen.NEW, car] = 1.0


@jit
def derive(seen: Array, table: Array, spacing: float, closed: bool, dt: float, lo: int, hi: int) -> None:
    """Work out the rows from SIN_HEADING on of the cars `lo`..`hi` - 1, whose rows before that are new.

    Args:
        seen: (Seen.COUNT, n).
        table: the road's table.
        spacing: m between its rows.
        closed: whether s wraps round.
        dt: s since the rows were last worked out; counts as 0 where a car is new.
        lo: first car.
        hi: one past the last.
    """
    n = table.shape[0]
    length = (n if closed else n - 1) * spacing
    for car in range(lo, hi):
        s = seen[Seen.S, car]
        sine, cosine = math.sin(seen[Seen.HEADING, car]), math.cos(seen[Seen.HEADING, car])
        along = seen[Seen.VELOCITY_X, car] * cosine - seen[Seen.VELOCITY_Y, car] * sine
        if seen[Seen.NEW, car] != 0.0:
            seen[Seen.LAST_S, car] = s
            seen[Seen.LAST_CONTACTS, car] = seen[Seen.CONTACTS, car]
            seen[Seen.NEW, car] = 0.0
        else:
            seen[Seen.TIME, car] += dt
            seen[Seen.SLOW_FOR, car] = seen[Seen.SLOW_FOR, car] + dt if along < SLOW else 0.0
            seen[Seen.BACKWARD_FOR, car] = seen[Seen.BACKWARD_FOR, car] + dt if cosine < 0.0 else 0.0
            seen[Seen.ALIVE, car] = 1.0
        gained = s - seen[Seen.LAST_S, car]
        if closed:
            gained -= length * math.floor(gained / length + 0.5)
        seen[Seen.LAST_S, car] = s
        seen[Seen.TOUCHED, car] = seen[Seen.CONTACTS, car] - seen[Seen.LAST_CONTACTS, car]
        seen[Seen.LAST_CONTACTS, car] = seen[Seen.CONTACTS, car]
        seen[Seen.PROGRESS, car] = gained
        seen[Seen.DISTANCE, car] += gained
        seen[Seen.LAPS, car] = seen[Seen.DISTANCE, car] / length
        seen[Seen.PAST_END, car] = 0.0 if closed else max(s - (length - MARGIN), -START_MARGIN - s)
        seen[Seen.SIN_HEADING, car] = sine
        seen[Seen.COS_HEADING, car] = cosine
        seen[Seen.SPEED_ALONG, car] = along
        i, j, u = span(table, spacing, closed, s)
        left = (1.0 - u) * table[i, Column.WIDTH_LEFT] + u * table[j, Column.WIDTH_LEFT]
        right = (1.0 - u) * table[i, Column.WIDTH_RIGHT] + u * table[j, Column.WIDTH_RIGHT]
        seen[Seen.ROOM_LEFT, car] = left - seen[Seen.OFFSET, car]
        seen[Seen.ROOM_RIGHT, car] = right + seen[Seen.OFFSET, car]
        off = 4.0
        for wheel in range(4):
            off -= seen[Seen.ON_TRACK + wheel, car]
        seen[Seen.WHEELS_OFF, car] = off
        seen[Seen.OFF_TRACK, car] = 1.0 if off > WHEELS_OFF else 0.0
