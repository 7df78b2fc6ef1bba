"""`judge_contact`: who is at fault for a contact of two cars, by the rules of conduct, or that neither clearly is.

Rules, in our words:

* C: FIA International Sporting Code, Appendix L, chapter IV, article 2: one change of direction to defend, no abnormal
  ones, no crowding of a car off the road (2.b); return to the road when it is safe (2.c); control of the car (2.d); no
  unnecessarily slow or erratic driving (2.e).
* G: FIA Driving Standards Guidelines (2022): a car owns room on the inside with a significant portion alongside by the
  bend, on the outside if it is ahead from the apex on.
* S: FIA Formula One Sporting Regulations: no one is at fault unless he is wholly or predominantly to blame.

The numbers below are ours: the rules have none. Where a figure lies between its two limits the verdict is "unclear".
"""

from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array

WINDOW = 6.0  # s before a contact that are looked at
BEND = 1.0 / 300.0  # 1/m, from which on a road bends
OVERLAP_OWNED, OVERLAP_NONE = 0.5, 0.1  # share of a length alongside at turn-in that owns room, that does not
ROOM_MARGIN = 0.75  # m beyond a car's width that make room
MOVE = 1.0  # m across that make a change of direction
CHOP = 0.5  # m across, from which on one in front of a car that is close is not nothing
CHOP_SECONDS = 1.5  # s before the contact in which it began
CHOP_GAP = 15.0  # m to the car behind
RETURN_SECONDS = 3.0  # s in which a car has been wholly beside the road
HARD_BRAKING = 4.0  # m/s^2
LOW_GRIP, LOW_BRAKING = 7.0, 5.0  # m/s^2 across and along: a bend that asks this of brakes explains them
LOOK_AHEAD = 400.0  # m
MOVED_MOST = 0.75  # share of the closing across that makes a car the one that moved
CLOSING = 0.4  # m across in 1.5 s, without which neither moved
SLOW = 0.4  # share of the other's speed below which a car is an obstacle
SEEN_SECONDS = 3.0  # s for which an obstacle that is hit has been one, so that it could be seen


class ConductRoad(NamedTuple):
    """A road by distance: s (n,) m, curvature 1/m (left positive), width to each side m; length m, 0 where open."""

    s: Array
    curvature: Array
    left: Array
    right: Array
    length: float = 0.0

    def read(self, column: Array, s: Array | float) -> Array:
        """Return a column at s (m)."""
        found: Array = np.interp(np.mod(s, self.length) if self.length else np.asarray(s), self.s, column)
        return found


class CarTrack(NamedTuple):
    """A car over time: its number, length and width (m), and (n,) arrays.

    `time` s; `s` m, continuous; `offset` m, left of the road's middle; `speed` m/s; `x`, `y` m, middle of its box, and
    `yaw` rad, world. All cars of a judgement have the same times and count s from the same line.
    """

    number: int
    length: float
    width: float
    time: Array
    s: Array
    offset: Array
    speed: Array
    x: Array
    y: Array
    yaw: Array

    def cut(self, first: int, stop: int) -> "CarTrack":
        """Return the rows `first` to `stop` - 1."""
        return CarTrack(*self[:3], *(column[first:stop] for column in self[3:]))


class Verdict(NamedTuple):
    """Who is at fault (a car's number; None: unclear), the rule and its source, and the figures that decided."""

    fault: int | None
    rule: str
    source: str
    evidence: dict[str, float]


def judge_contact(road: ConductRoad, pair: tuple[CarTrack, CarTrack], others: tuple[CarTrack, ...] = ()) -> Verdict:
    """Return the verdict on a contact.

    Args:
        road: the road.
        pair: both cars, from up to WINDOW before their first touch to it: the last row is the touch.
        others: further cars, with the same rows.
    """
    gap = pair[0].s - pair[1].s
    if road.length:  # which round each is on does not matter
        gap = gap - road.length * np.round(gap[-1] / road.length)
    ahead, behind, gap = (pair[0], pair[1], gap) if gap[-1] >= 0.0 else (pair[1], pair[0], -gap)
    if (verdict := _judge_return(road, pair)) is not None:
        return verdict
    if _is_tail_contact(ahead, behind):
        return _judge_tail_contact(road, (ahead, behind), gap, others)
    return _judge_side_contact(road, (ahead, behind), gap)


def _rows(track: CarTrack, seconds: float) -> int:
    """Return the first row of the last `seconds`."""
    return int(np.searchsorted(track.time, track.time[-1] - seconds - 1e-9))


def _is_tail_contact(ahead: CarTrack, behind: CarTrack) -> bool:
    dx, dy = behind.x[-1] - ahead.x[-1], behind.y[-1] - ahead.y[-1]
    cos, sin = np.cos(ahead.yaw[-1]), np.sin(ahead.yaw[-1])
    along, aside = abs(dx * cos + dy * sin), abs(dy * cos - dx * sin)
    return bool(0.5 * (ahead.length + behind.length) - along < 0.5 * (ahead.width + behind.width) - aside)


def _measure_off(road: ConductRoad, car: CarTrack) -> Array:
    """Return how far (m) the nearer side of a car is beyond the road's edge; negative on the road."""
    edge = np.where(car.offset > 0.0, road.read(road.left, car.s), road.read(road.right, car.s))
    beyond: Array = np.abs(car.offset) - 0.5 * car.width - edge
    return beyond


def _judge_return(road: ConductRoad, pair: tuple[CarTrack, CarTrack]) -> Verdict | None:
    begin = _rows(pair[0], RETURN_SECONDS)
    off = [_measure_off(road, car) for car in pair]
    returned = [bool((beyond[begin:] > 0.0).any() and beyond[-1] < 0.0) for beyond in off]
    if returned[0] == returned[1]:
        return None
    car, other = (0, 1) if returned[0] else (1, 0)
    if (off[other][begin:] > 0.0).any():
        return None
    beyond = off[car]
    left = np.flatnonzero((beyond[1:] > 0.0) & (beyond[:-1] <= 0.0)) + 1
    evidence = {"off_m": float(beyond[begin:].max()), "speed_mps": float(pair[car].speed[-1]),
                "other_speed_mps": float(pair[other].speed[-1])}  # fmt: skip
    for row in left:
        beside = abs(pair[0].offset[row] - pair[1].offset[row]) - 0.5 * (pair[0].width + pair[1].width)
        if abs(pair[0].s[row] - pair[1].s[row]) < 1.2 * pair[0].length and beside < 1.0:
            return Verdict(None, "left the road beside the other", "C 2.b, 2.c", evidence)
    return Verdict(pair[car].number, "unsafe return to the road", "C 2.c", evidence)


def _needs_brakes(road: ConductRoad, car: CarTrack, row: int, others: tuple[CarTrack, ...]) -> bool:
    """Return whether a bend within reach, or a slower car, asks for brakes even of a car on poor grip."""
    way = np.arange(0.0, LOOK_AHEAD, 2.0)
    curvature = np.abs(road.read(road.curvature, car.s[row] + way))
    allowed = LOW_GRIP / np.maximum(curvature, 1e-6) + 2.0 * LOW_BRAKING * way
    if (allowed < car.speed[row] ** 2).any():
        return True
    return any(0.0 < other.s[row] - car.s[row] < 80.0 and other.speed[row] < car.speed[row] - 3.0 for other in others)


def _find_moves(offset: Array) -> list[tuple[int, int]]:
    """Return first and last row of each change of direction: across by MOVE or more, until it turns back by as much."""
    moves: list[tuple[int, int]] = []
    low = high = 0
    for row, value in enumerate(offset):
        low, high = (row if value < offset[low] else low), (row if value > offset[high] else high)
        if offset[high] - offset[low] >= MOVE and row in (low, high):
            begin, end = min(low, high), max(low, high)
            if moves and (offset[moves[-1][1]] - offset[moves[-1][0]]) * (offset[end] - offset[begin]) > 0.0:
                moves[-1] = moves[-1][0], end
            else:
                moves.append((begin, end))
            low = high = row  # the next one is measured from here, against it
    return moves


def _judge_tail_contact(
    road: ConductRoad, cars: tuple[CarTrack, CarTrack], gap: Array, others: tuple[CarTrack, ...]
) -> Verdict:
    ahead, behind = cars
    faster = float(behind.speed[-1] - ahead.speed[-1])
    evidence = {"faster_by_mps": faster, "speed_ahead_mps": float(ahead.speed[-1])}
    is_straight = not (np.abs(road.read(road.curvature, ahead.s)) > BEND).any()
    if is_straight:
        near = gap / np.maximum(behind.speed, 1.0) < 2.0
        moves = [move for move in _find_moves(ahead.offset) if near[move[1]]]
        evidence["changes_of_direction"] = float(len(moves))
        if len(moves) >= 3:
            return Verdict(ahead.number, "more than one change of direction to defend", "C 2.b", evidence)
        if (chop := _find_chop(cars, gap)) is not None:
            fault = ahead.number if chop["moved_m"] >= MOVE else None
            return Verdict(fault, "change of direction in front of a car that is close", "C 2.b", evidence | chop)
        if len(moves) == 2 and ahead.time[-1] - ahead.time[moves[-1][1]] < 2.0:
            return Verdict(None, "two changes of direction", "C 2.b", evidence)
    begin = _rows(ahead, 2.0)
    slowed = -np.gradient(ahead.speed, ahead.time)[begin:]
    hard = np.flatnonzero(slowed > HARD_BRAKING)
    if len(hard) * np.median(np.diff(ahead.time)) > 0.5 and not _needs_brakes(road, ahead, begin + hard[0], others):
        evidence["deceleration_mps2"] = float(slowed[hard].mean())
        return Verdict(ahead.number, "braked without a reason", "C 2.e, S", evidence)
    slow = ahead.speed[_rows(ahead, SEEN_SECONDS) :] < SLOW * behind.speed[_rows(ahead, SEEN_SECONDS) :]
    if slow[-1] and not slow.all():
        return Verdict(None, "a car that has just become an obstacle", "S", evidence)
    return Verdict(behind.number, "ran into the car ahead", "C 2.d", evidence)


def _find_chop(cars: tuple[CarTrack, CarTrack], gap: Array) -> dict[str, float] | None:
    """Return the figures of a late change of direction to the side on which the car behind was; None without one."""
    ahead, behind = cars
    begin = _rows(ahead, CHOP_SECONDS)
    aside = behind.offset - ahead.offset
    earlier = abs(float(ahead.offset[begin] - ahead.offset[_rows(ahead, 1.5 * CHOP_SECONDS)]))
    if earlier >= MOVE:  # it began before, and left time
        return None
    for row in range(begin, len(gap)):
        towards = np.sign(aside[row])
        moved = float(towards * (ahead.offset[-1] - ahead.offset[row]))
        closed = float(towards * (aside[row] - aside[-1]))  # across, by both
        is_beside = abs(aside[row]) >= 0.4 * (ahead.width + behind.width)
        space = float(gap[row] - ahead.length)
        is_close = behind.speed[row] >= ahead.speed[row] and space < CHOP_GAP
        if is_beside and is_close and moved >= max(CHOP, 0.5 * closed):
            return {"moved_m": moved, "seconds_before": float(ahead.time[-1] - ahead.time[row]), "gap_m": space}
    return None


def _judge_side_contact(road: ConductRoad, cars: tuple[CarTrack, CarTrack], gap: Array) -> Verdict:
    ahead, _ = cars
    bends = np.abs(road.read(road.curvature, ahead.s)) > BEND
    straight = np.flatnonzero(~bends)
    turn = int(straight[-1]) + 1 if len(straight) else 0  # the row in which the car ahead came to the bend
    if not bends[-1] or turn == 0:
        return _judge_movers(cars, "crowded a car alongside")
    inside = float(np.sign(road.read(road.curvature, ahead.s[-1])))
    length = 0.5 * (cars[0].length + cars[1].length)
    first = cars if gap[turn] >= 0.0 else cars[::-1]  # ahead at turn-in, behind
    overlap = 1.0 - abs(float(gap[turn])) / length
    evidence = {"overlap_at_turn_in": overlap}
    if overlap <= OVERLAP_NONE:
        return Verdict(first[1].number, "no overlap at turn-in", "G", evidence)
    if overlap < OVERLAP_OWNED:
        return Verdict(None, "some overlap at turn-in", "G, S", evidence)
    return _judge_room(road, cars, inside, evidence)


def _judge_room(
    road: ConductRoad, cars: tuple[CarTrack, CarTrack], inside: float, evidence: dict[str, float]
) -> Verdict:
    """Return the verdict on cars that were alongside at turn-in: who has not left the other a car's width."""
    inner, outer = cars if inside * (cars[0].offset[-1] - cars[1].offset[-1]) > 0.0 else cars[::-1]
    edges = [float(road.read(column, inner.s[-1])) for column in (road.left, road.right)]
    inner_edge, outer_edge = edges if inside > 0.0 else edges[::-1]
    room_inside = inner_edge - inside * outer.offset[-1] - 0.5 * outer.width - inner.width
    room_outside = outer_edge + inside * inner.offset[-1] - 0.5 * inner.width - outer.width
    evidence |= {"spare_inside_m": float(room_inside), "spare_outside_m": float(room_outside)}
    tight = room_inside < ROOM_MARGIN, room_outside < ROOM_MARGIN
    if tight == (True, False):
        return Verdict(outer.number, "turned in on a car inside", "G", evidence)
    if tight == (False, True):
        if outer.s[-1] < inner.s[-1] - 0.2 * inner.length:
            return Verdict(None, "outside and not ahead", "G", evidence)
        return Verdict(inner.number, "left a car outside no room", "G, C 2.b", evidence)
    if tight == (True, True):
        return Verdict(None, "no room for two", "S", evidence)
    return _judge_movers(cars, "left its own line beside another", evidence)


def _judge_movers(cars: tuple[CarTrack, CarTrack], rule: str, evidence: dict[str, float] | None = None) -> Verdict:
    """Return the verdict on cars side by side: the one that came across to the other."""
    begin = _rows(cars[0], 1.5)
    towards = float(np.sign(cars[1].offset[-1] - cars[0].offset[-1]))
    moved = [max(towards * float(cars[0].offset[-1] - cars[0].offset[begin]), 0.0),
             max(-towards * float(cars[1].offset[-1] - cars[1].offset[begin]), 0.0)]  # fmt: skip
    total = moved[0] + moved[1]
    evidence = (evidence or {}) | {f"car_{car.number}_moved_m": way for car, way in zip(cars, moved, strict=True)}
    for car, way in zip(cars, moved, strict=True):
        if total >= CLOSING and way >= MOVED_MOST * total:
            return Verdict(car.number, rule, "C 2.b", evidence)
    return Verdict(None, "both came together", "S", evidence)
