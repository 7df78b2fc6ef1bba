"""Domain randomisation: what differs from episode to episode, where episodes start, and the sampler of start places."""

from dataclasses import dataclass

import numpy as np

from trailbrake.arrays import Array
from trailbrake.env.restart_kernels import CANDIDATES, StartRoom, find_gap, place_starts
from trailbrake.laps import END_MARGIN
from trailbrake.tracks.road import Road
from trailbrake.tracks.road_columns import RoadColumn

HALF_CAR = 1.2  # m, least distance from the centre of a car to the edge of the road
MAX_LATERAL = 6.0  # m/s^2, limits the start speed in a bend
MAX_BRAKING = 7.0  # m/s^2, limits the start speed before a bend
_MIN_RUN = 0.3  # share of an open road's length that lies ahead of every start
Range = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Start:
    """Where episodes start; every number is uniformly distributed.

    Attributes:
        anywhere: whether starts lie along the whole road; else at the start line.
        offset: greatest distance from the centreline, share of the free half width of the road.
        heading: rad, greatest angle to the direction of the road.
        speed: m/s, least and greatest; less in bends and before them.
        gap: m along the road between the cars of a world.
    """

    anywhere: bool = True
    offset: float = 0.5
    heading: float = 0.1
    speed: Range = (0.0, 20.0)
    gap: float = 12.0


@dataclass(frozen=True, kw_only=True)
class Vary:
    """Domain randomisation: what varies from episode to episode, each number uniform and drawn for each car.

    Attributes:
        mass: least and greatest factor on the car's mass.
        grip: the same on the friction of its tyres.
        stiffness: the same on their slip stiffness.
        delay: greatest number of steps by which controls lag.
        noise: least and greatest standard deviation of the noise on all scaled numbers.
    """

    mass: Range = (1.0, 1.0)
    grip: Range = (1.0, 1.0)
    stiffness: Range = (1.0, 1.0)
    delay: int = 0
    noise: Range = (0.0, 0.0)

    @property
    def varies_cars(self) -> bool:
        """Whether the cars differ from each other."""
        return {self.mass, self.grip, self.stiffness} != {(1.0, 1.0)}


class StartSampler:
    """Draws start places.

    Args:
        road: the road.
        start: ranges of position, heading and speed.

    Attributes:
        room: where cars may start on the road.
    """

    def __init__(self, road: Road, start: Start) -> None:
        self.road, self.start = road, start
        free = np.minimum(road.column(RoadColumn.WIDTH_LEFT), road.column(RoadColumn.WIDTH_RIGHT)) - HALF_CAR
        bend = np.maximum(np.abs(road.column(RoadColumn.CURVATURE)), 1e-6)
        fastest = limit_by_braking(np.sqrt(MAX_LATERAL / bend), road.spacing, road.closed)
        self.room = StartRoom(np.maximum(free, 0.0), fastest, float(start.offset), float(start.heading))

    def sample_grids(self, rng: np.random.Generator, worlds: int, cars: int) -> Array:
        """Return places for all cars of `worlds` worlds, (worlds * cars, 4): x, y (m), yaw (rad), speed (m/s).

        The cars of a world are behind each other, `Start.gap` apart.
        """
        first = self._sample_positions(rng, worlds, (cars - 1) * self.start.gap)
        s = first[:, None] - self.start.gap * np.arange(cars)[None, :]
        return self._sample_poses(rng, s.ravel())

    def sample_free_place(self, rng: np.random.Generator, features: Array, car: int, group_size: int) -> Array:
        """Return the place (1, 4), of a few candidates, that is farthest from the other cars of a world.

        Args:
            rng: source of the candidates.
            features: (Feature.COUNT, n or more) with the places of the cars.
            car: that needs a place.
            group_size: number of consecutive cars that share a world.
        """
        s = self._sample_positions(rng, CANDIDATES, 0.0)
        if not self.start.anywhere:
            s -= self.start.gap * np.arange(CANDIDATES)
        places = self._sample_poses(rng, s)
        gaps = np.array([find_gap(features, car, group_size, x, y) for x, y in places[:, :2].tolist()])
        if not self.start.anywhere:  # the foremost candidate with a free gap
            gaps = np.minimum(gaps, self.start.gap)
        best = int(gaps.argmax())
        return places[best : best + 1]

    def position_range(self, behind: float) -> tuple[float, float]:
        """Return the least and the greatest s (m) of a start, with `behind` m of road behind it."""
        road = self.road
        if not self.start.anywhere:
            first = 0.0 if road.closed else behind
            return first, first
        if road.closed:
            return 0.0, road.length
        return behind, max(road.length - END_MARGIN - _MIN_RUN * road.length, behind)

    def _sample_positions(self, rng: np.random.Generator, count: int, behind: float) -> Array:
        least, greatest = self.position_range(behind)
        return rng.uniform(least, greatest, count) if self.start.anywhere else np.full(count, least)

    def _sample_poses(self, rng: np.random.Generator, s: Array) -> Array:
        n = len(s)
        offset, speed, heading = rng.uniform(-1.0, 1.0, n), rng.uniform(*self.start.speed, n), rng.uniform(-1.0, 1.0, n)
        places = np.empty((n, 4))
        draws = np.ascontiguousarray(np.column_stack([offset, heading, speed]))
        place_starts(self.road.kernel_table, self.room, s, draws, places)
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
