"""Kernels that restart episodes in the memory of a graphics card: what is random is drawn there, for each car.

`RoadWorlds` does the same on the processor, where it draws from a generator that has a state. Here the numbers follow
from a seed, the number of the car and that of its episode. What both make of the numbers is the same code.

Kernels that make start places out of random numbers, for the processor's batches and those of graphics cards.
"""

import math
from typing import NamedTuple

import numpy as np

from trailbrake.arrays import Array, Bytes, Ints
from trailbrake.kernels import exact_inline_jit, jit
from trailbrake.observe.derived_features import reset_car_features
from trailbrake.observe.features import Feature
from trailbrake.tracks.frenet import RoadTable, surface_point
from trailbrake.world.car_placement import StartPose, reset_car
from trailbrake.world.car_scaling import ScalingLaws, scale_car_rows
from trailbrake.world.kernel_arguments import CarBlocks
from trailbrake.world.random_numbers import philox

_STREAM = 8  # of `random_numbers`: the starts of episodes
_PLACE, _CAR, _NOISE, _CANDIDATE = 0, 1, 2, 3  # what is drawn; candidates count on from there
_SHARE = 1.0 / 16777216.0  # of the upper 24 bits of a word: exact in single precision, and less than 1

CANDIDATES = 8  # places to choose the one from that is farthest from the other cars


class StartRoom(NamedTuple):
    """Where cars may start on a road.

    Attributes:
        free: (rows,) m, greatest distance from the centreline at each row of the road.
        fastest: (rows,) m/s, greatest speed.
        offset: share of the free distance that starts use.
        heading: rad, greatest angle to the road.
    """

    free: Array
    fastest: Array
    offset: float
    heading: float


@exact_inline_jit
def place_start(
    road: RoadTable, room: StartRoom, s: float, draws: tuple[float, float, float]
) -> tuple[float, float, float, float]:
    """Return x, y (m, world), yaw (rad, within a half turn) and speed (m/s) of a start.

    Args:
        road: the road.
        room: on that road.
        s: m along the centreline.
        draws: shares of the greatest offset and of the greatest heading, -1 .. 1; speed (m/s) where the road allows it.
    """
    n = room.free.shape[0]
    row = int(np.floor(s / road.spacing))
    row = row % n if road.closed else min(max(row, 0), n - 1)
    x, y, _, yaw = surface_point(road, s, room.offset * room.free[row] * draws[0])
    yaw += room.heading * draws[1]
    yaw -= 2.0 * math.pi * math.floor(yaw / (2.0 * math.pi) + 0.5)
    return x, y, yaw, min(draws[2], room.fastest[row])


@jit
def place_starts(road: RoadTable, room: StartRoom, s: Array, draws: Array, out: Array) -> None:
    """Write `place_start` at each of `s` (k,) with the lines of `draws` (k, 3) into `out` (k, 4)."""
    for k in range(s.shape[0]):
        place = place_start(road, room, s[k], (draws[k, 0], draws[k, 1], draws[k, 2]))
        out[k, 0], out[k, 1], out[k, 2], out[k, 3] = place


@jit
def find_gap(features: Array, car: int, group_size: int, x: float, y: float) -> float:
    """Return the distance (m) from (x, y) to the nearest other car of the world of `car`, of two cars at least."""
    begin = car // group_size * group_size
    least = math.inf
    for other in range(begin, begin + group_size):
        if other != car:
            dx, dy = x - features[Feature.X, other], y - features[Feature.Y, other]
            least = min(least, dx * dx + dy * dy)
    return math.sqrt(least)


class StartRules(NamedTuple):
    """How episodes start on a road.

    Attributes:
        room: where cars may start.
        positions: (4,) least and greatest s (m) of the first car of a world, and of a car among others.
        speed: (2,) m/s, least and greatest.
        gap: m along the road from one car of a world to the next.
        anywhere: whether starts lie along the whole road.
        whole: whether all cars of a world start together.
        group_size: number of cars in a world.
        ranges: (4, 2) least and greatest of mass, grip, stiffness and noise.
        delays: number of different delays.
        scaling: of the car.
    """

    room: StartRoom
    positions: Array
    speed: Array
    gap: float
    anywhere: bool
    whole: bool
    group_size: int
    ranges: Array
    delays: int
    scaling: ScalingLaws


class EpisodeArrays(NamedTuple):
    """What a restart reads and writes of n cars.

    Attributes:
        ends: (n,) not 0 for the cars whose episodes have ended; with `StartRules.whole` the first of each world counts.
        placed: (n,) written: 1 for the cars that start.
        episodes: (n,) number of each car's episodes so far.
        seed: (1,) of everything that is random.
        features: (Feature.COUNT, n or more).
        history: (depth, n, 3) as in `ActionQueue`.
        delays: (n,) as in `ActionQueue`.
        noise_levels: (n,) as in `ObservationNoise`.
    """

    ends: Ints
    placed: Bytes
    episodes: Ints
    seed: Ints
    features: Array
    history: Array
    delays: Ints
    noise_levels: Array


@exact_inline_jit
def draw_shares(arrays: EpisodeArrays, car: int, purpose: int) -> tuple[float, float, float, float]:
    """Return four numbers, uniformly distributed over 0 .. 1 (without 1), of the newest episode of a car."""
    a, b, c, d = philox(car, arrays.episodes[car], purpose, _STREAM, arrays.seed[0])
    return (a >> 8) * _SHARE, (b >> 8) * _SHARE, (c >> 8) * _SHARE, (d >> 8) * _SHARE


@exact_inline_jit
def begin_episode(
    cars: CarBlocks, rules: StartRules, arrays: EpisodeArrays, car: int, place: tuple[float, float, float, float]
) -> None:
    """Put a new car on `place`, as `place_start` returns it, without a commanded action so far."""
    x, y, yaw, speed = place
    mass, grip, stiffness, late = draw_shares(arrays, car, _CAR)
    noise = draw_shares(arrays, car, _NOISE)[0]
    ranges = rules.ranges
    factors = (
        ranges[0, 0] + (ranges[0, 1] - ranges[0, 0]) * mass,
        ranges[1, 0] + (ranges[1, 1] - ranges[1, 0]) * grip,
        ranges[2, 0] + (ranges[2, 1] - ranges[2, 0]) * stiffness,
    )
    scale_car_rows(cars.params, cars.kinds, rules.scaling, car, factors)
    arrays.noise_levels[car] = ranges[3, 0] + (ranges[3, 1] - ranges[3, 0]) * noise
    arrays.delays[car] = int(late * rules.delays)
    for slot in range(arrays.history.shape[0]):
        for i in range(3):
            arrays.history[slot, car, i] = 0.0
    reset_car(cars, 1, car, StartPose(x, y, yaw, math.cos(yaw), math.sin(yaw), speed))
    reset_car_features(arrays.features, car)


@exact_inline_jit
def draw_place(
    road: RoadTable, rules: StartRules, s: float, shares: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:
    """Return a place at `s` (m), as `place_start`, by the last three of four shares from 0 to 1."""
    speed = rules.speed[0] + (rules.speed[1] - rules.speed[0]) * shares[2]
    return place_start(road, rules.room, s, (2.0 * shares[1] - 1.0, 2.0 * shares[3] - 1.0, speed))


@jit
def restart_world(cars: CarBlocks, road: RoadTable, rules: StartRules, arrays: EpisodeArrays, world: int) -> None:
    """Restart the episodes of a world that have ended.

    Args:
        cars: the cars, of which those that start are changed.
        road: the road of the world.
        rules: how episodes start on it.
        arrays: of all cars.
        world: number of the world.
    """
    first = world * rules.group_size
    least, greatest = rules.positions[0], rules.positions[1]
    if rules.whole or rules.group_size == 1:
        ended = arrays.ends[first] != 0
        s = 0.0
        for car in range(first, first + rules.group_size):
            arrays.placed[car] = 1 if ended else 0
            if ended:
                arrays.episodes[car] += 1
                shares = draw_shares(arrays, car, _PLACE)
                if car == first:
                    s = least + (greatest - least) * shares[0]
                place = draw_place(road, rules, s - rules.gap * (car - first), shares)
                begin_episode(cars, rules, arrays, car, place)
        return
    least, greatest = rules.positions[2], rules.positions[3]
    for car in range(first, first + rules.group_size):  # one by one: each must find room among the others
        ended = arrays.ends[car] != 0
        arrays.placed[car] = 1 if ended else 0
        if ended:
            arrays.episodes[car] += 1
            place, widest = (0.0, 0.0, 0.0, 0.0), -1.0
            for k in range(CANDIDATES):
                shares = draw_shares(arrays, car, _CANDIDATE + k)
                s = least + (greatest - least) * shares[0]
                if not rules.anywhere:
                    s -= rules.gap * k
                x, y, yaw, speed = draw_place(road, rules, s, shares)
                gap = find_gap(arrays.features, car, rules.group_size, x, y)
                if not rules.anywhere:  # the foremost candidate with a free gap
                    gap = min(gap, rules.gap)
                if gap > widest:
                    place, widest = (x, y, yaw, speed), gap
            begin_episode(cars, rules, arrays, car, place)
            arrays.features[Feature.X, car], arrays.features[Feature.Y, car] = place[0], place[1]
