"""Where a car ahead can be passed, and the gap to hold until there so that the bend before is driven at own speed.

Who follows closely through a bend leaves it at the rival's speed, and has no run on it. A rival that is slower in
bends alone is passed from a gap: left where the rival is slower, it closes at own speed up to the place where the
pass begins. Such places are found by planning the pass from each place ahead, with the planner of the race itself.
"""

import math

import numpy as np

from trailbrake.arrays import Array
from trailbrake.kernels import jit
from trailbrake.planning.race_lattice import (
    LINE,
    POINTS,
    STEP_TIMES,
    STRIDE,
    RaceRoad,
    RaceStart,
    RaceTraffic,
    make_buffers,
    plan_race_path,
)
from trailbrake.planning.rival_tracking import (
    DOUBTFUL_TIME,
    HORIZON,
    OFFSET_ERROR,
    STEP,
    STEPS,
    RivalColumn,
    find_follow_gap,
)

LONG_STEPS = 211  # rows of the prediction: the way to the place, and the pass
PLACE_POINTS = 6  # points of a path from one place to the next
PLACES = 26  # ahead
RUN_TIME = 4.0  # s of free driving before the place, which give the speed of a car that is alone
ASIDE_TIME = 1.2  # s that a car needs to be out of the way of another
OPENING = 0.1  # s each second, by which a gap opens before
LATE = 0.15  # s by which a gap may be too small for a place that is chosen
CHECK_PERIOD = 2  # plans from one check of a place to the next


@jit
def find_arrival(prediction: Array, distance: float) -> float:
    """Return when (s) a predicted rival is `distance` (m) ahead of where we are now; infinity if not in its rows."""
    before = prediction[0, RivalColumn.AHEAD]
    if before >= distance:
        return 0.0
    for j in range(1, prediction.shape[0]):
        after = prediction[j, RivalColumn.AHEAD]
        if after >= distance:
            share: float = (distance - before) / max(after - before, 1e-9)
            return (j - 1 + share) * STEP
        before = after
    return math.inf


@jit
def find_attack(prediction: Array, place: tuple[float, float], length: float) -> tuple[float, float]:
    """Return when (s) to be at a place to begin a pass, and how much later (s) that is than close behind.

    Args:
        prediction: (steps, len(RivalColumn)) of the rival.
        place: m ahead of where we are now, and own speed there, m/s.
        length: m, of the cars.
    """
    way, v = place
    close = way + length + find_follow_gap(prediction, v)
    begin = find_arrival(prediction, close)
    if not begin < math.inf:
        return begin, 0.0
    its_speed = prediction[int(begin / STEP), RivalColumn.SPEED]
    later = find_arrival(prediction, close + ASIDE_TIME * max(v - its_speed, 0.0))
    return later, later - begin


@jit
def fill_shifted(prediction: Array, begin: float, way: float, out: Array) -> None:
    """Write a prediction as it will be made `begin` (s) later, `way` (m) further on.

    Args:
        prediction: (steps, len(RivalColumn)) of now.
        begin: s.
        way: m.
        out: (STEPS, len(RivalColumn)).
    """
    last = prediction.shape[0] - 1.001
    for j in range(out.shape[0]):
        position = min(begin / STEP + j, last)
        i = int(position)
        u = position - i
        doubt = min(begin + j * STEP, DOUBTFUL_TIME) - min(j * STEP, DOUBTFUL_TIME)
        for column in range(out.shape[1]):
            out[j, column] = (1.0 - u) * prediction[i, column] + u * prediction[i + 1, column]
        out[j, RivalColumn.AHEAD] -= way
        out[j, RivalColumn.RIGHTMOST] += OFFSET_ERROR[1] * doubt
        out[j, RivalColumn.LEFTMOST] -= OFFSET_ERROR[1] * doubt
        out[j, RivalColumn.DISTANCE_ERROR] = prediction[min(j, prediction.shape[0] - 1), RivalColumn.DISTANCE_ERROR]


@jit
def fill_hold(speeds: Array, run: tuple[int, float, float], prediction: Array, place: int, hold: Array) -> None:
    """Write how much later (s) than close behind to be at each point, for a run on the rival at a point ahead.

    The run begins RUN_TIME before: up to there the gap opens, from there it closes at own speed.

    Args:
        speeds: (n,) m/s, own, at the rows of the line.
        run: row of the car, m between rows, length of the car (m).
        prediction: (steps, len(RivalColumn)) of the rival.
        place: the point.
        hold: (POINTS,) out; 0 from the point on.
    """
    row, spacing, length = run
    n, h, until = speeds.shape[0], STRIDE * spacing, 0.0
    hold[:] = 0.0
    v = speeds[(row + place * STRIDE) % n]
    begin, lost = find_attack(prediction, (place * h, v), length)
    its_later = begin - lost
    for k in range(place - 1, -1, -1):
        v = speeds[(row + k * STRIDE) % n]
        took = h / max(v, 1.0)
        until += took
        if until < RUN_TIME:
            its = find_arrival(prediction, k * h + length + find_follow_gap(prediction, v))
            lost += its_later - its - took
            its_later = its
        else:
            lost -= OPENING * took
        if k < hold.shape[0]:
            hold[k] = max(lost, 0.0)


class AttackPlanner:
    """Finds where the car ahead can be passed, one place a plan, and the gap to hold until there.

    Args:
        road: that is planned on; its driven path is not used.
        speeds: (n,) m/s, own, at the rows of the line; may change.
    """

    def __init__(self, road: RaceRoad, speeds: Array) -> None:
        self._road, self._speeds = road._replace(paths=road.paths.copy()), speeds
        self.hold = np.zeros(POINTS)
        self._no_hold = np.zeros(POINTS)
        self.prediction = np.zeros((LONG_STEPS, len(RivalColumn)))
        self._shifted, self._path = np.zeros((1, STEPS, len(RivalColumn))), make_buffers()
        self._works: dict[int, int] = {}
        self._turn, self._place, self._rival = 0, -1, -1

    def plan_gap(self, rival: int, row: int, speed: float) -> Array:
        """Return the gap to hold, `RaceTraffic.hold`, from the rival that `prediction` is of.

        Args:
            rival: its number.
            row: of the line, at our car.
            speed: m/s, own.
        """
        stride = PLACE_POINTS * STRIDE
        if rival != self._rival:
            self._works, self._rival, self._place = {}, rival, -1
        places = max(len(self._speeds) // stride, 1)
        first = row // stride + 1
        self._turn = (self._turn + 1) % (CHECK_PERIOD * PLACES)
        if self._turn % CHECK_PERIOD == 0:
            place = (first + self._turn // CHECK_PERIOD) % places
            works = self._can_pass(row, (place * stride - row) % len(self._speeds) // STRIDE)
            self._works[place] = 2 if works else max(self._works.get(place, 0) - 1, 0)
        self._place = self._choose_place([(first + k) % places for k in range(PLACES)], row, speed)
        if self._place < 0:
            return self._no_hold
        return self.hold

    def release(self) -> Array:
        """Return a `RaceTraffic.hold` that holds no gap."""
        return self._no_hold

    def _choose_place(self, places: list[int], row: int, speed: float) -> int:
        spacing, (length, _) = self._road.line.spacing, self._road.size
        gap = float(self.prediction[0, RivalColumn.AHEAD]) - length - find_follow_gap(self.prediction, speed)
        for place in sorted(places, key=lambda place: place != self._place):  # the chosen one first
            if self._works.get(place, 0):
                point = (place * PLACE_POINTS * STRIDE - row) % len(self._speeds) // STRIDE
                fill_hold(self._speeds, (row, spacing, length), self.prediction, point, self.hold)
                if not math.isfinite(self.hold[0]):
                    break
                if self.hold[0] * speed < gap + (3.0 if place == self._place else 1.0) * LATE * speed:
                    return place
        return -1

    def _can_pass(self, row: int, point: int) -> bool:
        spacing, n = self._road.line.spacing, len(self._speeds)
        there = (row + point * STRIDE) % n
        speed, way = float(self._speeds[there]), point * STRIDE * spacing
        begin, _ = find_attack(self.prediction, (way, speed), self._road.size[0])
        if not math.isfinite(begin) or begin + HORIZON > (LONG_STEPS - 1) * STEP:
            return False
        fill_shifted(self.prediction, begin, way, self._shifted[0])
        start = RaceStart(there, POINTS, speed, 0.0, LINE, False, STEP_TIMES[self._turn % len(STEP_TIMES)])
        choice = plan_race_path(self._road, start, RaceTraffic(self._shifted, 0, self._no_hold), self._path)
        return bool(choice.target > LINE and choice.risk == 0.0)
