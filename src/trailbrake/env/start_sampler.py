"""`StartSampler`: random start places of episodes, uniformly distributed over a road."""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.env.options import Start
from trailbrake.laps import END_MARGIN
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

Array = NDArray[np.float64]

HALF_CAR = 1.2  # m, least distance from the centre of a car to the edge of the road
MAX_LATERAL = 6.0  # m/s^2, limits the start speed in a bend
MAX_BRAKING = 7.0  # m/s^2, limits the start speed before a bend
CANDIDATES = 8  # places to choose the one from that is farthest from the other cars
_MIN_RUN = 0.3  # share of an open road's length that lies ahead of every start


class StartSampler:
    """Draws start places.

    Args:
        road: the road.
        start: ranges of position, heading and speed.
    """

    def __init__(self, road: Road, start: Start) -> None:
        self.road, self.start = road, start
        free = np.minimum(road.column(RoadColumn.WIDTH_LEFT), road.column(RoadColumn.WIDTH_RIGHT)) - HALF_CAR
        self._free: Array = np.maximum(free, 0.0)
        bend = np.maximum(np.abs(road.column(RoadColumn.CURVATURE)), 1e-6)
        self._fastest = limit_by_braking(np.sqrt(MAX_LATERAL / bend), road.spacing, road.closed)

    def sample_grids(self, rng: np.random.Generator, worlds: int, cars: int) -> Array:
        """Return places for all cars of `worlds` worlds, (worlds * cars, 4): x, y (m), yaw (rad), speed (m/s).

        The cars of a world are behind each other, `Start.gap` apart.
        """
        first = self._sample_positions(rng, worlds, (cars - 1) * self.start.gap)
        s = first[:, None] - self.start.gap * np.arange(cars)[None, :]
        return self._sample_poses(rng, s.ravel())

    def sample_free_place(self, rng: np.random.Generator, taken: Array) -> Array:
        """Return the place (1, 4), of a few candidates, that is farthest from the cars at `taken` (k, 2) x, y (m)."""
        s = self._sample_positions(rng, CANDIDATES, 0.0)
        if not self.start.anywhere:
            s -= self.start.gap * np.arange(CANDIDATES)
        places = self._sample_poses(rng, s)
        gaps = np.hypot(places[:, None, 0] - taken[None, :, 0], places[:, None, 1] - taken[None, :, 1]).min(axis=1)
        if not self.start.anywhere:  # the foremost candidate with a free gap
            gaps = np.minimum(gaps, self.start.gap)
        best = int(gaps.argmax())
        return places[best : best + 1]

    def _sample_positions(self, rng: np.random.Generator, count: int, behind: float) -> Array:
        road = self.road
        if not self.start.anywhere:
            return np.full(count, 0.0 if road.closed else behind)
        if road.closed:
            return rng.uniform(0.0, road.length, count)
        most = max(road.length - END_MARGIN - _MIN_RUN * road.length, behind)
        return rng.uniform(behind, most, count)

    def _sample_poses(self, rng: np.random.Generator, s: Array) -> Array:
        start, road, n = self.start, self.road, len(self._free)
        row = np.floor(s / road.spacing).astype(np.int64)
        row = row % n if road.closed else np.clip(row, 0, n - 1)
        offset = start.offset * self._free[row] * rng.uniform(-1.0, 1.0, len(s))
        speed = np.minimum(rng.uniform(*start.speed, len(s)), self._fastest[row])
        places = road.points(s, offset)
        places[:, 2] = places[:, 3] + start.heading * rng.uniform(-1.0, 1.0, len(s))
        places[:, 2] -= 2.0 * math.pi * np.floor(places[:, 2] / (2.0 * math.pi) + 0.5)
        places[:, 3] = speed
        return places


def limit_by_braking(speeds: Array, spacing: float, closed: bool) -> Array:
    """Return the speeds from which a car that brakes at MAX_BRAKING keeps to the limits ahead.

    Args:
        speeds: (n,) m/s, limit at each row of a road.
        spacing: m from row to row.
        closed: whether the first row follows the last one.
    """
    # v^2 at a row is at most v^2 at any row ahead plus 2 a times the way to it: a minimum that runs backwards.
    squares = np.concatenate([speeds, speeds]) ** 2 if closed else speeds**2
    gained = 2.0 * MAX_BRAKING * spacing * np.arange(len(squares))
    limited: Array = np.minimum.accumulate((squares + gained)[::-1])[::-1] - gained
    return np.sqrt(np.maximum(limited[: len(speeds)], 0.0))
