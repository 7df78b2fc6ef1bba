"""Where episodes begin: places on a road that are free, drawn evenly."""

import math

import numpy as np
from numpy.typing import NDArray

from trailbrake.env.options import Start
from trailbrake.observe.derive import MARGIN
from trailbrake.tracks.columns import Column
from trailbrake.tracks.road import Road

Array = NDArray[np.float64]

HALF_CAR = 1.2  # m kept free between a car's middle and the edge
BEND = 6.0  # m/s^2: as fast as this allows in a bend, whatever `Start.speed` says
TRIES = 8  # places looked at for one that is far from the other cars
_RUN = 0.3  # of an open road's length is kept ahead of a start


class Places:
    """Draws places to start from.

    Args:
        road: where.
        start: how.
    """

    def __init__(self, road: Road, start: Start) -> None:
        self.road, self.start = road, start
        free = np.minimum(road.column(Column.WIDTH_LEFT), road.column(Column.WIDTH_RIGHT)) - HALF_CAR
        self._free: Array = np.maximum(free, 0.0)
        bend = np.maximum(np.abs(road.column(Column.CURVATURE)), 1e-6)
        self._fastest: Array = np.sqrt(BEND / bend)

    def whole(self, rng: np.random.Generator, worlds: int, cars: int) -> Array:
        """Return places for all cars of `worlds` worlds, (worlds * cars, 4): x, y (m), yaw (rad), speed (m/s).

        The cars of a world stand behind each other, `Start.gap` apart.
        """
        first = self._along(rng, worlds, (cars - 1) * self.start.gap)
        s = first[:, None] - self.start.gap * np.arange(cars)[None, :]
        return self._places(rng, s.ravel())

    def single(self, rng: np.random.Generator, taken: Array) -> Array:
        """Return a place (1, 4) far from the cars at `taken` (k, 2) x, y (m): the farthest of a few."""
        s = self._along(rng, TRIES, 0.0)
        if not self.start.anywhere:
            s -= self.start.gap * np.arange(TRIES)
        places = self._places(rng, s)
        gaps = np.hypot(places[:, None, 0] - taken[None, :, 0], places[:, None, 1] - taken[None, :, 1]).min(axis=1)
        if not self.start.anywhere:  # the foremost that is free
            gaps = np.minimum(gaps, self.start.gap)
        best = int(gaps.argmax())
        return places[best : best + 1]

    def _along(self, rng: np.random.Generator, count: int, behind: float) -> Array:
        road = self.road
        if not self.start.anywhere:
            return np.full(count, 0.0 if road.closed else behind)
        if road.closed:
            return rng.uniform(0.0, road.length, count)
        most = max(road.length - MARGIN - _RUN * road.length, behind)
        return rng.uniform(behind, most, count)

    def _places(self, rng: np.random.Generator, s: Array) -> Array:
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
