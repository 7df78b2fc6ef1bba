"""Where a car ahead can be passed, on which path, and the gap to hold until there to have a run on it.

Who follows closely through a bend leaves it at the rival's speed, and has no run on it. A rival that is slower in
bends alone is passed from a gap: left where the rival is slower, it closes at own speed up to the place where the
pass begins. From each place ahead, paths past the rival of several lengths on both sides are planned
(`passing_paths.py`); those that gain enough are where it can be attacked.
"""

import math
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array
from trailbrake.kernels import internal_jit, jit
from trailbrake.planning.passing_paths import (
    fill_passage,
    find_arrival,
    find_speed_at,
    make_passing_buffers,
    plan_passing_path,
    weigh_paths,
    write_offsets,
)
from trailbrake.planning.path_room import PathRoom
from trailbrake.planning.race_lattice import (
    LINE,
    NOSE_MARGIN,
    PASS,
    POINTS,
    STEP_TIMES,
    STRIDE,
    RaceRoad,
    RaceStart,
)
from trailbrake.planning.rival_prediction import RivalColumn, find_follow_gap
from trailbrake.planning.speed_profile import PathShape, reachable_speed, row_shape
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

LONG_STEPS = 211  # rows of the prediction: the way to the place, and the pass
PLACE_POINTS = 6  # points of a path from one place to the next
PLACES = 26  # ahead
LEAD, TAIL = 30, 30  # points of a path before it is beside the rival, and after
STRETCHES = (12, 18, 25, 31, 37, 43, 50, 56, 62, 69)  # points beside the rival
LEAST_SURPLUS = 0.5  # m more than needed, to begin
SPARE_SHARE, MOST_SPARE = 0.25, 2.0  # of the surplus that is left in front at the beginning, and m at most
RUN_TIMES = (2.5, 9.0)  # s of free driving before the place, which give the speed of a car that is alone
OPENING = 0.1  # s each second, by which a gap opens before
DOUBTED_SURPLUS = 3.0  # m less than needed, below which a chosen place is given up before the run: predictions vary
HELD_TIME = 2.0  # s before a run, in which it opens no further: who still opens it begins slower than the rival
LATE = 0.15  # s by which a gap may be too small, or too large, for a place
RUN_SHARE = 1.0 / 3.0  # of that, by which it may be too small in a run: closer behind the rival has the speed


class Attack(NamedTuple):
    """A path past the rival: its surplus (m), the side (1 left, -1 right), the points beside it, and the reach (m).

    That is how far ahead the rival is to be at least where the path is beside it first.
    """

    surplus: float
    side: int
    stretch: int
    reach: float


@jit
def find_run(speeds: Array, row: int, point: int, spacing: float) -> int:
    """Return the point at which a run on a place begins: the slowest of those that lie RUN_TIMES before it.

    There the tyres limit the speed: who was slower before loses nothing by it. It may be behind the car.

    Args:
        speeds: (n,) m/s, own, at the rows of the line.
        row: of the car.
        point: of the place.
        spacing: m between points.
    """
    n, until, slowest, run = speeds.shape[0], 0.0, math.inf, point
    for k in range(point - 1, point - n // STRIDE, -1):
        v = speeds[(row + k * STRIDE) % n]
        until += spacing / max(v, 1.0)
        if until > RUN_TIMES[1]:
            break
        if until < RUN_TIMES[0] or v < slowest:
            slowest, run = v, k
    return run


@internal_jit
def _fill_run(road: RaceRoad, speeds: Array, start: tuple[int, int, float], run: Array) -> None:
    """Fill in the speeds (m/s) of a run at its points: from that at its beginning at full drive up to own `speeds`.

    Args:
        road: that is driven.
        speeds: (n,) m/s, own, at the rows of the line.
        start: row of the car, the point at which the run begins, and the speed there (m/s).
        run: (points,) out, from that point on.
    """
    row, begin, first = start
    n, step, run[begin] = speeds.shape[0], STRIDE * road.line.spacing, first
    for k in range(begin, run.shape[0] - 1):
        i, j = (row + k * STRIDE) % n, (row + (k + 1) * STRIDE) % n
        here, grip = row_shape(road.shapes, i), road.line.table[i, RoadColumn.GRIP]
        shape = PathShape(here.curvature, here.climb, here.climb_rate, here.bank, grip, here.push)
        after = road.pace * reachable_speed(run[k] / road.pace, shape, step, road.limits, road.margin)
        run[k + 1] = min(speeds[j], after)


@jit
def fill_hold(
    road: RaceRoad, own: tuple[Array, int, float], prediction: Array, place: tuple[int, float], hold: Array
) -> tuple[int, float]:
    """Write how much later (s) than close behind to be at each point, for a run on the rival.

    Up to where the run begins the gap opens, from there it closes: who has followed until then begins at the speed of
    the rival, and comes to its own at full drive.

    Args:
        road: that is driven.
        own: (n,) m/s at the rows of the line, the car's row, and its speed now (m/s).
        prediction: (steps, len(RivalColumn)) of the rival.
        place: the point, and how far (m) ahead the rival is to be there.
        hold: (POINTS,) out; 0 from the point on, which is one of its own.

    Returns:
        The point where the run begins, 0 or less where it has; and how much later (s) than close behind to be now,
        less than 0 where the car comes too late.
    """
    (speeds, row, speed), (point, reach), length = own, place, road.size[0]
    n, h = speeds.shape[0], STRIDE * road.line.spacing
    v = speeds[(row + point * STRIDE) % n]
    its_later = find_arrival(prediction, point * h + length + find_follow_gap(prediction, v))
    lost = find_arrival(prediction, point * h + reach) - its_later
    begin = find_run(speeds, row, point, h)
    first = max(begin, 0)
    follows = speed if begin <= 0 else find_speed_at(prediction, first * h + length)
    _fill_run(road, speeds, (row, first, min(follows, speeds[(row + first * STRIDE) % n])), hold)
    hold[point:], before = 0.0, 0.0
    for k in range(point - 1, -1, -1):
        after, v = v, hold[k] if k >= begin else speeds[(row + k * STRIDE) % n]
        took = h / max(0.5 * (v + after), 1.0)
        if k >= begin:
            its = find_arrival(prediction, k * h + length + find_follow_gap(prediction, v))
            lost += its_later - its - took
            its_later = its
        else:
            before += took
            lost -= OPENING * took if before > HELD_TIME else 0.0
        hold[k] = max(lost, 0.0)
    return begin, lost


class AttackPlanner:
    """Finds where the car ahead can be passed, one side of a place a plan, on which path, and the gap to hold before.

    Args:
        road: that is planned on; the path is written to its row PASS.
        line: of the road.
        speeds: (n,) m/s, own, at the rows of the line; may change.
        room: of the car.
    """

    def __init__(self, road: RaceRoad, line: Road, speeds: Array, room: PathRoom) -> None:
        self._road, self._line, self._speeds, self._room = road, line, speeds, room
        self.hold = np.zeros(POINTS)
        self._no_hold = np.zeros(POINTS)
        self.prediction = np.zeros((LONG_STEPS, len(RivalColumn)))
        self.has_path = False
        self._buffers = make_passing_buffers()
        self._costs = weigh_paths(line, road, speeds, room)
        self._attacks: dict[int, Attack] = {}
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
            self._costs = weigh_paths(self._line, self._road, self._speeds, self._room)
            self._attacks, self._rival, self._place = {}, rival, -1
        places = max(len(self._speeds) // stride, 1)
        first = row // stride + 1
        self._turn = (self._turn + 1) % (2 * PLACES)
        self._check_place((first + self._turn // 2) % places, row, 1 if self._turn % 2 else -1)
        ahead = [(first + k) % places for k in range(min(PLACES, places))]
        self._place = self._choose_place(ahead, row, speed)
        self.has_path = self._place >= 0 and self._find_point(self._place, row) <= LEAD  # before, it is the line
        return self.hold if self._place >= 0 else self._no_hold

    def release(self) -> Array:
        """Return a `RaceTraffic.hold` that holds no gap."""
        self.has_path, self._place = False, -1
        return self._no_hold

    def _choose_place(self, places: list[int], row: int, speed: float) -> int:
        gap = float(self.prediction[0, RivalColumn.AHEAD]) - self._road.size[0]
        gap -= find_follow_gap(self.prediction, speed)
        for place in sorted(places, key=lambda place: place != self._place):  # the chosen one first
            attack, is_chosen = self._attacks.get(place), place == self._place
            if attack is None or attack.surplus < (-DOUBTED_SURPLUS if is_chosen else LEAST_SURPLUS):
                continue
            at = self._find_point(place, row), attack.reach + min(SPARE_SHARE * max(attack.surplus, 0.0), MOST_SPARE)
            begin, later = fill_hold(self._road, (self._speeds, row, speed), self.prediction, at, self.hold)
            if not math.isfinite(later):
                continue
            runs, late = begin <= 0, LATE * speed
            least = LEAST_SURPLUS if not is_chosen else -LEAST_SURPLUS if runs else -DOUBTED_SURPLUS
            near = late * ((RUN_SHARE if runs else 1.0) * (3.0 if is_chosen else 1.0))
            far = attack.surplus + (3.0 if is_chosen else 1.0) * late if runs else math.inf
            if not later * speed - near < gap < later * speed + far:
                continue
            if self._plan_attack(place, row, attack.side, (attack.stretch,)).surplus >= least:
                start, path = self._start(place, attack.stretch), self._buffers.path
                write_offsets(start, path, self._line.closed, self._road.paths[PASS])
                return place
        return -1

    def _find_point(self, place: int, row: int) -> int:
        return (place * PLACE_POINTS * STRIDE - row) % len(self._speeds) // STRIDE

    def _start(self, place: int, stretch: int) -> RaceStart:
        row = (place * PLACE_POINTS - LEAD) * STRIDE % len(self._speeds)
        return RaceStart(row, LEAD + stretch + TAIL, float(self._speeds[row]), 0.0, LINE, False, STEP_TIMES[0])

    def _check_place(self, place: int, row: int, side: int) -> None:
        """Look for the attack from a place that gains most on a side."""
        first, points = place * PLACE_POINTS - LEAD, len(self._speeds) // STRIDE
        most = (points if self._line.closed else points - max(first, 0)) - LEAD - TAIL
        stretches = tuple(stretch for stretch in STRETCHES if stretch < most)
        if not stretches or (first < 0 and not self._line.closed):
            return
        best, known = self._plan_attack(place, row, side, stretches), self._attacks.get(place)
        if known is None or known.side == side or best.surplus > known.surplus:
            self._attacks[place] = best

    def _plan_attack(self, place: int, row: int, side: int, stretches: tuple[int, ...]) -> Attack:
        """Return the attack on a side that gains most of some stretches; its buffers have the path of the last one."""
        h = STRIDE * self._road.line.spacing
        ahead = (place * PLACE_POINTS * STRIDE - row) % len(self._speeds) * self._road.line.spacing
        fill_passage(self.prediction, ahead - LEAD * h, h, self._buffers.passage)
        reach = self._road.size[0] + NOSE_MARGIN + float(self._buffers.passage[3, LEAD])
        best = Attack(-math.inf, side, stretches[0], reach)
        for stretch in stretches:
            surplus = plan_passing_path(self._road, self._start(place, stretch), (LEAD, LEAD + stretch, side),
                                        self._costs, self._buffers)  # fmt: skip
            if surplus > best.surplus:
                best = Attack(surplus, side, stretch, reach)
        return best
