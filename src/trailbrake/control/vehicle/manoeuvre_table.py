"""Manoeuvres of a car between the walls of a road: the quickest way to drive along the road again, from any pose.

The car is a kinematic bicycle whose state is the offset of its rear axle and its heading, both against the road; its
place along the road does not matter. The time to go of every state and direction of travel is computed by value
iteration with linear interpolation (semi-Lagrangian scheme: Falcone and Ferretti, "Semi-Lagrangian Approximation
Schemes for Linear and Hamilton-Jacobi Equations", SIAM 2013, chapter 8), for three steers forwards and backwards. A
move is then the steer with the least time to go one step ahead, so that a car that slides or is pushed needs no new
plan.
"""

import math
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array

FORWARD, BACKWARD = 1, -1
STEP = 1.0  # m of one move
SPEEDS = {FORWARD: 5.0, BACKWARD: 3.0}  # m/s of manoeuvres, for the time to go
CHANGE_TIME = 2.5  # s that a change between forwards and backwards takes
WALL_MARGIN = 0.3  # m from a wall within which a move costs time
WALL_TIME = 8.0  # s per m of a move and m that a corner of the car is within the margin, or beyond the wall
MAX_DEPTH = 2.0  # m within the margin, above which it costs no more
GOAL_HEADING = 0.3  # rad from the road's direction, below which the car drives on ...
GOAL_MARGIN = 1.0  # m inside the edges, or a quarter of the road's width where that is less
WINDOW = 15.0  # m to either side of the car that the table covers, and as far as the road
MIN_SPACING = 0.35  # m between offsets of the table
MOST_OFFSETS, HEADINGS = 64, 48  # size of the table
SWEEPS = 48  # at the most: the way of a plan in m
TOLERANCE = 0.05  # s by which a last sweep changes the times to go
MIN_SHRINK = 0.3  # of the road's direction beside a bend, towards its centre
MAX_TIME = 60.0  # s, of states from where no way was found
STEERS = (-1.0, 0.0, 1.0)  # of the table
FINE_STEERS = (-1.0, -0.6, -0.3, 0.0, 0.3, 0.6, 1.0)  # of a move


class CarShape(NamedTuple):
    """A car as a manoeuvre needs it.

    Attributes:
        to_rear: m, centre of mass to rear axle.
        nose: m, rear axle to the front end.
        tail: m, rear axle to the rear end.
        half_width: m.
        max_curvature: 1/m, of the rear axle's path at full lock.
    """

    to_rear: float = 1.3
    nose: float = 3.7
    tail: float = 0.9
    half_width: float = 0.95
    max_curvature: float = 0.18


class RoadStrip(NamedTuple):
    """The cross-section of a road at the car: distances from its reference line (m, >= 0), and its curvature.

    Attributes:
        left_edge: m.
        right_edge: m.
        left_wall: m.
        right_wall: m.
        curvature: 1/m, positive to the left.
    """

    left_edge: float = 4.0
    right_edge: float = 4.0
    left_wall: float = 9.0
    right_wall: float = 9.0
    curvature: float = 0.0


class Move(NamedTuple):
    """What to do next.

    Attributes:
        direction: FORWARD or BACKWARD.
        steer: share of full lock, positive left.
        time: s to go.
    """

    direction: int
    steer: float
    time: float


class ManoeuvreTable:
    """The time to go from each pose on a strip of road.

    Args:
        shape: of the car.
        strip: of the road.
        offset: m, of the car's rear axle; the table covers its surroundings up to the walls and the road.
        can_reverse: whether the car can drive backwards.
    """

    def __init__(self, shape: CarShape, strip: RoadStrip, offset: float = 0.0, *, can_reverse: bool = True) -> None:
        self.shape, self.strip = shape, strip
        low = max(-strip.right_wall, min(offset - WINDOW, strip.left_edge - WINDOW))
        high = min(strip.left_wall, max(offset + WINDOW, WINDOW - strip.right_edge))
        count = min(max(math.ceil((high - low) / MIN_SPACING) + 1, 8), MOST_OFFSETS)
        self._low, self._spacing, self._count = low, (high - low) / (count - 1), count
        self.covered = low, high
        directions = (FORWARD, BACKWARD) if can_reverse else (FORWARD,)
        moves = np.array(list(product(directions, FINE_STEERS)), np.float64)
        self._ways, self._steers = moves[:, 0], moves[:, 1]
        self._step_times = np.array([STEP / SPEEDS[int(way)] for way in self._ways])
        self._times = self._compute_times(directions)  # (2, n): forwards, backwards

    def choose_move(self, offset: float, heading: float, direction: int, *, only: bool = False) -> Move:
        """Return the next move.

        Args:
            offset: m, of the rear axle, left of the road's reference line.
            heading: rad, of the car against the road.
            direction: FORWARD or BACKWARD, in which the car moves or is about to; a change of it takes time.
            only: whether it may not change.
        """
        there, turned = self._advance(offset, heading, self._ways, self._steers)
        places, weights = self._corner_weights(there, turned)
        places += np.where(self._ways < 0.0, self._times.shape[1], 0)
        times = np.einsum("kn,kn->n", self._times.take(places), weights)
        times += self._step_times + WALL_TIME * self.wall_depth(there, turned)
        times += np.where(self._ways == direction, 0.0, 1e3 if only else CHANGE_TIME)
        best = int(times.argmin())
        return Move(int(self._ways[best]), float(self._steers[best]), float(times[best]))

    def measure_run(self, offset: float, heading: float, direction: int, most: float = 12.0) -> float:
        """Return how far (m) the car drives in `direction` before it changes, by the moves of the table."""
        driven = 0.0
        while driven < most:
            move = self.choose_move(offset, heading, direction)
            if move.direction != direction:
                break
            if direction == FORWARD and self.is_goal(offset, heading):
                return most
            offset, heading = self._advance(offset, heading, float(move.direction), move.steer)
            driven += STEP
        return driven

    def wall_depth(self, offset: Any, heading: Any) -> Any:
        """Return how deep (m) a corner of the car is within WALL_MARGIN of a wall; >= 0. Numbers or arrays."""
        shape, strip = self.shape, self.strip
        sine, cosine = np.sin(heading), np.cos(heading)
        depth: Any = 0.0
        for x, y in product((shape.nose, -shape.tail), (shape.half_width, -shape.half_width)):
            along = x * cosine - y * sine
            aside = offset + x * sine + y * cosine - 0.5 * strip.curvature * along * along
            depth = np.maximum(depth, np.maximum(aside - strip.left_wall, -strip.right_wall - aside) + WALL_MARGIN)
        return np.minimum(depth, MAX_DEPTH)

    def is_goal(self, offset: Any, heading: Any) -> Any:
        """Return whether a car there, going forwards, drives along the road. Numbers or arrays."""
        strip = self.strip
        margin = min(GOAL_MARGIN, 0.25 * (strip.left_edge + strip.right_edge))
        inside = (offset < strip.left_edge - margin) & (offset > margin - strip.right_edge)
        return inside & (np.cos(heading) > math.cos(GOAL_HEADING))

    def _turn_rate(self, offset: Any, heading: Any, steer: Any) -> Any:
        # rad per m of the heading against the road; beyond the centre of a bend the road has no direction
        strip = self.strip
        shrink = np.maximum(1.0 - strip.curvature * offset, MIN_SHRINK)
        return self.shape.max_curvature * steer - strip.curvature * np.cos(heading) / shrink

    def _advance(self, offset: Any, heading: Any, way: Any, steer: Any) -> tuple[Any, Any]:
        # One STEP on, by the midpoint rule; `way` is FORWARD or BACKWARD.
        half = 0.5 * STEP * way
        middle = heading + half * self._turn_rate(offset, heading, steer)
        across = half * np.sin(middle)
        return offset + 2.0 * across, heading + 2.0 * half * self._turn_rate(offset + across, middle, steer)

    def _corner_weights(self, offset: Array, heading: Array) -> tuple[NDArray[np.intp], Array]:
        # Places (4, n) in a flat table and their weights, for linear interpolation.
        u = np.clip((offset - self._low) / self._spacing, 0.0, self._count - 1.0001)
        v = np.mod(heading, 2.0 * math.pi) * (HEADINGS / (2.0 * math.pi))
        i, j = u.astype(np.intp), v.astype(np.intp)
        u, v = u - i, v - j
        j %= HEADINGS
        k = (j + 1) % HEADINGS
        places = np.stack([i * HEADINGS + j, i * HEADINGS + k, (i + 1) * HEADINGS + j, (i + 1) * HEADINGS + k])
        return places, np.stack([(1.0 - u) * (1.0 - v), (1.0 - u) * v, u * (1.0 - v), u * v])

    def _compute_times(self, directions: tuple[int, ...]) -> Array:
        offsets = self._low + self._spacing * np.arange(self._count)
        headings = np.arange(HEADINGS) * (2.0 * math.pi / HEADINGS)
        headings[headings > math.pi] -= 2.0 * math.pi
        offset, heading = (grid.ravel() for grid in np.meshgrid(offsets, headings, indexing="ij"))
        goal = self.is_goal(offset, heading)
        moves = []
        for way in directions:
            ends = [self._advance(offset, heading, float(way), steer) for steer in STEERS]
            there, turned = (np.concatenate(values) for values in zip(*ends, strict=True))
            cost = STEP / SPEEDS[way] + WALL_TIME * self.wall_depth(there, turned)
            moves.append((0 if way == FORWARD else 1, *self._corner_weights(there, turned), cost))
        times = np.full((2, len(offset)), MAX_TIME)
        times[0, goal] = 0.0
        for _ in range(SWEEPS):
            before = times.copy()
            for row, places, weights, cost in moves:
                ahead = np.einsum("kn,kn->n", times[row].take(places), weights) + cost
                best = np.minimum(ahead.reshape(len(STEERS), -1).min(axis=0), times[1 - row] + CHANGE_TIME)
                np.minimum(times[row], best, out=times[row])
            if float((before - times).max()) < TOLERANCE:
                break
        return times
